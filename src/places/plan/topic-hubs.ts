import { parseAddress } from './address.ts'
import { listConfirmedPlaces } from './hub-coverage.ts'
import type { SiteModel } from './site-model.ts'
import { type Hub, PLACEHOLDER, type Slot, writeHubUrl } from './slot.ts'

/** Minimum number of confirmed hubs that show that a section has place hubs. */
const MIN_CONFIRMED = 3
/** Number of sections with place hubs from which others are tried. */
const MIN_SECTIONS = 2
/** Limits of further sections and of hubs tried in each; after that, the slots of the sections decide. */
const MAX_SECTIONS = 4
const MAX_TRIED = 3

/**
 * Guesses place hubs in further sections when several sections have them: `/sport/france` next to `/world/france` and `/politics/france`.
 * Hubs of a section are tried one after the other, until one is not confirmed.
 */
export class TopicHubs {
  readonly #site: SiteModel
  /** Hubs that were tried, by the template of their slot. */
  readonly #tried = new Map<string, Hub[]>()

  constructor(site: SiteModel) {
    this.#site = site
  }

  /** Whether a tried hub has no result yet. */
  get hasPending(): boolean {
    return [...this.#tried.values()].some((hubs) => hubs.some(({ state }) => state === undefined))
  }

  /** Gives up on all hubs without a result: they become `open`. */
  abandonPending(): void {
    for (const hubs of this.#tried.values()) for (const hub of hubs) hub.state ??= 'open'
  }

  /** The hubs to try now. */
  takeNextHubs(): Hub[] {
    const hubs: Hub[] = []
    for (const [rest, slots] of this.#group()) {
      const [best] = slots
      if (best === undefined || slots.length < MIN_SECTIONS) continue
      const known = new Set(slots.map(sectionOf))
      const sections = this.#site.sections.list().filter(({ name }) => !name.includes('/') && !known.has(name))
      for (const { name } of sections.slice(0, MAX_SECTIONS)) {
        const hub = this.#tryNext(best, `/${name}${rest}`)
        if (hub !== undefined) hubs.push(hub)
      }
    }
    return hubs
  }

  /** Country slots with enough confirmed hubs, grouped by the path after their section, largest first. */
  #group(): Map<string, Slot[]> {
    const groups = new Map<string, Slot[]>()
    for (const slot of this.#site.hubSlots) {
      const section = sectionOf(slot)
      const isCandidate = slot.kind === 'country' && section !== '' && !section.includes(PLACEHOLDER)
      if (!isCandidate || listConfirmedPlaces(slot).size < MIN_CONFIRMED) continue
      const rest = slot.template.slice(section.length + 1)
      groups.set(rest, [...(groups.get(rest) ?? []), slot])
    }
    return groups
  }

  #tryNext(model: Slot, template: string): Hub | undefined {
    const tried = this.#tried.get(template) ?? []
    if (tried.length >= MAX_TRIED || tried.some(({ state }) => state !== 'confirmed')) return undefined
    const covered = listConfirmedPlaces(model)
    const places = model.names.all.filter(({ id }) => covered.has(id))
    const place = places[tried.length]
    const text = [...model.hubs.values()].find(
      ({ place: { id }, state }) => id === place?.id && state === 'confirmed',
    )?.text
    const address = text === undefined ? undefined : parseAddress(writeHubUrl({ ...model, template }, text))
    const found = address === undefined ? [] : this.#site.slots.note(address, 'guessed')
    const hub = found.find((other) => other.slot.template === template && other.hub.place.id === place?.id)?.hub
    if (hub !== undefined) this.#tried.set(template, [...tried, hub])
    return hub
  }
}

/** The first path segment of a slot. */
function sectionOf({ template }: Slot): string {
  return template.split('/')[1] ?? ''
}
