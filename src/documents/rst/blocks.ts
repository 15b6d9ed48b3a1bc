import { trimBlank } from '../../core/text/lines.ts'

/* The parsed structure of reStructuredText. Inline text stays as in the source until it is written. */

export type Block =
  | { readonly type: 'heading'; readonly level: number; readonly text: string; readonly names: readonly string[] }
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'code'; readonly code: string; readonly language: string; readonly caption: string }
  /** Code in which inline markup is interpreted. */
  | { readonly type: 'parsed'; readonly text: string }
  | { readonly type: 'list'; readonly start: number | null; readonly items: readonly Blocks[] }
  | { readonly type: 'terms'; readonly items: Term[] }
  | { readonly type: 'fields'; readonly items: readonly Field[] }
  | { readonly type: 'quote'; readonly blocks: Blocks }
  | { readonly type: 'lines'; readonly lines: readonly string[] }
  | { readonly type: 'table'; readonly table: Table; readonly caption: string }
  | { readonly type: 'rule' }
  /** An admonition. */
  | { readonly type: 'box'; readonly kind: string; readonly title: string; readonly blocks: Blocks }
  /** Blocks below a title in bold that is not a heading. */
  | { readonly type: 'titled'; readonly title: string; readonly blocks: Blocks }
  | { readonly type: 'picture'; readonly address: string; readonly altText: string; readonly blocks: Blocks }
  /** The description of an API object, such as a function. */
  | { readonly type: 'object'; readonly signatures: readonly string[]; readonly blocks: Blocks }
  | { readonly type: 'note'; readonly label: string; readonly blocks: Blocks }
  | { readonly type: 'formula'; readonly tex: string }
  | { readonly type: 'target'; readonly name: string }

export type Blocks = readonly Block[]

export interface Term {
  /** The term as inline text; its classifier may follow after ` : `. */
  readonly term: string
  /** Whether the term is code, such as a command-line option. */
  readonly isCode: boolean
  readonly blocks: Blocks
}

export interface Field {
  readonly name: string
  readonly blocks: Blocks
}

export interface TableCell {
  readonly blocks: Blocks
  readonly columns: number
  readonly rows: number
}

export interface Table {
  readonly rows: readonly (readonly TableCell[])[]
  readonly headerRows: number
}

/** A code block; code that starts with a Python prompt is a session. */
export function createCode(lines: readonly string[], language: string, caption = ''): Block {
  const code = trimBlank(lines).join('\n')
  return { type: 'code', code, language: code.startsWith('>>> ') ? 'pycon' : language, caption }
}
