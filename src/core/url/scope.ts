/** How far from its start a source may reach. */
export const REACHES = ['subpages', 'hostname', 'domain'] as const

/** One of {@link REACHES}. */
export type Reach = (typeof REACHES)[number]

/** The addresses that belong to a source. */
export interface Scope {
  /** The folder of the start, its host, or its registrable domain with every host below. */
  readonly reach: Reach
  /** Globs on the path; if there are any, one must match. A glob with a leading `!` belongs to `block`. */
  readonly allow: readonly string[]
  /** Globs on the path; a match refuses, even if `allow` matches too. */
  readonly block: readonly string[]
  /** Maximum number of links between the start and a page; null for no limit. */
  readonly maxDepth: number | null
  /** Page limit of a crawl; null for no limit. */
  readonly maxPages: number | null
  /** Whether addresses that can only be assets (images, styles, fonts, archives) are skipped. */
  readonly useDefaultExcludes: boolean
  /** Whether a superfluous query is kept in an address. Session ids are removed unless `trapGuards` is off. */
  readonly allowQueryUrls: boolean
  /** Whether endless addresses are recognized and skipped: repeating paths, calendars, session ids, repeated content. */
  readonly trapGuards: boolean
}

/** The scope of a source without scope settings. */
export const DEFAULT_SCOPE: Scope = {
  reach: 'subpages',
  allow: [],
  block: [],
  maxDepth: null,
  maxPages: null,
  useDefaultExcludes: true,
  allowQueryUrls: false,
  trapGuards: true,
}
