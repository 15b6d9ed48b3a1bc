import type { Place, PlaceKind, PlaceName, PlaceRecord } from '../analysis/place.ts'

/** Where places come from. */
export interface GazetteerSource {
  /** Short and the same each time: `geonames-cities`. */
  readonly name: string
  readonly version: string
  readonly license: string
  /** Who is to be named, and how. */
  readonly attribution: string
  readonly url: string | null
}

/** A source as it is kept. */
export interface KeptSource extends GazetteerSource {
  readonly importedAt: number
  readonly places: number
}

/** How much a gazetteer holds. */
export interface GazetteerSummary {
  readonly countries: number
  readonly regions: number
  readonly cities: number
  /** Of the other kinds. */
  readonly others: number
  readonly names: number
  readonly sources: readonly KeptSource[]
  /** Changes with everything that is imported; empty while there is nothing. */
  readonly revision: string
}

/** What became of an import. */
export interface ImportResult {
  readonly places: number
  readonly names: number
  readonly added: number
  readonly changed: number
  /** Records that were left out, and why: the first of them. */
  readonly refused: number
  readonly problems: readonly string[]
}

/** A place as it is exported: with the source that told of it first. */
export interface ExportedPlace extends PlaceRecord {
  readonly source: string
}

/** A place as it is imported: with where it is from. */
export interface SourcedPlace {
  readonly record: PlaceRecord
  readonly source: GazetteerSource
}

/** Which places are asked for. */
export interface PlaceQuery {
  /** Beginning of a name, or any of its words. */
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

/** What a place is called. */
export interface NamedPlace {
  readonly id: number
  readonly name: string
}

/** A place in a list. */
export interface ListedPlace extends Place {
  /** The name that it was found by, where that is another one. */
  readonly matched: string | null
  /** What it lies in. */
  readonly region: NamedPlace | null
}

/** A place with everything around it. */
export interface PlaceDetails {
  readonly place: Place
  readonly names: readonly PlaceName[]
  readonly externalIds: readonly { readonly source: string; readonly id: string }[]
  readonly parents: readonly Place[]
  /** The largest ones, at most 200. */
  readonly children: readonly Place[]
  readonly childCount: number
}

/** A page on which a place was found. */
export interface PlaceArticle {
  readonly url: string
  readonly title: string
  /** The part of it that tells most: its title, its address, or only its text. */
  readonly source: 'title' | 'text' | 'url'
  /** How often. */
  readonly mentions: number
  readonly firstSeenAt: number
}

/** Something in the gazetteer that is against its own rules, or is worth a look. */
export interface GazetteerIssue {
  readonly kind: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly count: number
  /** Ids of places. */
  readonly examples: readonly number[]
}

/** How often places of all pages were found: what a map is drawn from. */
export interface PlaceMention {
  readonly place: Place
  readonly pages: number
  readonly hubs: number
}

/** Places of the world, their names and how they lie in each other. Without any data everything answers with nothing. */
export interface Gazetteer {
  /** Takes records in, in one transaction for each so many; what a name needs to be found is made at the end. */
  importPlaces(
    source: GazetteerSource,
    records: Iterable<PlaceRecord> | AsyncIterable<PlaceRecord>,
    now: number,
    signal?: AbortSignal,
  ): Promise<ImportResult>
  /** The same for places of several sources. */
  importMixed(
    places: Iterable<SourcedPlace> | AsyncIterable<SourcedPlace>,
    now: number,
    signal?: AbortSignal,
  ): Promise<ImportResult>
  /** Makes what a name needs to be found anew, from what is kept: for a form that cannot be read. */
  indexNames(): Promise<void>
  summary(): Promise<GazetteerSummary>
  /** Changes with everything that is imported; empty while there is nothing. Quick to ask. */
  revision(): Promise<string>
  /** Without an order of its own, what is called just as the text comes first. */
  listPlaces(query: PlaceQuery): Promise<{ readonly total: number; readonly items: readonly ListedPlace[] }>
  /** What places are called, by their ids. */
  listNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>
  findPlace(id: number): Promise<PlaceDetails | undefined>
  /** Places of a name: cities first, then regions, then the others; each by population. */
  resolve(name: string, limit: number): Promise<readonly Place[]>
  /** Pages that name a place: in their title first, then in their address; the newest of these first. */
  listArticles(placeId: number, limit: number): Promise<readonly PlaceArticle[]>
  /** Places that pages are about, those of most pages first. */
  listMentions(limit: number, host?: string): Promise<readonly PlaceMention[]>
  /** Every place as a record, in the order of ids. */
  exportPlaces(): AsyncIterable<ExportedPlace>
  /** Breaks of its own rules. */
  validate(): Promise<readonly GazetteerIssue[]>
  /** What is allowed and looks wrong all the same. */
  inspect(): Promise<readonly GazetteerIssue[]>
  /** The names in the form that matching reads; undefined while there are none. */
  readIndex(): Promise<Uint8Array | undefined>
}
