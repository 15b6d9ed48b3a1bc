import { parseAddress } from './address.ts'
import { waveStateOf } from './hubs.ts'
import type { PlanTale } from './plan-tale.ts'
import { DEFAULT_MAX_SEEDS } from './planner-options.ts'
import type { SiteBook } from './site-book.ts'
import { learnSpelling } from './site-spelling.ts'
import { type Hub, type Slot, showSlot, writeHubUrl } from './slot.ts'
import { TopicHubs } from './topic-hubs.ts'
import { sizeNextWave } from './waves.ts'

/**
 * Why an address is tried: it was a hub before, a pattern implies it, other sections have such, a section ought to begin there, or to
 * see what the site answers where it has nothing.
 */
export type SeedKind = 'remembered' | 'countries' | 'regions' | 'topics' | 'sections' | 'probes'

/** What seeding works with. */
export interface SeedingSetup {
  readonly site: SiteBook
  readonly tale: PlanTale
  readonly maxSeeds: number | undefined
  /** Whether an address was a hub when it was last looked at. */
  readonly wasConfirmed: (url: string) => boolean
}

/** Supposes hubs, in waves: each as large as those before were right, and never more than may be. */
export class Seeding {
  readonly #setup: SeedingSetup
  readonly #topics: TopicHubs
  readonly #seeded = new Set<string>()
  /** Seeds that got no answer yet. */
  readonly #awaited = new Set<string>()
  readonly #kinds: Record<SeedKind, number> = {
    remembered: 0,
    countries: 0,
    regions: 0,
    topics: 0,
    sections: 0,
    probes: 0,
  }

  constructor(setup: SeedingSetup) {
    this.#setup = setup
    this.#topics = new TopicHubs(setup.site)
  }

  /** How many addresses were supposed, by an interrupted run of the crawl too. */
  get count(): number {
    return this.#seeded.size
  }

  get kinds(): Readonly<Record<SeedKind, number>> {
    return this.#kinds
  }

  /** Whether every seed has answered. */
  get isAnswered(): boolean {
    return this.#awaited.size === 0
  }

  /** Takes in a seed of an interrupted run. */
  resume(url: string): void {
    this.#seeded.add(url)
  }

  await(url: string): void {
    this.#awaited.add(url)
  }

  /** Says that an address answered, or is not going to. */
  answer(url: string): void {
    this.#awaited.delete(url)
  }

  /** Whatever has not answered by now is not going to. */
  giveUp(): void {
    this.#awaited.clear()
    this.#topics.giveUp()
    for (const { hubs } of this.#setup.site.hubSlots) {
      for (const hub of hubs.values()) if (hub.isSeeded) hub.state ??= 'open'
    }
  }

  /** What is to be tried next: hubs of earlier crawls, then what patterns imply, then fronts of sections where these are wanted. */
  list(origin: string, hasSections: boolean, probes: readonly string[]): string[] {
    const { site, wasConfirmed } = this.#setup
    const seeds: string[] = []
    const add = (url: string, kind: SeedKind) => this.#add(url, kind, seeds)
    for (const url of probes) add(url, 'probes')
    for (const slot of site.hubSlots) {
      for (const hub of slot.hubs.values()) {
        if (hub.state !== undefined || hub.isSeeded) continue
        // What the site names as well is only visited earlier.
        if (hub.origin === 'guessed') hub.isSeeded = add(hub.url, 'remembered')
        else if (wasConfirmed(hub.url)) add(hub.url, 'remembered')
      }
    }
    for (const slot of site.hubSlots) {
      for (const hub of this.#listWave(slot)) {
        hub.isSeeded = add(hub.url, slot.kind === 'country' ? 'countries' : 'regions')
        if (!hub.isSeeded) slot.hubs.delete(hub.text)
      }
    }
    for (const hub of this.#topics.list()) {
      // What is known from before is not tried again.
      if (hub.state !== undefined || hub.origin === 'listed') continue
      hub.isSeeded = add(hub.url, 'topics')
      if (!hub.isSeeded) hub.state = 'open'
    }
    if (hasSections) for (const url of site.sections.guessFronts(origin)) add(url, 'sections')
    return seeds
  }

  /** Whether a wave is on its way that another may follow. */
  hasWaveAhead(): boolean {
    if (this.#topics.isWaiting) return true
    return this.#setup.site.hubSlots.some((slot) => {
      const { waiting, left } = waveStateOf(slot)
      return waiting > 0 && left > 0
    })
  }

  /** Takes an address in that is to be tried. Tells whether it is one of the seeds, as only so many may be. */
  #add(url: string, kind: SeedKind, seeds: string[]): boolean {
    if (this.#seeded.has(url)) return true
    if (this.#seeded.size >= (this.#setup.maxSeeds ?? DEFAULT_MAX_SEEDS)) return false
    this.#seeded.add(url)
    this.#kinds[kind]++
    seeds.push(url)
    return true
  }

  /** The hubs that a slot implies and that are to be tried now. */
  #listWave(slot: Slot): Hub[] {
    const state = waveStateOf(slot)
    const size = sizeNextWave(state)
    if (size === 0) return []
    const { site, tale } = this.#setup
    slot.lastWave = size
    const spelling = learnSpelling(slot.names, [...slot.hubs.values()])
    const { tried, confirmed } = state
    tale.say(
      2,
      `${showSlot(slot)}: ${confirmed} of ${tried} guesses were right; ${size} more, spelt as ${spelling.name}`,
    )
    const missing = slot.names.all.filter(({ id }) => !slot.places.has(id) && !slot.passed.has(id))
    return missing.slice(0, size).flatMap((place) => {
      const address = parseAddress(writeHubUrl(slot, spelling.write(place)))
      const found = address === undefined ? [] : site.slots.note(address, 'guessed')
      const own = found.find(({ slot: other, hub }) => other === slot && hub.place.id === place.id)
      // A word that means another place, or none, is no guess.
      if (own === undefined) slot.passed.add(place.id)
      return own === undefined ? [] : [own.hub]
    })
  }
}
