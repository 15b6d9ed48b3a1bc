import type { Chunk, Section } from '../../core/model.ts'
import { type PageLayout, planExcerpt, readLayout, writeLayout } from '../../core/retrieval/page-layout.ts'
import type { PageExcerpt, PageText, StoredChunk, StoredPage, StoreMatch } from '../../library/ports/store.ts'
import { listByKey } from '../common/batches.ts'
import { parseStored } from '../common/damage.ts'
import { LruCache } from '../common/lru-cache.ts'
import * as stored from '../common/stored-content.ts'
import type { Database } from './database/database.ts'
import { packHash, type StoredHash, unpackHash } from './database/hash.ts'
import type { Layouts } from './database/layouts.ts'
import type { createPageFacts } from './ledger/page-facts.ts'
import { createStateKey } from './ledger/state-key.ts'

/** Reads pages and chunks. */
export interface ContentReader {
  readLinks(source: number, key: string): readonly string[]
  readPage(source: number, key: string): StoredPage | undefined
  readText(source: number, key: string): PageText | undefined
  readExcerpt(source: number, key: string, chunkIndex: number): PageExcerpt | undefined
  find(source: number, text: string): string[]
  listPages(source: number): AsyncIterable<StoredPage>
  readChunk(source: number, chunkId: string): StoredChunk | undefined
  /** The number of a chunk by its full id. */
  findNumber(source: number, chunkId: string): number | undefined
  /** The chunks of matches, in order; `isUnchanged` when nothing was written since the search. */
  readMatches(
    matches: readonly Pick<StoreMatch, 'number' | 'page'>[],
    isUnchanged: boolean,
  ): (StoredChunk | undefined)[]
  count(source: number): { readonly pages: number; readonly chunks: number }
}

/** A row with the times of its last check and change. */
interface TimeColumns {
  readonly row: number
  readonly checkedAt: number
  readonly changedAt: number
}

interface TextColumns extends Omit<PageText, 'markdown' | 'sections' | 'chunks'> {
  readonly markdown: Buffer
  readonly sections: string
  readonly first: number
  readonly count: number
}

type HashedColumns = stored.HashedChunkColumns<StoredHash>

/** Size of the layout cache in characters; parsed layouts take about five times as much memory. */
const LAYOUT_CACHE_CHARS = 2 ** 18

/** Batch size for reading pages. */
const PAGES_AT_ONCE = 32

/** Creates the statements that read content. */
export function createContentReader(
  db: Database,
  layouts: Layouts,
  readFacts: ReturnType<typeof createPageFacts>,
): ContentReader {
  const selectLinks = db
    .prepare<[number, string], string>(
      'SELECT k.links FROM ledger l JOIN links k ON k.id = l.id WHERE l.source = ? AND l.key = ?',
    )
    .pluck()

  const selectPage = db.prepare<[number, string], stored.PageColumns>(
    `${stored.SELECT_PAGES} WHERE l.source = ? AND l.key = ?`,
  )
  const selectPages = db.prepare<[number, string, number], stored.PageColumns>(
    `${stored.SELECT_PAGES} WHERE l.source = ? AND l.key > ? AND l.page_hash IS NOT NULL ORDER BY l.key LIMIT ?`,
  )

  const selectKeysWithText = db
    .prepare<[number, string], string>(
      `SELECT l.key FROM ledger l JOIN pages p ON p.id = l.id
       WHERE l.source = ? AND l.page_hash IS NOT NULL AND instr(lower(p.markdown), lower(?)) > 0 ORDER BY l.key`,
    )
    .pluck()
  const countPages = db
    .prepare<[number], number>('SELECT count(*) FROM ledger WHERE source = ? AND page_hash IS NOT NULL')
    .pluck()
  const countChunks = db.prepare<[number], number>('SELECT count(*) FROM chunks WHERE source = ?').pluck()

  return {
    // All JSON that is parsed below was written by a store.
    readLinks: (source, key) => parseStored<string[]>(selectLinks.get(source, key) ?? '[]'),
    readPage: (source, key) => {
      const found = selectPage.get(source, key)
      return found === undefined ? undefined : stored.toStoredPage(found)
    },
    find: (source, text) => selectKeysWithText.all(source, text),
    listPages: (source) => listByKey((after) => selectPages.all(source, after, PAGES_AT_ONCE).map(stored.toStoredPage)),
    ...createTextReader(db, layouts),
    ...createChunkReader(db, readFacts),
    count: (source) => ({ pages: countPages.get(source) ?? 0, chunks: countChunks.get(source) ?? 0 }),
  }
}

