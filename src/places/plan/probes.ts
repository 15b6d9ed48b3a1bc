import type { HubVerdict } from '../../library/ports/findings.ts'
import type { HubPage } from './hub-verifier.ts'
import type { FoundHub, Hub, Slot } from './slot.ts'
import { writeHubUrl } from './slot.ts'

/** A word that no site has a page for. */
const NONEXISTENT_PLACE = 'no-such-place-here'

/** A hub whose verdict depends on what the site returns for a place that does not exist. */
export interface DoubtfulHub {
  readonly foundHub: FoundHub
  readonly state: HubVerdict['state']
  readonly seen: HubPage
}

interface Probe {
  readonly foundHub: FoundHub
  doubtful: DoubtfulHub[]
  /** The site's result for the probe; undefined while unknown. `missing` means that the site reports missing pages correctly. */
  result: HubVerdict['state'] | 'open' | undefined
}

/**
 * Finds out what a site returns for pages it does not have. When guesses look alike, it requests one impossible address of their slot,
 * once, whatever the result.
 */
export class Probes {
  readonly #probes = new Map<Slot, Probe>()
  readonly #byUrl = new Map<string, FoundHub>()
  #unrequested: string[] = []

  /** Returns and clears the addresses to request. */
  take(): readonly string[] {
    return this.#unrequested.splice(0)
  }

  /** The probe with this address. */
  find(url: string): FoundHub | undefined {
    return this.#byUrl.get(url)
  }

  /** The site's result for a place that does not exist; undefined while unknown. */
  resultOf(slot: Slot): HubVerdict['state'] | 'open' | undefined {
    return this.#probes.get(slot)?.result
  }

  /** Adds hubs whose verdicts wait for the probe. */
  deferVerdicts(slot: Slot, doubtful: readonly DoubtfulHub[]): void {
    const probe = this.#probes.get(slot) ?? this.#open(slot)
    probe.doubtful.push(...doubtful)
  }

  /** Stores the result of the probe. Returns the hubs that waited for it. */
  settle(slot: Slot, result: HubVerdict['state'] | 'open'): readonly DoubtfulHub[] {
    const probe = this.#probes.get(slot)
    if (probe === undefined) return []
    probe.result = result
    return probe.doubtful.splice(0)
  }

  #open(slot: Slot): Probe {
    const url = writeHubUrl(slot, NONEXISTENT_PLACE)
    const place = { ...NO_PLACE, name: NONEXISTENT_PLACE }
    const flags = { isGuess: true, isSeeded: true, isReported: false }
    const hub: Hub = {
      url,
      text: NONEXISTENT_PLACE,
      place,
      origin: 'guessed',
      state: undefined,
      status: null,
      ...flags,
    }
    const probe: Probe = { foundHub: { slot, hub }, doubtful: [], result: undefined }
    this.#probes.set(slot, probe)
    this.#byUrl.set(url, probe.foundHub)
    this.#unrequested.push(url)
    return probe
  }
}

const NO_PLACE = { id: -1, kind: 'country', countryCode: null, adm1Code: null, population: 0, slugs: [] } as const
