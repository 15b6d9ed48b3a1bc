/** A shape of addresses that a site uses again and again: `/world/{country}`. */
export interface LearnedPattern {
  /** The path with its slots: `{section}`, `{place}`, `{country}`, `{region}`, `{city}`, `{year}`, `{month}`, `{day}`, `{slug}`, `{number}`, `{page}`. */
  readonly pattern: string
  /** What is behind such addresses, as far as it was seen. */
  readonly role: 'section' | 'place-hub' | 'topic-hub' | 'article' | 'pagination' | 'tag' | 'other'
  /** Addresses of this shape that were seen. */
  readonly seen: number
  /** How many of them were read and were what the role says, and how many were not. */
  readonly hits: number
  readonly misses: number
  /** From 0 to 1. */
  readonly confidence: number
  /** A few of them, to show. */
  readonly examples: readonly string[]
}

/** What became of an address that a plan supposed to be a hub, or that the site itself names as one. */
export interface HubVerdict {
  readonly url: string
  /** Pattern that it follows from. */
  readonly pattern: string
  readonly placeId: number | null
  readonly placeSlug: string | null
  readonly placeKind: string | null
  /** `guessed` from the pattern and the gazetteer, or `listed` by the site. */
  readonly origin: 'guessed' | 'listed'
  /** `rejected`: something is there, and it is no hub. */
  readonly state: 'confirmed' | 'missing' | 'rejected'
  readonly status: number | null
  readonly title: string | null
  readonly navLinks: number
  readonly articleLinks: number
  readonly checkedAt: number
}

/** An address of an earlier crawl, and what it was. */
export interface EarlierAddress {
  readonly url: string
  readonly kind: 'article' | 'nav' | 'other' | 'unknown'
  readonly isPage: boolean
}

/** What plans remember from one crawl to the next. Everything is by host; without anything kept, lists are empty. */
export interface PlanMemory {
  readPatterns(host: string): Promise<readonly LearnedPattern[]>
  /** Replaces what was known of a host. */
  writePatterns(host: string, patterns: readonly LearnedPattern[], now: number): Promise<void>
  readVerdicts(host: string): Promise<readonly HubVerdict[]>
  /** Adds verdicts, or replaces those of the same address. Confirmed ones become place hubs as well. */
  writeVerdicts(host: string, verdicts: readonly HubVerdict[]): Promise<void>
  /** Some addresses of the source as earlier crawls left them, at most so many, evenly from all of them. */
  sampleAddresses(sourceId: string, limit: number): Promise<readonly EarlierAddress[]>
  /** Kinds of milestones that this crawl has reached before it was interrupted. */
  readReached(crawlId: string): Promise<readonly string[]>
  writeReached(crawlId: string, kinds: readonly string[]): Promise<void>
}
