import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect } from 'vitest'
import { CHUNK_FIELDS } from '../../src/core/retrieval/chunk-fields.ts'
import { readEntryTable } from '../../src/core/search/segments/entry-table.ts'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { isPostgres } from '../../src/core/url/postgres-address.ts'
import type { Scope } from '../../src/core/url/scope.ts'
import type { LedgerRow } from '../../src/crawl/ledger.ts'
import { addSource, type SourceInput } from '../../src/library/crawl/add-source.ts'
import type { CrawlInput } from '../../src/library/crawl/crawl-source.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import type { Source } from '../../src/library/source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { locateLibrary } from '../library-location.ts'
import { readStoredPages, type StoredPage } from '../postgres/stored-pages.ts'
import { type Crawled, closeWithTest, openTestLibrary, openTestSite, runCrawl, shareFixture } from './crawl.ts'
import { withFastClock } from './fast-clock.ts'
import type { Answer, Site, SiteOptions } from './site.ts'

/** A site with a library in a file, so that stored rows can be compared one by one. */
export interface FileFixture {
  readonly site: Site
  readonly library: OpenLibrary
  readonly path: string
  readonly source: Source
  crawl(input?: Partial<CrawlInput>, signal?: AbortSignal): Promise<Crawled>
  /** Reads the current content of the library. */
  readContent(): Promise<SourceContent>
  /** Paths whose chunks match a query. */
  search(query: string): Promise<string[]>
}

/** Everything a library holds of a source that a crawl could change. */
export interface SourceContent {
  /** By path. */
  readonly rows: ReadonlyMap<string, LedgerRow>
  /** By path: Markdown, links, and chunks with their row ids. */
  readonly pages: ReadonlyMap<string, Omit<StoredPage, 'key'>>
}

/** Creates a path for a library that is deleted after the test. */
export async function createLibraryPath(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-sites-'))
  closeWithTest({ close: async () => rmSync(folder, { recursive: true, force: true }) })
  return locateLibrary(join(folder, 'library.db'))
}

/** Input for a file fixture. */
type FileFixtureInput = Partial<Omit<SourceInput, 'url'>> & {
  readonly start?: string
  readonly siteOptions?: SiteOptions
}

/** Sets up a site, a library in a file and a source that starts at `start`. */
export async function createFileFixture(
  pages: Readonly<Record<string, Answer>>,
  input: FileFixtureInput = {},
): Promise<FileFixture> {
  const { start = '/', siteOptions, ...sourceInput } = input
  const site = await openTestSite(pages, siteOptions)
  return createFixtureOn(site, start, sourceInput)
}

/** Sets up a library in a file and a source on an existing site. */
export async function createFixtureOn(
  site: Site,
  start = '/',
  sourceInput: Partial<Omit<SourceInput, 'url'>> = {},
  limits: Partial<OpenLibrary['limits']> = {},
): Promise<FileFixture> {
  const path = await createLibraryPath()
  const opened = withFastClock(await openTestLibrary(path))
  const library = { ...opened, limits: { ...opened.limits, ...limits } }
  const source = await addSource(library, { url: `${site.origin}${start}`, ...sourceInput })
  return toFixture(site, library, path, source)
}

/**
 * Crawls a site once for all tests of a file. Each test continues from there with the original pages and a copy of the library. The clock
 * of the copy continues from the time at which the copy was made.
 */
export function shareCrawledFixture(
  pages: Readonly<Record<string, Answer>>,
  input: FileFixtureInput = {},
): () => Promise<FileFixture> {
  const crawlOnce = shareFixture(async () => {
    const fixture = await createFileFixture(pages, input)
    await fixture.crawl()
    return { ...fixture, image: readImage(fixture.path), copiedAt: fixture.library.clock.now() }
  })
  return async () => {
    const { site, source, image, copiedAt } = await crawlOnce()
    site.pages.clear()
    for (const [path, answer] of Object.entries(pages)) site.pages.set(path, answer)
    site.clearRequests()
    const path = await createLibraryPath()
    writeFileSync(path, image)
    const library = await openTestLibrary(path)
    const elapsed = library.clock.now() - copiedAt
    const clock = { ...library.clock, now: () => library.clock.now() - elapsed }
    return toFixture(site, withFastClock({ ...library, clock }, undefined, copiedAt), path, source)
  }
}

