import { countOf } from '../core/text/count.ts'
import { coverageOf, isOpenSlot, isUnderstood, listCovered } from './hubs.ts'
import type { PlanTale } from './plan-tale.ts'
import { isUnknownShape } from './shapes.ts'
import type { SiteBook } from './site-book.ts'
import { type FoundHub, type Hub, type Slot, showSlot } from './slot.ts'

/** Limit of unknown shapes that are reported. */
const MOST_UNKNOWN = 20

/** Reports what was learnt about a site, and the hubs that are missing there. */
export class PlanNotes {
  readonly #site: SiteBook
  readonly #tale: PlanTale
  #startUrl = ''

  constructor(site: SiteBook, tale: PlanTale) {
    this.#site = site
    this.#tale = tale
  }

  begin(startUrl: string): void {
    this.#startUrl = startUrl
  }

  /** Reports the known sections and patterns when the plan is made. */
  tellLearned(): void {
    const sections = this.#site.sections.list().map(({ name, count }) => ({ name, count }))
    const patterns = this.#site.listPatterns()
    const message = `${countOf(sections.length, 'section')} and ${countOf(patterns.length, 'pattern')} of addresses are known`
    this.#tale.milestone('patterns-learned', this.#startUrl, message, { sections, patterns })
    for (const { pattern, role, seen, confidence } of patterns) {
      this.#tale.say(2, `${pattern}: ${role}, ${seen} seen, confidence ${confidence}`)
    }
  }

  tellSeeded(count: number, kinds: Readonly<Record<string, number>>): void {
    const message = `${countOf(count, 'address')} to be tried first`
    this.#tale.milestone('hubs-seeded', this.#startUrl, message, { count, ...kinds })
  }

  /** Reports that no further seeds follow; when there were none, that no known pattern implies any. */
  tellPrepared(count: number): void {
    if (count > 0) {
      const message = `all ${count} addresses of the plan are in the frontier`
      this.#tale.milestone('seeds-prepared', this.#startUrl, message, { count })
    } else if (this.#site.hubSlots.length === 0) {
      const message = 'nothing that is known of the site implies hubs that it does not name itself'
      this.#tale.problem('no-hubs-seeded', this.#startUrl, message, {})
    }
  }

  tellPrimed(count: number): void {
    const message = `each of the ${count} addresses of the plan has answered`
    this.#tale.milestone('cache-primed', this.#startUrl, message, { count })
  }

  /** Reports once that the site is understood. */
  checkUnderstood(): void {
    if (this.#tale.hasReached('full-understanding')) return
    const coverage = coverageOf(this.#site.hubSlots)
    const { slot, covered } = coverage
    if (slot === undefined || !isUnderstood(coverage)) return
    const { all } = slot.names
    const missingList = all.filter(({ id }) => !covered.has(id)).map(({ name }) => name)
    this.#tale.milestone(
      'full-understanding',
      this.#startUrl,
      `${covered.size} of ${all.length} countries have a hub`,
      { countriesCovered: covered.size, missing: missingList.length, missingList, pattern: showSlot(slot) },
    )
  }

  /** Reports a hub that the site links to but does not have. */
  reportListed({ slot, hub }: FoundHub): void {
    if (!this.#site.isHubSlot(slot)) return
    this.#reportMissing(slot, hub, `the site names ${hub.url}, and it is not there`)
  }

  /** Reports hubs that open patterns imply but that are missing, and missing hubs that were linked before their slot was recognised. */
  reportSupposed(): void {
    for (const slot of this.#site.hubSlots) {
      const covered = listCovered(slot)
      const isOpen = isOpenSlot(slot)
      const told = new Set<number>()
      for (const hub of slot.hubs.values()) {
        if (hub.state !== 'missing') continue
        if (hub.origin === 'listed') this.reportListed({ slot, hub })
        else if (isOpen && !covered.has(hub.place.id) && !told.has(hub.place.id)) {
          this.#reportMissing(slot, hub, `${hub.url} ought to be there like those of other places, and is not`)
        }
        told.add(hub.place.id)
      }
    }
  }

  /** Reports frequent shapes of addresses whose role is unknown. */
  reportUnknown(): void {
    for (const shape of this.#site.shapes.list().filter(isUnknownShape).slice(0, MOST_UNKNOWN)) {
      const { pattern, seen, examples } = shape
      const message = `${seen} addresses look like ${pattern}, and nothing is known about them`
      this.#tale.problem('unknown-pattern', pattern, message, { count: seen, examples })
    }
  }

  #reportMissing(slot: Slot, hub: Hub, message: string): void {
    if (hub.isReported) return
    hub.isReported = true
    const { url, text, place, origin, status } = hub
    this.#tale.problem('missing-hub', url, message, {
      slug: text.toLowerCase(),
      place: place.name,
      pattern: showSlot(slot),
      origin,
      status,
    })
  }
}
