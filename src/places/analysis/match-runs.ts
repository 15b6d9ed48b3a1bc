import { simplifyHan } from './match-han.ts'
import { beginHash, extendHash, type NameHash, prefixSlot, RUN_SALT } from './match-hash.ts'
import type { NameIndex } from './match-index.ts'
import type { Mention } from './match-mentions.ts'
import { priorOf } from './match-score.ts'
import { normalizeName } from './place.ts'

/** Form of a mention: the name is part of a run without spaces. */
export const FORM_RUN = 3
/** Maximum number of characters of a name in scripts without spaces. */
export const MAX_RUN_UNITS = 24

/** Finds names in runs of text in scripts without spaces. */
export class RunSearch {
  readonly #index: NameIndex
  readonly #hash: NameHash = { high: 0, low: 0 }

  constructor(index: NameIndex) {
    this.#index = index
  }

  /** Adds the mentions within a run, which is the token `at` and starts at an offset of the text. */
  addMentions(at: number, start: number, text: string, into: Mention[]): void {
    const { word: full, origins } = normalizeRun(text)
    const run: Run = { word: simplifyHan(full), origins, matches: [] }
    for (let from = 0; from + 2 <= run.word.length; ) {
      const match = this.#matchAt(run, from)
      if (match === undefined || this.#losesToInnerName(run, from, match)) {
        from++
        continue
      }
      const last = from + match.units - 1
      into.push({
        first: at,
        next: at + 1,
        start: start + (origins?.[from]?.start ?? from),
        end: start + (origins?.[last]?.end ?? last + 1),
        keys: [match.key],
        form: FORM_RUN,
        units: match.units,
      })
      from += match.units
    }
  }

  /** The longest name that starts at a position of a run. */
  #matchAt(run: Run, from: number): RunMatch | undefined {
    const known = run.matches[from]
    if (known !== undefined) return known === NO_MATCH ? undefined : known
    const { word } = run
    const maxUnits = Math.min(
      this.#index.columns.maxLengthByPrefix[prefixSlot(word, from, from + 2, RUN_SALT)] ?? 0,
      MAX_RUN_UNITS,
      word.length - from,
    )
    let best: RunMatch | undefined
    if (maxUnits >= 2) {
      beginHash(this.#hash)
      for (let units = 1; units <= maxUnits; units++) {
        extendHash(this.#hash, word, from + units - 1, from + units)
        if (units < 2 || !isWholeKatakana(run, from, from + units)) continue
        const key = this.#index.keyOf(this.#hash)
        if (key >= 0) best = { key, units }
      }
    }
    run.matches[from] = best ?? NO_MATCH
    return best
  }

  /**
   * `抵达莫斯科`: whether a name that starts inside this one wins, because it is longer and not much less known, or as long and better known.
   */
  #losesToInnerName(run: Run, from: number, match: RunMatch): boolean {
    for (let inner = from + 1; inner < from + match.units && inner + 2 <= run.word.length; inner++) {
      const other = this.#matchAt(run, inner)
      if (other === undefined || other.units < match.units) continue
      const lead = this.#bestPriorOf(other.key) - this.#bestPriorOf(match.key)
      if (lead > (other.units > match.units ? -LONGER_LEAD : 0)) return true
    }
    return false
  }

  /** Score of the likeliest place of a name. */
  #bestPriorOf(key: number): number {
    const { keyStarts, postingPlaces, postingNames } = this.#index.columns
    let best = 0
    for (let at = keyStarts[key] ?? 0; at < (keyStarts[key + 1] ?? 0); at++) {
      best = Math.max(best, priorOf(this.#index, postingPlaces[at] ?? 0, postingNames[at] ?? 0))
    }
    return best
  }
}

/** The source offsets of a unit. */
interface Origin {
  readonly start: number
  readonly end: number
}

/** A name at a position of a run: its key and its length. */
interface RunMatch {
  readonly key: number
  readonly units: number
}

/** A run in normal form. */
interface Run {
  readonly word: string
  /** Source offsets of each unit; undefined when they are unchanged. */
  readonly origins: readonly Origin[] | undefined
  /** The longest name that starts at each position; unset until it is computed. */
  readonly matches: RunMatch[]
}

const NO_MATCH: RunMatch = { key: -1, units: 0 }

/** Score lead with which a name wins against a longer one that starts inside it. */
const LONGER_LEAD = 1

/** A run in normal form with the source offset of each unit; no offsets when they are unchanged. */
function normalizeRun(run: string): Pick<Run, 'word' | 'origins'> {
  const whole = normalizeName(run)
  if (whole === run) return { word: run, origins: undefined }
  let word = ''
  const origins: Origin[] = []
  let at = 0
  for (const character of run) {
    const normal = normalizeName(character)
    const origin = { start: at, end: at + character.length }
    for (let i = 0; i < normal.length; i++) origins.push(origin)
    word += normal
    at = origin.end
  }
  return { word, origins }
}

/** Whether a range does not split a katakana word: `ローマ` must not match inside `ローマン`. A middle dot separates words. */
function isWholeKatakana({ word, origins }: Run, from: number, to: number): boolean {
  const isInsideWord = (at: number): boolean =>
    isKatakana(word, at - 1) &&
    isKatakana(word, at) &&
    (origins === undefined || (origins[at]?.start ?? 0) - (origins[at - 1]?.start ?? 0) === 1)
  return !isInsideWord(from) && !isInsideWord(to)
}

function isKatakana(word: string, at: number): boolean {
  const code = at < 0 ? 0 : word.charCodeAt(at)
  return code >= 0x30a1 && code <= 0x30ff
}
