/** How far from its start a source may reach. */
export const REACHES = ['subpages', 'hostname', 'domain'] as const

/** One of {@link REACHES}. */
export type Reach = (typeof REACHES)[number]

/** Which addresses belong to a source. */
export interface Scope {
  /** The folder of the start, its host, or its registrable domain with every host below. */
  readonly reach: Reach
  /** Globs on the path; where there are any, one has to match. */
  readonly allow: readonly string[]
  /** Globs on the path; a match refuses, whatever is allowed. */
  readonly block: readonly string[]
  /** Most links between the start and a page; null for no limit. */
  readonly maxDepth: number | null
  /** Most pages a crawl may take in; null for no limit. */
  readonly maxPages: number | null
  /** Whether addresses that can only be files of a page (images, styles, fonts, archives) are passed over. */
  readonly useDefaultExcludes: boolean
  /** Whether an address whose query says nothing is taken as it is instead of without its query. Ids of sessions go all the same. */
  readonly allowQueryUrls: boolean
  /**
   * Whether addresses without end are recognised and left out: paths that repeat themselves, calendars, ids of sessions, the same
   * content again and again.
   */
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
