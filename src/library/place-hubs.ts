import type { PlaceHub } from '../analysis/page-analysis.ts'
import type { PlaceKind } from '../analysis/place.ts'
import type { HubVerdict, LearnedPattern } from '../plan/plan-memory.ts'

/** A hub as it is kept. */
export interface KeptHub extends Omit<PlaceHub, 'placeId' | 'placeKind' | 'placeSlug'> {
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly placeKind: PlaceKind | null
  readonly firstSeenAt: number
  readonly lastSeenAt: number
}

/** Which hubs are asked for. */
export interface HubQuery {
  readonly host?: string
  readonly placeId?: number
  readonly placeKind?: PlaceKind
  readonly topicSlug?: string
  readonly offset: number
  readonly limit: number
}

/** A hub that is not there. */
export interface MissingHub {
  readonly url: string
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly checkedAt: number
}

/** How well the hubs of a host cover the world. */
export interface HubCoverage {
  readonly host: string
  readonly hubs: number
  /** Countries of the gazetteer with a hub of their own, and all of them. */
  readonly countriesCovered: number
  readonly countries: number
  /** Hubs that the site names, or its pattern implies, and that are not there: the first 500, and how many there are. */
  readonly missing: readonly MissingHub[]
  readonly missingCount: number
  readonly patterns: readonly LearnedPattern[]
  readonly topics: readonly { readonly slug: string; readonly label: string; readonly hubs: number }[]
}

/** Pages that lead to what is about a place. */
export interface PlaceHubs {
  /** Adds hubs, or fills in what was not known of those that are there. */
  write(hubs: readonly PlaceHub[], now: number): Promise<void>
  list(query: HubQuery): Promise<{ readonly total: number; readonly items: readonly KeptHub[] }>
  find(url: string): Promise<KeptHub | undefined>
  /** Hosts with hubs or with patterns, those with most hubs first. */
  listHosts(limit: number): Promise<readonly { readonly host: string; readonly hubs: number }[]>
  coverage(host: string): Promise<HubCoverage>
  /** What was found out about an address that was supposed to be a hub. */
  findVerdict(url: string): Promise<HubVerdict | undefined>
  /** What was found out about supposed hubs of a host. */
  listVerdicts(host: string, state: HubVerdict['state'], limit: number): Promise<readonly HubVerdict[]>
}
