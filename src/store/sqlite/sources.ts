import { PharosError } from '../../core/errors.ts'
import type { ChunkIndex } from '../../core/retrieval/index/chunk-index.ts'
import { labelOf, type Source, type SourceUpdate } from '../../library/source.ts'
import {
  changeSource,
  NEW_SOURCE_COLUMNS,
  SOURCE_COLUMNS,
  type SourceRecord,
  sourceValues,
  toSource,
  writeDeletions,
} from '../common/source-record.ts'
import type { Database } from './database/database.ts'
import { createEmptyHubRemoval } from './empty-hubs.ts'

/** Sources, and the row numbers of sources and crawls. */
export interface Sources {
  add(source: Source): void
  list(): Source[]
  update(id: string, change: SourceUpdate): void
  /** Hides a source with all its data, which `clear` then deletes. */
  hide(id: string, onlyEmpty: boolean): { readonly pages: number; readonly chunks: number }
  /** Deletes a batch of data of hidden sources; false when nothing is left. */
  clear(): boolean
  /** The numbers of the visible sources; undefined when none are hidden. */
  listVisible(): number[] | undefined
  /** The number of a source; undefined when there is none. */
  numberOf(id: string): number | undefined
  /** The number of a source; throws when the source does not exist. */
  requireNumber(id: string): number
  /** The number of a crawl, which is assigned on first use. */
  crawlNumber(source: number, crawlId: string): number
}

/** Batch size of deletions, which limits how long other writers wait. */
const ROWS_AT_ONCE = 500