/** Creates the statements that read the text of pages. */
function createTextReader(db: Database, layouts: Layouts): Pick<ContentReader, 'readText' | 'readExcerpt'> {
  // Text is read as bytes, which Node decodes twice as fast. SQLite extracts two fields from the metadata much faster than JavaScript can
  // parse all of it.
  const selectText = db.prepare<[number, string], TextColumns>(
    `SELECT s.uuid AS sourceId, l.key, l.url, p.title, json_extract(p.meta, '$.language') AS language,
       CAST(p.markdown AS BLOB) AS markdown,
       json_extract(p.meta, '$.sections') AS sections, p.first_chunk AS first, p.chunk_count AS count,
       l.checked_at AS checkedAt, l.changed_at AS changedAt
     FROM ledger l JOIN pages p ON p.id = l.id JOIN sources s ON s.id = l.source WHERE l.source = ? AND l.key = ?`,
  )
  const selectTimes = db.prepare<[number, string], TimeColumns>(
    'SELECT id AS row, checked_at AS checkedAt, changed_at AS changedAt FROM ledger WHERE source = ? AND key = ?',
  )
  const selectLayout = db.prepare<[number], string>('SELECT layout FROM layouts WHERE id = ?').pluck()
  const selectBytes = db
    .prepare<[number, number, number], Buffer>('SELECT substr(CAST(markdown AS BLOB), ?, ?) FROM pages WHERE id = ?')
    .pluck()
  const recentLayouts = new LruCache<PageLayout>(LAYOUT_CACHE_CHARS)
  const stateKey = createStateKey(db)
  let cachedState = ''
  /** The layout of a page. Recent layouts stay cached until something is written to the library, because parsing is slow. */
  const layoutOf = (row: number, source: number, key: string): PageLayout | undefined => {
    const currentState = stateKey()
    if (currentState !== cachedState) recentLayouts.clear()
    cachedState = currentState
    const known = recentLayouts.get(row)
    if (known !== undefined) return known
    const layoutText = selectLayout.get(row) ?? computeLayout(source, key)
    if (layoutText === undefined) return undefined
    const layout = readLayout(layoutText)
    recentLayouts.set(row, layout, layoutText.length)
    return layout
  }
  /** Computes the layout of a page that was stored before layouts existed and whose chunks are not indexed yet. */
  const computeLayout = (source: number, key: string): string | undefined => {
    const text = readText(source, key)
    return text && writeLayout(text, text.chunks)
  }
  const readText = (source: number, key: string): PageText | undefined => {
    const found = selectText.get(source, key)
    if (found === undefined) return undefined
    const { first, count, sections, markdown, ...text } = found
    return {
      ...text,
      markdown: markdown.toString(),
      sections: parseStored<Section[]>(sections),
      chunks: layouts.listSpans(first, count),
    }
  }

  return {
    readText,
    readExcerpt: (source, key, chunkIndex) => {
      const found = selectTimes.get(source, key)
      if (found === undefined) return undefined
      const { row, ...times } = found
      const layout = layoutOf(row, source, key)
      const plan = layout === undefined ? undefined : planExcerpt(layout, chunkIndex)
      if (plan === undefined) return undefined
      const { offset, length, ...excerpt } = plan
      const markdown = selectBytes.get(offset + 1, length, row)?.toString() ?? ''
      return { ...times, ...excerpt, markdown }
    },
  }
}

/** Creates the statements that read chunks. */
function createChunkReader(
  db: Database,
  readFacts: ReturnType<typeof createPageFacts>,
): Pick<ContentReader, 'findNumber' | 'readChunk' | 'readMatches'> {
  const selectExisting = db
    .prepare<[string], number>('SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?))')
    .pluck()
  const selectNumber = db
    .prepare<[number, StoredHash], number | null>('SELECT min(id) FROM chunks WHERE source = ? AND chunk_id = ?')
    .pluck()
  const selectChunk = db.prepare<[number, StoredHash], HashedColumns & stored.ChunkOrigin & Pick<Chunk, 'content'>>(
    `SELECT ${stored.ORIGIN_COLUMNS}, ${stored.CHUNK_COLUMNS}, c.content
     FROM chunks c JOIN ledger l ON l.id = c.page JOIN pages p ON p.id = c.page JOIN sources s ON s.id = c.source
     WHERE c.source = ? AND c.chunk_id = ? ORDER BY l.key LIMIT 1`,
  )
  const selectChunkIds = db
    .prepare<[number, Uint8Array, Uint8Array], StoredHash>(
      'SELECT DISTINCT chunk_id FROM chunks WHERE source = ? AND chunk_id BETWEEN ? AND ? LIMIT 2',
    )
    .pluck()
  const selectColumnsAt = db.prepare<[number], HashedColumns>(
    `SELECT ${stored.CHUNK_COLUMNS} FROM chunks c WHERE c.id = ?`,
  )
  const selectContentAt = db.prepare<[number], string>('SELECT content FROM chunks WHERE id = ?').pluck()
  const readColumns = (number: number): stored.ChunkColumns | undefined => {
    const found = selectColumnsAt.get(number)
    return found && stored.unpackChunk(found, unpackHash)
  }

  return {
    findNumber: (source, chunkId) => selectNumber.get(source, packHash(chunkId)) ?? undefined,
    readChunk: (source, chunkId) => {
      const id = findChunkId(chunkId, (from, to) => selectChunkIds.all(source, from, to))
      const found = id === undefined ? undefined : selectChunk.get(source, id)
      if (found === undefined) return undefined
      const { sourceId, url, title, content, ...columns } = found
      return stored.toStoredChunk(stored.unpackChunk(columns, unpackHash), { sourceId, url, title }, () => content)
    },
    readMatches: (matches, isUnchanged) => {
      const facts = readFacts(matches.map(({ page }) => page))
      const existing = isUnchanged
        ? undefined
        : new Set(selectExisting.all(JSON.stringify(matches.map((match) => match.number))))
      return matches.map(({ number }, i) => {
        const page = facts[i]
        if (page === undefined || existing?.has(number) === false) return undefined
        const { sourceId, url, title, key } = page
        const chunk = new stored.LazyChunk(
          key,
          () => readColumns(number),
          () => selectContentAt.get(number),
        )
        return { sourceId, url, title, chunk }
      })
    },
  }
}

/** The full id for an id or id prefix; undefined when there is none, or more than one. */
function findChunkId(
  chunkId: string,
  select: (from: Uint8Array, to: Uint8Array) => StoredHash[],
): StoredHash | undefined {
  const range = stored.parseIdPrefix(chunkId)
  if (range === undefined) return packHash(chunkId)
  const [from, to] = range
  const found = select(Buffer.from(from, 'hex'), Buffer.from(to, 'hex'))
  return found.length === 1 ? found[0] : undefined
}