/** The bytes of a library file that is still open. */
function readImage(path: string): Buffer {
  const db = new Sqlite(path, { readonly: true })
  try {
    return db.serialize()
  } finally {
    db.close()
  }
}

function toFixture(site: Site, library: OpenLibrary, path: string, source: Source): FileFixture {
  return {
    site,
    library,
    path,
    source,
    async crawl(overrides = {}, signal) {
      const [current = source] = (await library.store.listSources()).filter(({ id }) => id === source.id)
      return runCrawl(library, current, { kind: 'add', ...overrides }, site.origin, signal)
    },
    readContent: () => readSourceContent(path, library, source, site.origin),
    async search(query) {
      const hits = await searchHits(library.store, { query, limit: 100, filter: { sourceIds: [source.id] } })
      return [...new Set(hits.map(({ url }) => new URL(url).pathname))].sort(compareUtf8)
    },
  }
}

/** Reads the content of a source. */
export async function readSourceContent(
  path: string,
  library: OpenLibrary,
  source: Source,
  origin: string,
): Promise<SourceContent> {
  const rows = await library.store.listRows(source.id, { limit: 100_000 })
  const stored = isPostgres(path) ? await readStoredPages(path, source.id) : readFilePages(path, source.id)
  const toPath = (key: string) => (key.startsWith(`${origin}/`) ? key.slice(origin.length) : key)
  return {
    rows: new Map(rows.map((row) => [toPath(row.key), row])),
    pages: new Map(stored.map(({ key, ...content }) => [toPath(key), content])),
  }
}

function readFilePages(path: string, sourceId: string): StoredPage[] {
  const db = new Sqlite(path, { readonly: true })
  try {
    const stored = db
      .prepare<[string], { key: string; page: number; markdown: string; links: string }>(
        `SELECT l.key, p.id AS page, p.markdown, k.links FROM pages p JOIN ledger l ON l.id = p.id JOIN links k ON k.id = p.id
         JOIN sources s ON s.id = l.source WHERE s.uuid = ? ORDER BY l.key`,
      )
      .all(sourceId)
    const chunks = db.prepare<[number], { number: number; id: string }>(
      'SELECT id AS number, lower(hex(chunk_id)) AS id FROM chunks WHERE page = ? ORDER BY position',
    )
    return stored.map(({ page, links, ...rest }) => ({
      ...rest,
      links: JSON.parse(links) as string[],
      chunks: chunks.all(page),
    }))
  } finally {
    db.close()
  }
}

/**
 * Expects that a crawl touched only the named rows. All others may differ only in fields that record the check. Their content, chunk ids,
 * change times and discovery fields stay the same.
 */
export function expectUntouched(before: SourceContent, after: SourceContent, touched: readonly string[]): void {
  const others = (map: ReadonlyMap<string, unknown>) => [...map.keys()].filter((path) => !touched.includes(path))
  expect(others(after.rows)).toEqual(others(before.rows))
  expect(others(after.pages)).toEqual(others(before.pages))
  for (const path of others(before.rows)) {
    const [rowBefore, rowAfter] = [before.rows.get(path), after.rows.get(path)]
    expect(withoutCheckFields(rowAfter), path).toEqual(withoutCheckFields(rowBefore))
    expect(['unchanged', rowBefore?.state], path).toContain(rowAfter?.state)
    expect(after.pages.get(path), path).toEqual(before.pages.get(path))
  }
}

