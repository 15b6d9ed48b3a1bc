import type { Draft, Reading } from './match-draft.ts'
import type { NameIndex } from './match-index.ts'
import { KIND_CITY, KIND_COUNTRY, KIND_REGION, NAME_DEMONYM } from './match-score.ts'
import { NAME_KIND_MASK } from './name-index.ts'

/** Scores that other places of a text add to a candidate. */
export interface CoherenceScores {
  add(draft: Draft): void
  /** Score of a candidate from places other than those of its own name. */
  scoreOf(place: number, own: Reading): number
}

/** Creates a {@link CoherenceScores} without any places. */
export function createCoherenceScores(index: NameIndex): CoherenceScores {
  const { columns } = index
  const countryTally = createTally()
  const divisionTally = createTally()
  const cityTally = createTally()
  const siblingTally = createTally()
  const keyOf = (place: number): number => (columns.countries[place] ?? 0) * 65_536 + (columns.divisions[place] ?? 0)
  return {
    add({ reading, choice, margin }) {
      const place = reading.places[choice] ?? 0
      const kind = columns.kinds[place]
      const country = columns.countries[place] ?? 0
      const isDemonym = ((reading.nameFlags[choice] ?? 0) & NAME_KIND_MASK) === NAME_DEMONYM
      if (kind === KIND_COUNTRY) countryTally.add(country, reading, isDemonym ? 0.4 : 0.7, 2)
      else if (kind === KIND_REGION) {
        divisionTally.add(keyOf(place), reading, 3, 4)
        siblingTally.add(country, reading, 2, 2)
        countryTally.add(country, reading, 0.5, 1)
      } else if (kind === KIND_CITY && margin > 0.5 && (columns.populations[place] ?? 0) >= 50_000) {
        countryTally.add(country, reading, 0.4, 0.8)
        cityTally.add(keyOf(place), reading, 1.5, 3)
      }
    },
    scoreOf(place, own) {
      const kind = columns.kinds[place]
      const inCountry = countryTally.scoreOf(columns.countries[place] ?? 0, own, 2.5)
      if (kind === KIND_COUNTRY) return inCountry
      const fromCities = cityTally.scoreOf(keyOf(place), own, 2)
      // `Georgia and Alabama`: a text that names one state of a country more likely names another state than a country.
      if (kind === KIND_REGION) {
        return inCountry + 2 * fromCities + siblingTally.scoreOf(columns.countries[place] ?? 0, own, 2)
      }
      // Small places count less, because a region has many villages that share the name of a city elsewhere.
      const weight = (columns.populations[place] ?? 0) >= 15_000 ? 1 : 0.4
      return weight * (inCountry + divisionTally.scoreOf(keyOf(place), own, 3.5)) + 0.25 * fromCities
    },
  }
}

/** Scores by key, with the names that gave them, because a name must not support itself. */
interface Tally {
  /** Adds points of a name to a key. One name gives a key at most `max` points. */
  add(key: number, from: Reading, points: number, max: number): void
  /** The score of a key, up to `max`. It shrinks as other keys get more points: a text that lists every state supports none of them. */
  scoreOf(key: number, own: Reading, max: number): number
}

function createTally(): Tally {
  const points = new Map<number, number>()
  const pointsByName = new Map<Reading, Map<number, number>>()
  const totalByName = new Map<Reading, number>()
  let total = 0
  return {
    add(key, from, offered, max) {
      const byKey = pointsByName.get(from) ?? new Map<number, number>()
      const before = byKey.get(key) ?? 0
      const added = Math.min(max, before + offered) - before
      byKey.set(key, before + added)
      pointsByName.set(from, byKey)
      totalByName.set(from, (totalByName.get(from) ?? 0) + added)
      points.set(key, (points.get(key) ?? 0) + added)
      total += added
    },
    scoreOf(key, own, max) {
      const others = (points.get(key) ?? 0) - (pointsByName.get(own)?.get(key) ?? 0)
      if (others <= 0) return 0
      return Math.min(max, others) * (others / (total - (totalByName.get(own) ?? 0)))
    },
  }
}
