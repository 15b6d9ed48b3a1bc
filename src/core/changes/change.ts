/** A page as it is compared. */
export interface ComparedPage {
  /** Path below the start of the source: the same for the same page of another version. */
  readonly path: string
  readonly markdown: string
  /** Definitions of a page of code, in order; null for a page of Markdown. */
  readonly definitions: readonly ComparedDefinition[] | null
}

/** A definition on a page of code. */
export interface ComparedDefinition {
  readonly name: string
  readonly signature: string
  /** From 1. */
  readonly line: number
}

/** Kinds of changes, those that break code first. */
export const CHANGE_KINDS = ['removed', 'renamed', 'moved', 'changed', 'deprecated', 'added', 'text'] as const

/**
 * `changed` is a symbol with another signature, `text` a section with another text. A section that is `removed`, `renamed`, `moved` or
 * `added` has no signature.
 */
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** A difference between two versions. */
export interface Change {
  readonly kind: ChangeKind
  readonly subject: 'symbol' | 'module' | 'section' | 'page'
  /** Qualified name of a symbol (`Thing.member`), or heading of a section; of the older version, unless it is new. */
  readonly name: string
  /** New name, or page that it moved to; null if both are the same. */
  readonly newName: string | null
  /** Path of the page: of the newer version, unless it is gone there. */
  readonly path: string
  /** Line on that page, from 1. */
  readonly line: number
  /** Whether `path` is a page of the older version. */
  readonly isOldPage: boolean
  /** Signatures of a symbol; null where there is none. */
  readonly before: string | null
  readonly after: string | null
  /** Names that the signature no longer contains, such as parameters and options; members that are gone with a removed symbol. */
  readonly lostNames: readonly string[]
  /** Lines of a short diff, each with `- ` or `+ ` before it; text of a deprecation. */
  readonly lines: readonly string[]
}

/** What the newer version itself says about the changes. */
export interface ReleaseNote {
  /** `migration` for a guide, `release` for the section of a version in a changelog. */
  readonly kind: 'migration' | 'release'
  readonly title: string
  /** Version of the section; null for a guide. */
  readonly version: string | null
  readonly path: string
  /** From 1. */
  readonly line: number
  /** Its lines, those about incompatible changes first. */
  readonly lines: readonly string[]
  /** Number of lines left out. */
  readonly omitted: number
}
