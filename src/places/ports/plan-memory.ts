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

/** An address of an earlier crawl, and whether it was a page. */
export interface EarlierAddress {
  readonly url: string
  readonly kind: 'article' | 'nav' | 'other' | 'unknown'
  readonly isPage: boolean
}

/** Data that planners keep from one crawl to the next, by host. Lists are empty when nothing is stored. */
export interface PlanMemory {
  readPatterns(host: string): Promise<readonly LearnedPattern[]>
  /** Replaces the stored patterns of a host. */
  writePatterns(host: string, patterns: readonly LearnedPattern[], now: number): Promise<void>
  readVerdicts(host: string): Promise<readonly HubVerdict[]>
  /** Stores verdicts; a new one replaces that of the same address. Confirmed ones also become place hubs. */
  writeVerdicts(host: string, verdicts: readonly HubVerdict[]): Promise<void>
  /** An even sample of the source's addresses from earlier crawls, up to `limit`. */
  sampleAddresses(sourceId: string, limit: number): Promise<readonly EarlierAddress[]>
  /** Kinds of milestones that this crawl reached before it was interrupted. */
  readMilestones(crawlId: string): Promise<readonly string[]>
  writeMilestones(crawlId: string, kinds: readonly string[]): Promise<void>
}
