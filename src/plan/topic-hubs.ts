import { parseAddress } from './address.ts'
import { listCovered } from './hubs.ts'
import type { SiteBook } from './site-book.ts'
import { type Hub, MARK, type Slot, writeHubUrl } from './slot.ts'

/** Hubs of a section that show that it has such. */
const LEAST_CONFIRMED = 3
/** Sections that have to have hubs of places before others are supposed to. */
const LEAST_SECTIONS = 2
/** Further sections that are tried, and how many hubs of each: what comes then is up to their own slots. */
const MOST_SECTIONS = 4
const MOST_TRIED = 3

/**
 * Supposes hubs of places in further sections, where several sections have them: `/sport/france` next to `/world/france` and
 * `/politics/france`. One after the other, and no more in a section that does not have the first.
 */
export class TopicHubs {
  readonly #site: SiteBook
  /** What was tried, by sections. */
  readonly #tried = new Map<string, Hub[]>()

  constructor(site: SiteBook) {
    this.#site = site
  }

  /** Whether something was tried of which it is not known what became of it. */
  get isWaiting(): boolean {
    return [...this.#tried.values()].some((hubs) => hubs.some(({ state }) => state === undefined))
  }

  /** Whatever has not answered by now is not going to. */
  giveUp(): void {
    for (const hubs of this.#tried.values()) for (const hub of hubs) hub.state ??= 'open'
  }

  /** The hubs that are to be tried now. */
  list(): Hub[] {
    const hubs: Hub[] = []
    for (const [rest, slots] of this.#group()) {
      const [best] = slots
      if (best === undefined || slots.length < LEAST_SECTIONS) continue
      const known = new Set(slots.map(sectionOf))
      const sections = this.#site.sections.list().filter(({ name }) => !name.includes('/') && !known.has(name))
      for (const { name } of sections.slice(0, MOST_SECTIONS)) {
        const hub = this.#tryNext(best, `/${name}${rest}`)
        if (hub !== undefined) hubs.push(hub)
      }
    }
    return hubs
  }

  /** Slots of countries that were found right, by what comes behind their sections; the largest of each first. */
  #group(): Map<string, Slot[]> {
    const groups = new Map<string, Slot[]>()
    for (const slot of this.#site.hubSlots) {
      const section = sectionOf(slot)
      const isOne = slot.kind === 'country' && section !== '' && !section.includes(MARK)
      if (!isOne || listCovered(slot).size < LEAST_CONFIRMED) continue
      const rest = slot.template.slice(section.length + 1)
      groups.set(rest, [...(groups.get(rest) ?? []), slot])
    }
    return groups
  }

  #tryNext(like: Slot, template: string): Hub | undefined {
    const tried = this.#tried.get(template) ?? []
    if (tried.length >= MOST_TRIED || tried.some(({ state }) => state !== 'confirmed')) return undefined
    const covered = listCovered(like)
    const places = like.names.all.filter(({ id }) => covered.has(id))
    const place = places[tried.length]
    const text = [...like.hubs.values()].find(
      ({ place: { id }, state }) => id === place?.id && state === 'confirmed',
    )?.text
    const address = text === undefined ? undefined : parseAddress(writeHubUrl({ ...like, template }, text))
    const found = address === undefined ? [] : this.#site.slots.note(address, 'guessed')
    const hub = found.find(({ slot, hub: { place: one } }) => slot.template === template && one.id === place?.id)?.hub
    if (hub !== undefined) this.#tried.set(template, [...tried, hub])
    return hub
  }
}

/** The first segment of the paths of a slot. */
function sectionOf({ template }: Slot): string {
  return template.split('/')[1] ?? ''
}
