import type { HubCoverage, HubVerdict, PlaceHub, PlaceKind, StoredHub } from '../../library/ports/findings.ts'

/** Filter and range of a list of hubs. */
export interface HubQuery {
  readonly host?: string
  readonly placeId?: number
  readonly placeKind?: PlaceKind
  readonly topicSlug?: string
  readonly offset: number
  readonly limit: number
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