/** A row without the fields that a check updates. */
function withoutCheckFields(row: LedgerRow | undefined): Partial<LedgerRow> {
  const { state, crawlId, checkedAt, status, detail, ...rest } = row ?? {}
  return rest
}

/**
 * The part of a library that must be equal in two libraries of the same site: everything except times, crawl ids and row ids. Depths are
 * comparable only if the crawl proceeds level by level, which it does with a depth limit.
 */
export function toComparable({ rows, pages }: SourceContent, origin: string, isBreadthFirst = true) {
  const withoutOrigin = (value: string | null) => value?.replaceAll(origin, '') ?? null
  return {
    rows: [...rows].map(([path, { state, reason, pattern, target, depth, hasPage }]) => ({
      path,
      state,
      reason,
      pattern: withoutOrigin(pattern),
      target: withoutOrigin(target),
      depth: isBreadthFirst ? depth : null,
      hasPage,
    })),
    pages: [...pages].map(([path, { markdown, links, chunks }]) => ({
      path,
      markdown: withoutOrigin(markdown),
      links: links.map(withoutOrigin),
      chunks: chunks.map(({ id }) => id),
    })),
  }
}

/** The comparable content of a library. */
export type Dump = ReturnType<typeof toComparable>

/** The comparable content of a library that crawled a site without interruption. */
export async function readUninterrupted(site: Site, scope: Partial<Scope> = {}, isBreadthFirst = true): Promise<Dump> {
  const fixture = await createFixtureOn(site, '/', { scope }, { concurrency: 4 })
  const { summary } = await fixture.crawl()
  expect(summary.end).toBe('completed')
  return toComparable(await fixture.readContent(), site.origin, isBreadthFirst)
}

/** Expects that neither a library file nor its index is damaged. */
export function expectSound(path: string): void {
  const db = new Sqlite(path)
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(db.pragma('foreign_key_check')).toEqual([])
    expectSoundIndex(db)
  } finally {
    db.close()
  }
}

/** Expects that the index holds each chunk that is indexed and not stale exactly once, and only the blocks of its segments. */
function expectSoundIndex(db: Sqlite.Database): void {
  const dead = db.prepare('SELECT 1 FROM index_dead WHERE segment = ? AND ? BETWEEN first AND last')
  const segments = db
    .prepare<[], { id: number; documents: Uint8Array; first: number; count: number }>(
      'SELECT id, documents, first_block AS first, block_count AS count FROM index_segments ORDER BY first_block',
    )
    .all()
  const indexedChunks = segments.flatMap(({ id, documents }) =>
    [...readEntryTable(documents, Object.keys(CHUNK_FIELDS).length).numbers].filter((number) => !dead.get(id, number)),
  )
  const chunks = db
    .prepare<[], number>(
      `SELECT id FROM chunks c WHERE id <= (SELECT last_chunk FROM index_state)
         AND NOT EXISTS (SELECT 1 FROM index_stale WHERE c.id BETWEEN first AND last) ORDER BY id`,
    )
    .pluck()
  expect(indexedChunks.sort((a, b) => a - b)).toEqual(chunks.all())
  const blocks = segments.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i))
  expect(db.prepare('SELECT id FROM index_blocks ORDER BY id').pluck().all()).toEqual(blocks)
}

/** The comparable content of a library with a single source. Expects that neither the file nor the index is damaged. */
export async function readDump(path: string, origin: string): Promise<Dump> {
  const library = await openLibrary({ path, version: '0.0.0' })
  try {
    const [source, ...others] = await library.store.listSources()
    if (source === undefined || others.length > 0) throw new Error(`${path} holds ${others.length + 1} sources`)
    const { pages } = await library.store.countContent(source.id)
    expectSound(path)
    const dump = toComparable(await readSourceContent(path, library, source, origin), origin, false)
    expect(dump.pages).toHaveLength(pages)
    return dump
  } finally {
    await library.close()
  }
}
