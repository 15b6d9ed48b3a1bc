import { PharosError } from '../../core/errors.ts'
import type { Source } from '../../library/source.ts'
import type { Database } from './database.ts'

/** Sources, and the small numbers that stand for them and for crawls inside the file. */
export interface Sources {
  add(source: Source): void
  list(): Source[]
  update(id: string, change: Partial<Pick<Source, 'name' | 'version' | 'siteUrl'>>): void
  remove(id: string): { readonly pages: number; readonly chunks: number }
  /** The number of a source; undefined when there is none. */
  numberOf(id: string): number | undefined
  /** The number of a source that is written to: it has to be there. */
  requireNumber(id: string): number
  /** The number of a crawl, which is given when the crawl is first heard of. */
  crawlNumber(source: number, crawlId: string): number
}

interface SourceRecord {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly version: string | null
  readonly url: string
  readonly siteUrl: string
  readonly scope: string
  readonly settings: string
  readonly createdAt: number
}

/** Prepares what is asked about sources. */
export function createSources(db: Database, library: string): Sources {
  const insert = db.prepare<[string, string, string | null, string, string, string, string, number]>(
    `INSERT INTO sources (uuid, name, version, url, site_url, scope, settings, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const columns = 'id, uuid, name, version, url, site_url AS siteUrl, scope, settings, created_at AS createdAt'
  const selectAll = db.prepare<[], SourceRecord>(`SELECT ${columns} FROM sources ORDER BY created_at, id`)
  const selectOne = db.prepare<[string], SourceRecord>(`SELECT ${columns} FROM sources WHERE uuid = ?`)
  const selectSame = db.prepare<[string, string | null, string]>(
    'SELECT 1 FROM sources WHERE name = ? AND version IS ? AND uuid <> ?',
  )
  const updateOne = db.prepare<[string, string | null, string, string]>(
    'UPDATE sources SET name = ?, version = ?, site_url = ? WHERE uuid = ?',
  )
  const selectNumber = db.prepare<[string], number>('SELECT id FROM sources WHERE uuid = ?').pluck()
  const selectCrawl = db.prepare<[string], number>('SELECT id FROM crawl_ids WHERE uuid = ?').pluck()
  const insertCrawl = db.prepare<[string, number]>('INSERT INTO crawl_ids (uuid, source) VALUES (?, ?)')

  // Children before parents, so that no reference is checked in vain.
  const countPages = db
    .prepare<[number], number>('SELECT count(*) FROM ledger WHERE source = ? AND page_hash IS NOT NULL')
    .pluck()
  const removals = [
    'DELETE FROM chunk_index WHERE rowid IN (SELECT id FROM chunks WHERE source = ?)',
    'DELETE FROM chunks WHERE source = ?',
    'DELETE FROM pages WHERE id IN (SELECT id FROM ledger WHERE source = ? AND page_hash IS NOT NULL)',
    'DELETE FROM links WHERE id IN (SELECT id FROM ledger WHERE source = ?)',
    'DELETE FROM ledger WHERE source = ?',
    'DELETE FROM ledger_counts WHERE source = ?',
    'DELETE FROM url_aliases WHERE source = ?',
    'DELETE FROM crawl_jobs WHERE source = ?',
    'DELETE FROM crawl_ids WHERE source = ?',
    'DELETE FROM sources WHERE id = ?',
  ].map((sql) => db.prepare<[number]>(sql))

  const refuseSame = (name: string, version: string | null, id: string): void => {
    if (selectSame.get(name, version, id) !== undefined) {
      throw new PharosError('SOURCE_EXISTS', { source: labelOf(name, version) })
    }
  }
  const numberOf = (id: string): number | undefined => selectNumber.get(id)

  const add = db.transaction((source: Source) => {
    const { id, name, version, url, siteUrl, scope, settings, createdAt } = source
    refuseSame(name, version, '')
    insert.run(id, name, version, url, siteUrl, JSON.stringify(scope), JSON.stringify(settings), createdAt)
  })
  const update = db.transaction((id: string, change: Partial<Pick<Source, 'name' | 'version' | 'siteUrl'>>) => {
    const found = selectOne.get(id)
    if (found === undefined) return
    const { name = found.name, version = found.version, siteUrl = found.siteUrl } = change
    refuseSame(name, version, id)
    updateOne.run(name, version, siteUrl, id)
  })
  const remove = db.transaction((id: string) => {
    const source = numberOf(id)
    if (source === undefined) return { pages: 0, chunks: 0 }
    const pages = countPages.get(source) ?? 0
    const [, chunks = 0] = removals.map((removal) => removal.run(source).changes)
    return { pages, chunks }
  })

  return {
    add: add.immediate,
    list: () => selectAll.all().map(toSource),
    update: update.immediate,
    remove: remove.immediate,
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

/** `name@version`, as people write it. */
export function labelOf(name: string, version: string | null): string {
  return version === null ? name : `${name}@${version}`
}

function toSource(found: SourceRecord): Source {
  const { uuid, name, version, url, siteUrl, createdAt } = found
  // Both were written by this file.
  const scope = JSON.parse(found.scope) as Source['scope']
  const settings = JSON.parse(found.settings) as Source['settings']
  return { id: uuid, name, version, url, siteUrl, scope, settings, createdAt }
}
