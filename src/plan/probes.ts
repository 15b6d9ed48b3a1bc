import type { HubVerdict } from './plan-memory.ts'
import type { FoundHub, Hub, Slot } from './slot.ts'
import { writeHubUrl } from './slot.ts'
import type { SeenPage } from './verdict-book.ts'

/** A word that no site has anything for. */
const NOWHERE = 'no-such-place-here'

/** A hub that is believed only where a site has nothing for places that do not exist. */
export interface Doubtful {
  readonly one: FoundHub
  readonly state: HubVerdict['state']
  readonly seen: SeenPage
}

interface Probe {
  readonly one: FoundHub
  doubtful: Doubtful[]
  /** What is there; undefined while that is not known. A site that has nothing for it is honest. */
  found: HubVerdict['state'] | 'open' | undefined
}

/**
 * Finds out what a site answers where it has nothing. Where guesses look alike, one address of their slot is asked for that cannot
 * exist: once, whatever comes of it.
 */
export class Probes {
  readonly #probes = new Map<Slot, Probe>()
  readonly #byUrl = new Map<string, FoundHub>()
  #asked: string[] = []

  /** Addresses that are to be asked for, once. */
  take(): readonly string[] {
    return this.#asked.splice(0)
  }

  /** The probe that has an address. */
  find(url: string): FoundHub | undefined {
    return this.#byUrl.get(url)
  }

  /** What the site has for a place that does not exist; undefined while that is not known. */
  foundIn(slot: Slot): HubVerdict['state'] | 'open' | undefined {
    return this.#probes.get(slot)?.found
  }

  /** Takes in what is to be believed later, or not. */
  doubt(slot: Slot, doubtful: readonly Doubtful[]): void {
    const probe = this.#probes.get(slot) ?? this.#open(slot)
    probe.doubtful.push(...doubtful)
  }

  /** Says what the site answers. Answers what was waiting for that. */
  settle(slot: Slot, found: HubVerdict['state'] | 'open'): readonly Doubtful[] {
    const probe = this.#probes.get(slot)
    if (probe === undefined) return []
    probe.found = found
    return probe.doubtful.splice(0)
  }

  #open(slot: Slot): Probe {
    const url = writeHubUrl(slot, NOWHERE)
    const place = { ...NO_PLACE, name: NOWHERE }
    const flags = { isGuess: true, isSeeded: true, isReported: false }
    const hub: Hub = { url, text: NOWHERE, place, origin: 'guessed', state: undefined, status: null, ...flags }
    const probe: Probe = { one: { slot, hub }, doubtful: [], found: undefined }
    this.#probes.set(slot, probe)
    this.#byUrl.set(url, probe.one)
    this.#asked.push(url)
    return probe
  }
}

const NO_PLACE = { id: -1, kind: 'country', countryCode: null, adm1Code: null, population: 0, slugs: [] } as const
