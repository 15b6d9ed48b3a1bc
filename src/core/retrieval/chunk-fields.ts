import type { Chunk } from '../model.ts'
import { findDefinitions } from './definitions.ts'

/** The fields by which a chunk of a library is found, with the weight of an occurrence in each. */
export const CHUNK_FIELDS = { head: 2, definitions: 2, body: 1 } as const

/** The weights of the fields, in their order. */
export const CHUNK_WEIGHTS: readonly number[] = Object.values(CHUNK_FIELDS)

/** The indexed parts of a chunk. */
export type IndexedChunk = Pick<Chunk, 'path' | 'kind' | 'headingPath' | 'symbol' | 'content'> & {
  /** Title of the page. */
  readonly title: string
}

/**
 * The text of each field of a chunk. Definitions count by their names alone: parameters and types are in the body too, and would make the
 * field of a long signature count less.
 */
export function chunkFields({
  title,
  kind,
  headingPath,
  symbol,
  content,
}: IndexedChunk): Record<keyof typeof CHUNK_FIELDS, readonly string[]> {
  const isMarkdown = kind === 'markdown' || kind === 'html'
  const names = isMarkdown ? findDefinitions(content).map(({ name }) => name) : []
  return {
    head: [title, ...headingPath.filter((heading) => fold(heading) !== fold(title))],
    definitions: symbol === null ? names : [symbol, ...names],
    body: [isMarkdown ? dropLinkTargets(content) : content],
  }
}

/** Folds a heading for comparison with the title of its page: a first heading that repeats the title must not count twice. */
function fold(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Target of a link or an image, with at most one level of parentheses inside. */
const LINK_TARGET = /\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?: "[^"]*")?\)/g

/** The visible text. Link targets say nothing about the topic, but parts of them would match queries. */
function dropLinkTargets(markdown: string): string {
  return markdown.includes('](') ? markdown.replace(LINK_TARGET, ']') : markdown
}
