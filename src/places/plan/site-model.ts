import { foldPagination } from '../../core/url/page-url.ts'
import type { LearnedPattern } from '../../library/ports/findings.ts'
import { type Address, parseAddress } from './address.ts'
import { createCountryNames } from './country-names.ts'
import { listPatterns } from './learned-patterns.ts'
import type { PlannerGazetteer } from './place-names.ts'
import { SectionIndex } from './sections.ts'
import { ShapeIndex } from './shapes.ts'
import type { FoundHub, Slot } from './slot.ts'
import { type AddressOrigin, SlotIndex } from './slot-index.ts'

/** Limit of remembered addresses; further ones count each time they are named. */
const MAX_COUNTED = 200_000

/** What the planner has learned about a site's addresses: sections, shapes, and the slots of places. */
export class SiteModel {
  readonly slots: SlotIndex
  readonly shapes: ShapeIndex = new ShapeIndex()
  sections: SectionIndex = new SectionIndex(0)
  /** Host of the site; addresses of other hosts are ignored. */
  host = ''
  /** Slots of countries, or of the regions of one country, as of the last refresh. */
  hubSlots: readonly Slot[] = []
  #hubSlotSet: ReadonlySet<Slot> = new Set()
  #revision = -1
  /** Addresses that were counted: lists, links and earlier crawls name the same ones. */
  readonly #counted = new Set<string>()

  constructor(places: PlannerGazetteer) {
    this.slots = new SlotIndex(createCountryNames(places), places)
  }

  /** Sets the site's host, and the number of path segments before the section. */
  begin(siteUrl: string): void {
    const start = parseAddress(siteUrl)
    this.host = start?.host ?? ''
    const isFile = start?.hasTrailingSlash === false
    this.sections = new SectionIndex(Math.max(0, (start?.segments.length ?? 0) - Number(isFile)))
  }

  /** Records the home page: its host becomes that of the site, and its links show the main sections. */
  noteHomePage(address: Address, links: readonly string[]): void {
    this.host = address.host
    for (const link of links) {
      const linked = parseAddress(link)
      if (linked !== undefined) this.sections.noteHomeLink(linked)
    }
  }

  /** Records an address. Returns the hubs that it could be. */
  note(address: Address, origin: AddressOrigin): readonly FoundHub[] {
    if (address.host !== this.host) return []
    const isNew = !this.#counted.has(address.url)
    if (isNew) {
      if (this.#counted.size < MAX_COUNTED) this.#counted.add(address.url)
      this.sections.note(address)
      this.shapes.note(address)
    }
    return this.slots.note(address, origin, isNew)
  }

  isHubSlot(slot: Slot): boolean {
    return this.#hubSlotSet.has(slot)
  }

  /** Recomputes the slots of places. Returns those that are new. */
  refresh(): readonly Slot[] {
    if (this.slots.revision === this.#revision) return []
    this.#revision = this.slots.revision
    const before = this.#hubSlotSet
    this.hubSlots = this.slots.listHubSlots()
    this.#hubSlotSet = new Set(this.hubSlots)
    return this.hubSlots.filter((slot) => !before.has(slot))
  }

  /** Whether an address is a place hub, judged by the places in its path. */
  hubLikelihoodOf(address: Address): 'hub' | 'maybe' | 'none' {
    return address.host === this.host ? this.hubLikelihoodAmong(this.slots.find(address)) : 'none'
  }

  /** The same as {@link hubLikelihoodOf}, from the hubs that an address could be. A region of some country is not enough for `maybe`. */
  hubLikelihoodAmong(found: readonly FoundHub[]): 'hub' | 'maybe' | 'none' {
    if (found.some(({ slot }) => this.#hubSlotSet.has(slot))) return 'hub'
    return found.some(({ slot }) => slot.kind === 'country') ? 'maybe' : 'none'
  }

  /** The URL of the hub that a page belongs to, including pagination; undefined when there is none. */
  hubUrlOf(url: string): string | undefined {
    const first = foldPagination(url)
    const address = parseAddress(first)
    if (address === undefined || address.segments.length === 0) return undefined
    if (first !== url || address.kind === 'nav' || address.isTag) return first
    return this.hubLikelihoodOf(address) !== 'none' || this.sections.isFront(address) ? first : undefined
  }

  listPatterns(): LearnedPattern[] {
    return listPatterns({
      hubSlots: this.hubSlots,
      placeSlots: this.slots.listOtherPlaceSlots(),
      sections: this.sections.list(),
      shapes: this.shapes.list(),
    })
  }
}
