import type { Classification } from '../../core/model.ts'

/** All kinds of places. */
export const PLACE_KINDS = ['country', 'region', 'city', 'poi', 'supranational'] as const

/** One of {@link PLACE_KINDS}. */
export type PlaceKind = (typeof PLACE_KINDS)[number]

/** A place on a page, as it is stored. */
export interface FoundPlace {
  readonly place: string
  readonly place_kind: PlaceKind
  readonly method: 'gazetteer'
  readonly source: 'title' | 'text' | 'url'
  /** Offsets in UTF-16 units of the title, the Markdown or the address. */
  readonly offset_start: number
  readonly offset_end: number
  readonly country_code: string | null
  readonly place_id: number
  readonly confidence: number
}

/** Sentiment of a text from a word list: good for comparing many pages, not for judging one. */
export interface Sentiment {
  readonly label: 'positive' | 'neutral' | 'negative'
  /** From -1 to 1. */
  readonly score: number
  /** Number of positive and negative words. */
  readonly positive: number
  readonly negative: number
}

/** The complete analysis of one page, in the form that is stored and returned. */
export interface PageAnalysis {
  readonly analysis_version: number
  /** `minimal`: too little text for another kind. */
  readonly kind: 'article' | 'nav' | 'other' | 'minimal'
  readonly title: string
  readonly author: string | null
  readonly published_at: string | null
  readonly modified_at: string | null
  readonly section: string | null
  /** BCP 47; declared by the page, or detected from its words. */
  readonly language: string | null
  readonly language_source: 'page' | 'text' | null
  readonly findings: { readonly places: readonly FoundPlace[] }
  readonly notes: readonly string[]
  readonly meta: {
    readonly wordCount: number
    readonly method: string
    /** Best effort, for overviews of many pages. */
    readonly deepAnalysis: {
      readonly findings: {
        readonly keyPhrases: readonly { readonly phrase: string; readonly frequency: number; readonly score: number }[]
        /** Null for a language without a word list. */
        readonly sentiment: Sentiment | null
      }
      readonly notes: readonly string[]
      readonly meta: { readonly version: number; readonly length: number; readonly url: string }
    }
  }
}

/** A stored classification and analysis of a page. */
export interface StoredAnalysis {
  readonly classification: Classification
  /** Null until a run has analysed the page in full. */
  readonly analysis: PageAnalysis | null
  readonly analysedAt: number | null
}

/** Result of analysing all pages of a host. */
export interface DomainAnalysis {
  readonly host: string
  readonly pages: number
  readonly articles: number
  readonly sections: number
  /** Share of articles with a date in their address or page. */
  readonly datedRatio: number
  readonly score: number
  readonly isNews: boolean
  /** Addresses whose last response was 429, within the last 15 and 60 minutes. */
  readonly rateLimited15: number
  readonly rateLimited60: number
  /** Country of the top-level domain, otherwise the country its titles name by far most often; ISO 3166-1 alpha-2. */
  readonly countryCode: string | null
  /** Languages of the pages, most frequent first. */
  readonly languages: readonly string[]
  readonly analysedAt: number
}

/** A page that mainly links to pages about a place, and perhaps about one topic there. */
export interface PlaceHub {
  readonly url: string
  readonly host: string
  readonly placeId: number
  readonly placeSlug: string
  readonly placeKind: PlaceKind
  readonly topicSlug: string | null
  readonly topicLabel: string | null
  readonly topicKind: 'section' | 'path-segment' | null
  readonly title: string | null
  readonly navLinks: number
  readonly articleLinks: number
  readonly evidence: Readonly<Record<string, unknown>>
}

/** A stored hub. */
export interface StoredHub extends Omit<PlaceHub, 'placeId' | 'placeKind' | 'placeSlug'> {
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly placeKind: PlaceKind | null
  readonly firstSeenAt: number
  readonly lastSeenAt: number
}

/** A shape of addresses that a site uses repeatedly: `/world/{country}`. */
export interface LearnedPattern {
  /**
   * The path with its slots: `{section}`, `{place}`, `{country}`, `{region}`, `{city}`, `{year}`, `{month}`, `{day}`, `{slug}`, `{number}`,
   * `{page}`.
   */
  readonly pattern: string
  /** The kind of pages at such addresses, as far as known. */
  readonly role: 'section' | 'place-hub' | 'topic-hub' | 'article' | 'pagination' | 'tag' | 'other'
  /** Number of addresses seen with this shape. */
  readonly seen: number
  /** Number of read pages that match the role, and of those that do not. */
  readonly hits: number
  readonly misses: number
  /** From 0 to 1. */
  readonly confidence: number
  /** A few example addresses. */
  readonly examples: readonly string[]
}

/** The result for an address that the planner guessed to be a hub, or that the site links to as one. */
export interface HubVerdict {
  readonly url: string
  /** Pattern that it was derived from. */
  readonly pattern: string
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly placeKind: string | null
  /** `guessed` from the pattern and the gazetteer, or `listed` by the site. */
  readonly origin: 'guessed' | 'listed'
  /** `rejected`: a page exists, but is not a hub. */
  readonly state: 'confirmed' | 'missing' | 'rejected'
  readonly status: number | null
  readonly title: string | null
  readonly navLinks: number
  readonly articleLinks: number
  readonly checkedAt: number
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

/** What analyses and plans have found about pages, addresses and hosts. */
export interface Findings {
  /** Reads the classification of a page and its analysis. */
  readAnalysis(sourceId: string, key: string): Promise<StoredAnalysis | undefined>
  /** Reads the analysis of a host. */
  readDomain(host: string): Promise<DomainAnalysis | undefined>
  findHub(url: string): Promise<StoredHub | undefined>
  /** Finds the verdict on an assumed hub. */
  findVerdict(url: string): Promise<HubVerdict | undefined>
  /** How well the hubs of a host cover its places; undefined if no plan has examined the host. */
  readCoverage(host: string): Promise<HubCoverage | undefined>
}
