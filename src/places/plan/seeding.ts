import { DEFAULT_MAX_SEEDS } from '../../crawl/planner-options.ts'
import { parseAddress } from './address.ts'
import { waveStateOf } from './hub-coverage.ts'
import type { PlanLog } from './plan-log.ts'
import type { SiteModel } from './site-model.ts'
import { learnSpelling } from './site-spelling.ts'
import { type Hub, type Slot, writeHubUrl, writeSlotPattern } from './slot.ts'
import { TopicHubs } from './topic-hubs.ts'
import { sizeNextWave } from './waves.ts'

/**
 * Why an address is tried: it was a hub before, a pattern implies it, other sections have such hubs, a section should start there, or it is
 * a probe for missing pages.
 */
export type SeedKind = 'remembered' | 'countries' | 'regions' | 'topics' | 'sections' | 'probes'

/** Dependencies of seeding. */
export interface SeedingSetup {
  readonly site: SiteModel
  readonly log: PlanLog
  readonly maxSeeds: number | undefined
  /** Whether an address was a hub at the last visit. */
  readonly wasConfirmed: (url: string) => boolean
}

/** Guesses hubs in waves. The size of each depends on how many earlier guesses were right, within the seed limit. */
export class Seeding {
  readonly #setup: SeedingSetup
  readonly #topics: TopicHubs
  readonly #seeded = new Set<string>()
  /** Seeds without a result yet. */
  readonly #pending = new Set<string>()
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

  /** Number of guessed addresses, including those of an interrupted run. */
  get count(): number {
    return this.#seeded.size
  }

  get countsByKind(): Readonly<Record<SeedKind, number>> {
    return this.#kinds
  }

  /** Whether every seed has a result. */
  get hasAllResults(): boolean {
    return this.#pending.size === 0
  }

  /** Adds a seed of an interrupted run. */
  restore(url: string): void {
    this.#seeded.add(url)
  }

  addPending(url: string): void {
    this.#pending.add(url)
  }

  /** Marks an address as visited, or as never to be visited. */
  markDone(url: string): void {
    this.#pending.delete(url)
  }

  /** Gives up on all seeds without a result: their hubs become `open`. */
  abandonPending(): void {
    this.#pending.clear()
    this.#topics.abandonPending()
    for (const { hubs } of this.#setup.site.hubSlots) {
      for (const hub of hubs.values()) if (hub.isSeeded) hub.state ??= 'open'
    }
  }

  /** The next seeds: probes, hubs of earlier crawls, guesses from patterns, and fronts of sections if `includeSections` is true. */
  takeNextSeeds(origin: string, includeSections: boolean, probes: readonly string[]): string[] {
    const { site, wasConfirmed } = this.#setup
    const seeds: string[] = []
    const add = (url: string, kind: SeedKind) => this.#add(url, kind, seeds)
    for (const url of probes) add(url, 'probes')
    for (const slot of site.hubSlots) {
      for (const hub of slot.hubs.values()) {
        if (hub.state !== undefined || hub.isSeeded) continue
        // An address that the site links to is visited anyway. As a seed it is visited earlier.
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
    for (const hub of this.#topics.takeNextHubs()) {
      // A hub with an earlier verdict is not tried again.
      if (hub.state !== undefined || hub.origin === 'listed') continue
      hub.isSeeded = add(hub.url, 'topics')
      if (!hub.isSeeded) hub.state = 'open'
    }
    if (includeSections) for (const url of site.sections.guessFronts(origin)) add(url, 'sections')
    return seeds
  }

  /** Whether a wave is in progress that another may follow. */
  hasPendingWave(): boolean {
    if (this.#topics.hasPending) return true
    return this.#setup.site.hubSlots.some((slot) => {
      const { waiting, left } = waveStateOf(slot)
      return waiting > 0 && left > 0
    })
  }

  /** Adds an address to the seeds. Returns false when the seed limit is reached. */
  #add(url: string, kind: SeedKind, seeds: string[]): boolean {
    if (this.#seeded.has(url)) return true
    if (this.#seeded.size >= (this.#setup.maxSeeds ?? DEFAULT_MAX_SEEDS)) return false
    this.#seeded.add(url)
    this.#kinds[kind]++
    seeds.push(url)
    return true
  }

  /** The hubs of a slot to try in the next wave. */
  #listWave(slot: Slot): Hub[] {
    const state = waveStateOf(slot)
    const size = sizeNextWave(state)
    if (size === 0) return []
    const { site, log } = this.#setup
    slot.lastWaveSize = size
    const spelling = learnSpelling(slot.names, [...slot.hubs.values()])
    const { tried, confirmed } = state
    const pattern = writeSlotPattern(slot)
    const results = `${confirmed} of ${tried} guesses were right`
    log.addThought(2, `${pattern}: ${results}; trying ${size} more, spelled as ${spelling.name}`)
    const missing = slot.names.all.filter(({ id }) => !slot.placeIds.has(id) && !slot.unguessableIds.has(id))
    return missing.slice(0, size).flatMap((place) => {
      const address = parseAddress(writeHubUrl(slot, spelling.write(place)))
      const found = address === undefined ? [] : site.slots.note(address, 'guessed')
      const match = found.find(({ slot: other, hub }) => other === slot && hub.place.id === place.id)
      // A word that means another place, or none, is not a guess.
      if (match === undefined) slot.unguessableIds.add(place.id)
      return match === undefined ? [] : [match.hub]
    })
  }
}
