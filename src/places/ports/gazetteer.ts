import type { PlaceKind } from '../../library/ports/findings.ts'
import type { Place, PlaceName, PlaceRecord } from '../analysis/place.ts'

/** A data set of places. */
export interface GazetteerSource {
  /** Short, stable name, such as `geonames-cities`. */
  readonly name: string
  readonly version: string
  readonly license: string
  /** Attribution text that the license requires. */
  readonly attribution: string
  readonly url: string | null
}

/** A stored data set. */
export interface StoredGazetteerSource extends GazetteerSource {
  readonly importedAt: number
  readonly places: number
}

/** Counts of a gazetteer. */
export interface GazetteerSummary {
  readonly countries: number
  readonly regions: number
  readonly cities: number
  /** Places of other kinds. */
  readonly others: number
  readonly names: number
  readonly sources: readonly StoredGazetteerSource[]
  /** Changes with every import; empty without data. */
  readonly revision: string
}

/** Result of an import. */
export interface GazetteerImportResult {
  readonly places: number
  readonly names: number
  readonly added: number
  readonly changed: number
  /** Number of rejected records, and the reasons for the first of them. */
  readonly refused: number
  readonly problems: readonly string[]
}

/** A place for export, with the data set that first contained it. */
export interface ExportedPlace extends PlaceRecord {
  readonly source: string
}

/** A place for import, with its data set. */
export interface SourcedPlace {
  readonly record: PlaceRecord
  readonly source: GazetteerSource
}

/** Filter, order and range of a list of places. */
export interface PlaceQuery {
  /** Prefix of a name or of any word in it. */
  readonly text?: string
  readonly kind?: PlaceKind
  readonly countryCode?: string
  readonly adm1Code?: string
  readonly minPopulation?: number
  /** @default population */
  readonly sort?: 'name' | 'population' | 'country' | 'kind'
  /** @default descending for population, ascending for the others */
  readonly order?: 'ascending' | 'descending'
  readonly offset: number
  readonly limit: number
}

/** Id and name of a place. */
export interface NamedPlace {
  readonly id: number
  readonly name: string
}

/** A place in a list. */
export interface ListedPlace extends Place {
  /** The name that matched, if it is not the main name. */
  readonly matched: string | null
  /** The region that contains the place. */
  readonly region: NamedPlace | null
}

/** A place with its names, ids, parents and children. */
export interface PlaceDetails {
  readonly place: Place
  readonly names: readonly PlaceName[]
  readonly externalIds: readonly { readonly source: string; readonly id: string }[]
  readonly parents: readonly Place[]
  /** The largest children, at most 200. */
  readonly children: readonly Place[]
  readonly childCount: number
}

/** A page that mentions a place. */
export interface PlaceArticle {
  readonly url: string
  readonly title: string
  /** Most significant part with a mention: title, address or text. */
  readonly source: 'title' | 'text' | 'url'
  /** Number of mentions. */
  readonly mentions: number
  readonly firstSeenAt: number
}

/** An inconsistency or suspicious entry in the gazetteer. */
export interface GazetteerIssue {
  readonly kind: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly count: number
  /** Ids of places. */
  readonly examples: readonly number[]
}

/** Number of pages and hubs that mention a place, for a map. */
export interface PlaceMention {
  readonly place: Place
  readonly pages: number
  readonly hubs: number
}

/** Places of the world, their names and hierarchy. Without data, every method returns an empty result. */
export interface Gazetteer {
  /** Imports records in batches, one transaction each; the name index is built at the end. */
  importPlaces(
    source: GazetteerSource,
    records: Iterable<PlaceRecord> | AsyncIterable<PlaceRecord>,
    now: number,
    signal?: AbortSignal,
  ): Promise<GazetteerImportResult>
  /** Imports places from several data sets. */
  importMixed(
    places: Iterable<SourcedPlace> | AsyncIterable<SourcedPlace>,
    now: number,
    signal?: AbortSignal,
  ): Promise<GazetteerImportResult>
  /** Rebuilds the name index from stored places, for example if its format cannot be read. */
  indexNames(): Promise<void>
  summary(): Promise<GazetteerSummary>
  /** Changes with every import; empty without data. Cheap to read. */
  revision(): Promise<string>
  /** Lists places; without an explicit sort order, exact matches of the text come first. */
  listPlaces(query: PlaceQuery): Promise<{ readonly total: number; readonly items: readonly ListedPlace[] }>
  /** Reads the names of places by id. */
  listNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
  findPlace(id: number): Promise<PlaceDetails | undefined>
  /** Finds places by name: cities first, then regions, then others, each sorted by population. */
  resolve(name: string, limit: number): Promise<readonly Place[]>
  /** Lists pages that mention a place: in the title first, then in the address; within these, newest first. */
  listArticles(placeId: number, limit: number): Promise<readonly PlaceArticle[]>
  /** Lists places that pages are about, most pages first. */
  listMentions(limit: number, host?: string): Promise<readonly PlaceMention[]>
  /** Iterates over all places as records, sorted by id. */
  exportPlaces(): AsyncIterable<ExportedPlace>
  /** Lists violations of the gazetteer's rules. */
  validate(): Promise<readonly GazetteerIssue[]>
  /** Lists entries that are valid but look wrong. */
  inspect(): Promise<readonly GazetteerIssue[]>
  /** Reads the name index for matching; undefined without names. */
  readIndex(): Promise<Uint8Array | undefined>
}
