/*
 * The blocks of Markdown. `text` and cells already are Markdown, with inline markup and escapes. Two escapes come later: pipes in cells
 * when the table is laid out, and dollars when their lines are known.
 */

export interface Heading {
  readonly type: 'heading'
  readonly level: number
  readonly text: string
  /** The words of the heading without any markup. */
  readonly title: string
  readonly anchor: string | null
}

export interface List {
  readonly type: 'list'
  /** Numbers of the items; empty for bullets. */
  readonly numbers: readonly number[]
  readonly items: readonly (readonly Block[])[]
}

export interface Table {
  readonly type: 'table'
  /** Names of the columns; all are '' when the table has no header. */
  readonly header: readonly string[]
  /** A row may have fewer cells than the header. */
  readonly rows: readonly (readonly string[])[]
}

/** Fields that any block may have. */
export interface Marked {
  /** Fragments that apply from this block on. */
  readonly marks?: readonly string[]
}

export type Block = Marked & Content

type Content =
  | Heading
  | List
  | Table
  /** Lines are separated by hard breaks. */
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'code'; readonly lang: string; readonly text: string }
  /** `alert` is the kind of an admonition, '' for a plain quotation. */
  | { readonly type: 'quote'; readonly alert: string; readonly blocks: readonly Block[] }
  | { readonly type: 'footnote'; readonly label: string; readonly blocks: readonly Block[] }
  | { readonly type: 'rule' }
