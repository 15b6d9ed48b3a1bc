import { countOf } from '../../core/text/count.ts'
import { coverageOf, isExhaustiveSlot, isUnderstood, listConfirmedPlaces } from './hub-coverage.ts'
import type { PlanLog } from './plan-log.ts'
import { isUnknownShape } from './shapes.ts'
import type { SiteModel } from './site-model.ts'
import { type FoundHub, type Hub, type Slot, writeSlotPattern } from './slot.ts'

/** Limit of unknown shapes that are reported. */
const MAX_UNKNOWN_SHAPES = 20

/** Reports what was learned about a site, and the hubs that are missing there. */
export class PlanReporter {
  readonly #site: SiteModel
  readonly #log: PlanLog
  #startUrl = ''

  constructor(site: SiteModel, log: PlanLog) {
    this.#site = site
    this.#log = log
  }

  begin(startUrl: string): void {
    this.#startUrl = startUrl
  }

  /** Reports the known sections and patterns when the plan is made. */
  reportLearned(): void {
    const sections = this.#site.sections.list().map(({ name, count }) => ({ name, count }))
    const patterns = this.#site.listPatterns()
    const message = `${countOf(sections.length, 'section')} and ${countOf(patterns.length, 'pattern')} of addresses are known`
    this.#log.addMilestone('patterns-learned', this.#startUrl, message, { sections, patterns })
    for (const { pattern, role, seen, confidence } of patterns) {
      this.#log.addThought(2, `${pattern}: ${role}, ${seen} seen, confidence ${confidence}`)
    }
  }

  reportSeeded(count: number, kinds: Readonly<Record<string, number>>): void {
    const message = `${countOf(count, 'address')} will be tried first`
    this.#log.addMilestone('hubs-seeded', this.#startUrl, message, { count, ...kinds })
  }

  /** Reports that no further seeds follow; when there were none, that no known pattern implies any. */
  reportPrepared(count: number): void {
    if (count > 0) {
      const message = `all ${count} planned addresses are in the frontier`
      this.#log.addMilestone('seeds-prepared', this.#startUrl, message, { count })
    } else if (this.#site.hubSlots.length === 0) {
      const message = 'no known pattern of the site implies hubs that the site does not link to'
      this.#log.addProblem('no-hubs-seeded', this.#startUrl, message, {})
    }
  }

  reportPrimed(count: number): void {
    const message = `all ${count} planned addresses have a result`
    this.#log.addMilestone('cache-primed', this.#startUrl, message, { count })
  }

  /** Reports once that the site is understood. */
  reportUnderstood(): void {
    if (this.#log.hasReached('full-understanding')) return
    const coverage = coverageOf(this.#site.hubSlots)
    const { slot, covered } = coverage
    if (slot === undefined || !isUnderstood(coverage)) return
    const { all } = slot.names
    const missingList = all.filter(({ id }) => !covered.has(id)).map(({ name }) => name)
    this.#log.addMilestone(
      'full-understanding',
      this.#startUrl,
      `${covered.size} of ${all.length} countries have a hub`,
      { countriesCovered: covered.size, missing: missingList.length, missingList, pattern: writeSlotPattern(slot) },
    )
  }

  /** Reports a hub that the site links to but does not have. */
  reportBrokenHubLink({ slot, hub }: FoundHub): void {
    if (!this.#site.isHubSlot(slot)) return
    this.#reportMissing(slot, hub, `the site links to ${hub.url}, but the page does not exist`)
  }

  /** Reports missing hubs that exhaustive patterns imply, and missing hubs that were linked before their slot was recognized. */
  reportMissingHubs(): void {
    for (const slot of this.#site.hubSlots) {
      const covered = listConfirmedPlaces(slot)
      const isExhaustive = isExhaustiveSlot(slot)
      const handledPlaces = new Set<number>()
      for (const hub of slot.hubs.values()) {
        if (hub.state !== 'missing') continue
        if (hub.origin === 'listed') this.reportBrokenHubLink({ slot, hub })
        else if (isExhaustive && !covered.has(hub.place.id) && !handledPlaces.has(hub.place.id)) {
          this.#reportMissing(slot, hub, `${hub.url} does not exist, although other places have such a page`)
        }
        handledPlaces.add(hub.place.id)
      }
    }
  }

  /** Reports frequent shapes of addresses whose role is unknown. */
  reportUnknownShapes(): void {
    for (const shape of this.#site.shapes.list().filter(isUnknownShape).slice(0, MAX_UNKNOWN_SHAPES)) {
      const { pattern, seen, examples } = shape
      const message = `${seen} addresses match ${pattern}, and the kind of their pages is unknown`
      this.#log.addProblem('unknown-pattern', pattern, message, { count: seen, examples })
    }
  }

  #reportMissing(slot: Slot, hub: Hub, message: string): void {
    if (hub.isReported) return
    hub.isReported = true
    const { url, text, place, origin, status } = hub
    this.#log.addProblem('missing-hub', url, message, {
      slug: text.toLowerCase(),
      place: place.name,
      pattern: writeSlotPattern(slot),
      origin,
      status,
    })
  }
}
