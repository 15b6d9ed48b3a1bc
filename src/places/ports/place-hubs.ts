import type { PlaceHub } from '../analysis/page-analysis.ts'
import type { PlaceKind } from '../analysis/place.ts'
import type { HubVerdict, LearnedPattern } from './plan-memory.ts'

/** A stored hub. */
export interface StoredHub extends Omit<PlaceHub, 'placeId' | 'placeKind' | 'placeSlug'> {
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly placeKind: PlaceKind | null
  readonly firstSeenAt: number
  readonly lastSeenAt: number
}

/** Filter and range of a list of hubs. */
export interface HubQuery {
  readonly host?: string
  readonly placeId?: number
  readonly placeKind?: PlaceKind
  readonly topicSlug?: string
  readonly offset: number
  readonly limit: number
}

/** A hub that does not exist. */
export interface MissingHub {
  readonly url: string
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly checkedAt: number
}

/** Coverage of the world by the hubs of a host. */
export interface HubCoverage {
  readonly host: string
  readonly hubs: number
  /** Number of countries with a hub of their own, and of all countries in the gazetteer. */
  readonly countriesCovered: number
  readonly countries: number
  /** The first 500 hubs that the site names or its pattern implies but that do not exist, and their total number. */
  readonly missing: readonly MissingHub[]
  readonly missingCount: number
  readonly patterns: readonly LearnedPattern[]
  readonly topics: readonly { readonly slug: string; readonly label: string; readonly hubs: number }[]
}

/** Pages that lead to content about a place. */
export interface PlaceHubs {
  /** Adds hubs, and completes missing fields of existing ones. */
  write(hubs: readonly PlaceHub[], now: number): Promise<void>
  list(query: HubQuery): Promise<{ readonly total: number; readonly items: readonly StoredHub[] }>
  find(url: string): Promise<StoredHub | undefined>
  /** Lists hosts with hubs or patterns, most hubs first. */
  listHosts(limit: number): Promise<readonly { readonly host: string; readonly hubs: number }[]>
  coverage(host: string): Promise<HubCoverage>
  /** Finds the verdict on an assumed hub. */
  findVerdict(url: string): Promise<HubVerdict | undefined>
  /** Lists verdicts on assumed hubs of a host. */
  listVerdicts(host: string, state: HubVerdict['state'], limit: number): Promise<readonly HubVerdict[]>
}
