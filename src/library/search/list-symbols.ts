import { findAnchor, writeCitationUrl } from '../../core/retrieval/anchored-url.ts'
import { type Definition, findDefinitions } from '../../core/retrieval/definitions.ts'
import { clipText, splitLines } from '../../core/text/lines.ts'
import { readRows } from '../copy/read-rows.ts'
import type { Library, SourceLookup } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources } from '../sources/choose-sources.ts'
import { type FoundPage, findPage } from './find-page.ts'

/** Filter for definitions. */
export interface SymbolsInput {
  /** Only definitions on this page. */
  readonly url?: string | undefined
  /** Id, name, name@version or start address. */
  readonly source?: string | undefined
  /** Prefix of the name, or of its part after the last dot. ASCII letters are compared case-insensitively. */
  readonly prefix?: string | undefined
  /** @default 100 */
  readonly limit?: number | undefined
}

/** A definition on a page. */
export interface SymbolEntry {
  readonly name: string
  /** The line that states the definition. */
  readonly signature: string
  /** Name of the source, with its version if there is one. */
  readonly source: string
  readonly title: string
  /** Address of the page with the anchor of the section. */
  readonly url: string
  /** Line in the stored page, from 1. */
  readonly line: number
  /** Name of the chunk that contains it, as `get_chunk` accepts it. */
  readonly chunk: string
}

/** Definitions sorted by source, page and line. */
export interface SymbolList {
  readonly symbols: readonly SymbolEntry[]
  /** Whether there are more than `limit`. */
  readonly hasMore: boolean
  /** Number of pages read before giving up; null if all were read or enough was found. */
  readonly stoppedAfter: number | null
}

/** Maximum number of pages read. */
const MAX_PAGES = 5000
/** Number of pages read before yielding to other work. */
const PAGES_AT_ONCE = 16

/** Lists the definitions of a page, a source or the whole library. */
export async function listSymbols(
  library: SourceLookup,
  input: SymbolsInput,
  signal?: AbortSignal,
): Promise<SymbolList> {
  const { limit = 100, prefix = '' } = input
  const symbols: SymbolEntry[] = []
  let pages = 0
  for await (const page of visitPages(library, input)) {
    signal?.throwIfAborted()
    if (pages === MAX_PAGES) return { symbols, hasMore: false, stoppedAfter: pages }
    pages++
    for (const symbol of listPageSymbols(page)) {
      if (!hasPrefix(symbol.name, prefix.toLowerCase())) continue
      if (symbols.length === limit) return { symbols, hasMore: true, stoppedAfter: null }
      symbols.push(symbol)
    }
    // Yields, because a store in memory never waits and would block signals and other requests until the end.
    if (pages % PAGES_AT_ONCE === 0) await library.clock.sleep(0)
  }
  return { symbols, hasMore: false, stoppedAfter: null }
}

/** Iterates over the pages to read, sorted by source and address. */
async function* visitPages(
  library: SourceLookup,
  { url, source, prefix = '' }: SymbolsInput,
): AsyncGenerator<FoundPage, void, void> {
  if (url !== undefined) {
    yield await findPage(library, { url, source })
    return
  }
  const { sources } = await chooseSources(library, source === undefined ? {} : { sources: [source] })
  for (const one of sources) {
    const keys = prefix === '' ? visitKeys(library, one) : await library.store.findPages(one.id, prefix)
    for await (const key of keys) {
      const page = await library.store.readPageText(one.id, key)
      if (page !== undefined) yield { ...page, source: one }
    }
  }
}

/** Iterates over the keys of the pages of a source. */
async function* visitKeys({ store }: Pick<Library, 'store'>, { id }: Source): AsyncGenerator<string, void, void> {
  for await (const rows of readRows(store, id)) {
    for (const { key, hasPage } of rows) if (hasPage) yield key
  }
}

/** Lists the definitions of a page: by chunk symbols for code, otherwise from its text. */
function listPageSymbols(page: FoundPage): SymbolEntry[] {
  const { source, chunks, sections, title, url } = page
  const label = labelOf(source)
  return listDefinitions(page).map(({ name, signature, line }) => {
    const chunk = chunks.find(({ startLine, endLine }) => startLine <= line && line <= endLine)
    const citationUrl = writeCitationUrl({
      source: source.url,
      url,
      anchor: findAnchor(sections, line),
      // Only chunks of code have symbols.
      isVerbatimFile: typeof chunk?.symbol === 'string',
      startLine: line,
      endLine: line,
    })
    return { name, signature, source: label, title, url: citationUrl, line, chunk: `${label}/${chunk?.id ?? ''}` }
  })
}

/** Lists the definitions of a page; lines count from 1. */
export function listDefinitions({
  markdown,
  chunks,
}: Pick<FoundPage, 'markdown' | 'chunks'>): Pick<Definition, 'name' | 'signature' | 'line'>[] {
  const hasSymbols = chunks.some(({ symbol }) => symbol !== null)
  if (!hasSymbols) {
    // Bold text without code may be a term or mere emphasis.
    const found = findDefinitions(markdown).filter(({ isCode }) => isCode)
    return found.map((one) => ({ ...one, line: one.line + 1 }))
  }
  const lines = splitLines(markdown)
  return chunks.flatMap(({ symbol, startLine, endLine }) => {
    if (symbol === null) return []
    const line = startLine + findStatement(lines.slice(startLine - 1, endLine), symbol)
    return [{ name: symbol, signature: clipText((lines[line - 1] ?? '').trim(), MAX_SIGNATURE), line }]
  })
}

/** Maximum length of a signature. */
const MAX_SIGNATURE = 400

/** Starts of comments and decorators in the supported languages. */
const COMMENT_OR_DECORATOR = /^\s*(?:\/[/*]|\*|#|--|@|"{3})/

/** Returns the line that names a definition, from 0; lines before it are comments or decorators. */
function findStatement(lines: readonly string[], symbol: string): number {
  const name = symbol.slice(symbol.lastIndexOf('.') + 1)
  const line = lines.findIndex((text) => text.includes(name) && !COMMENT_OR_DECORATOR.test(text))
  return Math.max(0, line)
}

/** Whether a name, or its part after the last dot, starts with a prefix. */
function hasPrefix(name: string, prefix: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith(prefix) || lower.slice(lower.lastIndexOf('.') + 1).startsWith(prefix)
}
