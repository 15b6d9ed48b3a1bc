import { citedUrl, findAnchor } from '../../core/retrieval/anchored-url.ts'
import { type Definition, findDefinitions } from '../../core/retrieval/definitions.ts'
import { clipText, splitLines } from '../../core/text/lines.ts'
import type { Library } from '../library.ts'
import { readRows } from '../read-rows.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources } from './choose-sources.ts'
import { type FoundPage, findPage } from './find-page.ts'

/** Which definitions are asked for. */
export interface SymbolsInput {
  /** Only those of this page. */
  readonly url?: string | undefined
  /** Id, name, name@version or start URL. */
  readonly source?: string | undefined
  /** Beginning of the name, or of what follows its last dot. The case of letters from A to Z does not matter. */
  readonly prefix?: string | undefined
  /** @default 100 */
  readonly limit?: number | undefined
}

/** Something that a page defines. */
export interface SymbolEntry {
  readonly name: string
  /** The line that states it. */
  readonly signature: string
  /** Name of the source, with its version where it has one. */
  readonly source: string
  readonly title: string
  /** Address of the page with the anchor of the section. */
  readonly url: string
  /** Line of the stored page, from 1. */
  readonly line: number
  /** The chunk that holds it, as `get_chunk` takes it. */
  readonly chunk: string
}

/** Definitions, in the order of sources, pages and lines. */
export interface SymbolList {
  readonly symbols: readonly SymbolEntry[]
  /** Whether there are more than the limit. */
  readonly hasMore: boolean
  /** How many pages were looked at before it was given up, without having seen all; null when all were seen, or enough found. */
  readonly stoppedAfter: number | null
}

/** Most pages that are looked at, and how many before others have their turn. */
const MOST_PAGES = 5000
const PAGES_AT_ONCE = 16

/** Lists what a page, a source or the whole library defines. */
export async function listSymbols(library: Library, input: SymbolsInput, signal?: AbortSignal): Promise<SymbolList> {
  const { limit = 100, prefix = '' } = input
  const symbols: SymbolEntry[] = []
  let pages = 0
  for await (const page of visitPages(library, input)) {
    signal?.throwIfAborted()
    if (pages === MOST_PAGES) return { symbols, hasMore: false, stoppedAfter: pages }
    pages++
    for (const symbol of listPageSymbols(page)) {
      if (!hasPrefix(symbol.name, prefix.toLowerCase())) continue
      if (symbols.length === limit) return { symbols, hasMore: true, stoppedAfter: null }
      symbols.push(symbol)
    }
    // A store that never waits would let nothing else happen until all is read: no signal, no other request.
    if (pages % PAGES_AT_ONCE === 0) await library.clock.sleep(0)
  }
  return { symbols, hasMore: false, stoppedAfter: null }
}

/** The pages that are looked at, in the order of sources and addresses. */
async function* visitPages(
  library: Library,
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

/** The keys of the pages of a source. */
async function* visitKeys({ store }: Library, { id }: Source): AsyncGenerator<string, void, void> {
  for await (const rows of readRows(store, id)) {
    for (const { key, hasPage } of rows) if (hasPage) yield key
  }
}

/** What a page defines: by the language it is written in, or else by what its text states. */
function listPageSymbols(page: FoundPage): SymbolEntry[] {
  const { source, chunks, sections, title, url } = page
  const label = labelOf(source)
  return listDefinitions(page).map(({ name, signature, line }) => {
    const chunk = chunks.find(({ startLine, endLine }) => startLine <= line && line <= endLine)
    const place = citedUrl({
      source: source.url,
      url,
      anchor: findAnchor(sections, line),
      // Only code has chunks that are named by what they define.
      isAsFile: typeof chunk?.symbol === 'string',
      startLine: line,
      endLine: line,
    })
    return { name, signature, source: label, title, url: place, line, chunk: `${label}/${chunk?.id ?? ''}` }
  })
}

/** Names with the line that states each, from 1. */
function listDefinitions({ markdown, chunks }: FoundPage): Pick<Definition, 'name' | 'signature' | 'line'>[] {
  const isNamed = chunks.some(({ symbol }) => symbol !== null)
  if (!isNamed) {
    // What is bold alone may be a term, or just bold.
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

/** Longest signature that is listed. */
const MAX_SIGNATURE = 400

/** What comments and decorators begin with, in the languages that code is cut by. */
const REMARK = /^\s*(?:\/[/*]|\*|#|--|@|"{3})/

/** The line of a definition, from 0, that names it: what stands before it describes it. */
function findStatement(lines: readonly string[], symbol: string): number {
  const name = symbol.slice(symbol.lastIndexOf('.') + 1)
  const line = lines.findIndex((text) => text.includes(name) && !REMARK.test(text))
  return Math.max(0, line)
}

/** Whether a name begins so, as a whole or after its last dot. */
function hasPrefix(name: string, prefix: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith(prefix) || lower.slice(lower.lastIndexOf('.') + 1).startsWith(prefix)
}