/** Creates the source queries. */
export function createSources(db: Database, library: string, index: Pick<ChunkIndex, 'remove'>): Sources {
  const insert = db.prepare<unknown[]>(`INSERT INTO sources (${NEW_SOURCE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const selectAll = db.prepare<[], SourceRecord>(
    `SELECT ${SOURCE_COLUMNS} FROM sources WHERE is_removed = 0 ORDER BY created_at, id`,
  )
  const selectOne = db.prepare<[string], SourceRecord>(
    `SELECT ${SOURCE_COLUMNS} FROM sources WHERE uuid = ? AND is_removed = 0`,
  )
  const selectDuplicate = db.prepare<[string, string | null, string]>(
    'SELECT 1 FROM sources WHERE name = ? AND version IS ? AND uuid <> ?',
  )
  const updateOne = db.prepare<[string, string | null, string, string, string | null, string]>(
    'UPDATE sources SET name = ?, version = ?, site_url = ?, settings = ?, refresh = ? WHERE uuid = ?',
  )
  const selectNumber = db.prepare<[string], number>('SELECT id FROM sources WHERE uuid = ? AND is_removed = 0').pluck()
  const selectCrawl = db.prepare<[string], number>('SELECT id FROM crawl_ids WHERE uuid = ?').pluck()
  const insertCrawl = db.prepare<[string, number]>('INSERT INTO crawl_ids (uuid, source) VALUES (?, ?)')
  const selectHidden = db.prepare<[], number>('SELECT id FROM sources WHERE is_removed = 1 LIMIT 1').pluck()
  const selectVisible = db.prepare<[], number>('SELECT id FROM sources WHERE is_removed = 0').pluck()

  const refuseDuplicate = (name: string, version: string | null, id: string): void => {
    if (selectDuplicate.get(name, version, id) !== undefined) {
      throw new PharosError('SOURCE_EXISTS', { source: labelOf({ name, version }) })
    }
  }
  const numberOf = (id: string): number | undefined => selectNumber.get(id)

  const add = db.transaction((source: Source) => {
    refuseDuplicate(source.name, source.version, '')
    insert.run(...sourceValues(source))
  })
  const update = db.transaction((id: string, change: SourceUpdate) => {
    const found = selectOne.get(id)
    if (found === undefined) return
    const { name, version, siteUrl, settings, refresh } = changeSource(found, change)
    refuseDuplicate(name, version, id)
    updateOne.run(name, version, siteUrl, settings, refresh, id)
  })
  const hideSource = createHiding(db)

  return {
    add,
    list: () => selectAll.all().map(toSource),
    update,
    hide: (id, onlyEmpty) => {
      const source = numberOf(id)
      return source === undefined ? { pages: 0, chunks: 0 } : hideSource(source, onlyEmpty)
    },
    clear: createClearing(db, index),
    listVisible: () => (selectHidden.get() === undefined ? undefined : selectVisible.all()),
    numberOf,
    requireNumber: (id) => {
      const source = numberOf(id)
      if (source === undefined) throw new PharosError('SOURCE_UNKNOWN', { source: id, library })
      return source
    },
    crawlNumber: (source, crawlId) =>
      selectCrawl.get(crawlId) ?? Number(insertCrawl.run(crawlId, source).lastInsertRowid),
  }
}

/** Creates the function that hides a source and counts its content. */
function createHiding(db: Database): (source: number, onlyEmpty: boolean) => { pages: number; chunks: number } {
  const countPages = db
    .prepare<[number], number>('SELECT count(*) FROM ledger WHERE source = ? AND page_hash IS NOT NULL')
    .pluck()
  const countChunks = db.prepare<[number], number>('SELECT count(*) FROM chunks WHERE source = ?').pluck()
  // Renames the source, so that its name and id can be used again at once.
  const hideOne = db.prepare<[number]>(
    `UPDATE sources SET is_removed = 1, name = 'removed ' || id, version = NULL, uuid = 'removed ' || id WHERE id = ?`,
  )
  const hideCrawls = db.prepare<[number]>(`UPDATE crawl_ids SET uuid = 'removed ' || id WHERE source = ?`)
  const forgetReached = db.prepare<[number]>(
    'DELETE FROM reached_milestones WHERE crawl_id IN (SELECT uuid FROM crawl_ids WHERE source = ?)',
  )
  return (source, onlyEmpty) => {
    const removed = { pages: countPages.get(source) ?? 0, chunks: countChunks.get(source) ?? 0 }
    if (onlyEmpty && removed.pages > 0) return { pages: 0, chunks: 0 }
    hideOne.run(source)
    forgetReached.run(source)
    hideCrawls.run(source)
    return removed
  }
}

/** Creates the function that deletes a batch of data of hidden sources. */
function createClearing(db: Database, index: Pick<ChunkIndex, 'remove'>): () => boolean {
  // Sources of an unfinished copy are hidden too, but must stay.
  const selectRemoved = db
    .prepare<[], number>(
      `SELECT id FROM sources WHERE is_removed = 1 AND name <> 'arriving ' || id ORDER BY id LIMIT 1`,
    )
    .pluck()
  const selectRows = db.prepare<[number, number], { id: number; first: number; count: number }>(
    `SELECT l.id, ifnull(p.first_chunk, 0) AS first, ifnull(p.chunk_count, 0) AS count
     FROM ledger l LEFT JOIN pages p ON p.id = l.id WHERE l.source = ? LIMIT ?`,
  )
  const deleteFrom = (table: string) =>
    db.prepare<[string]>(`DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`)
  const deleteChunks = db.prepare<[number, number]>('DELETE FROM chunks WHERE id BETWEEN ? AND ?')
  const removeEmptyHub = createEmptyHubRemoval(db)
  const selectPageUrls = db
    .prepare<[string], string>(
      'SELECT l.url FROM json_each(?) e JOIN pages p ON p.id = e.value JOIN ledger l ON l.id = e.value',
    )
    .pluck()
  // Children are deleted before their parents because of foreign keys.
  const deleteRows = [deleteFrom('pages'), deleteFrom('links'), deleteFrom('ledger')]
  const deleteAliases = db.prepare<[number, number]>(
    `DELETE FROM url_aliases WHERE (source, url, alias_url) IN (
       SELECT source, url, alias_url FROM url_aliases WHERE source = ? LIMIT ?)`,
  )
  const deleteRest = [
    ...writeDeletions('?', 's.is_removed = 0'),
    'DELETE FROM crawls WHERE source = ?',
    'DELETE FROM crawl_ids WHERE source = ?',
    'DELETE FROM sources WHERE id = ?',
  ].map((sql) => db.prepare<[number]>(sql))
  return () => {
    const source = selectRemoved.get()
    if (source === undefined) return false
    const cleared: number[] = []
    let chunks = 0
    for (const { id, first, count } of selectRows.all(source, ROWS_AT_ONCE)) {
      if (chunks >= ROWS_AT_ONCE) break
      chunks += count
      cleared.push(id)
      if (count === 0) continue
      index.remove(first, count)
      deleteChunks.run(first, first + count - 1)
    }
    if (cleared.length > 0) {
      const rows = JSON.stringify(cleared)
      const urls = selectPageUrls.all(rows)
      for (const removal of deleteRows) removal.run(rows)
      for (const url of urls) removeEmptyHub(url)
    }
    if (cleared.length > 0 || deleteAliases.run(source, ROWS_AT_ONCE).changes > 0) return true
    for (const removal of deleteRest) removal.run(source)
    return true
  }
}
