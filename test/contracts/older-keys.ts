import { expect } from 'vitest'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { FoundAddress } from '../../src/crawl/ledger.ts'
import type { PageRecord } from '../../src/crawl/settlement.ts'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { DEFAULT_SETTINGS } from '../../src/library/source.ts'

/** A row as an earlier version wrote it, and as the migration leaves it. All addresses are written without the host. */
interface OlderRow {
  readonly key: string
  readonly url: string
  /** The address that returned the content. */
  readonly contentUrl?: string
  readonly target?: string
  /** Key, address and target after the migration. */
  readonly after: readonly [key: string, url: string, target: string | null]
}

const HOST = 'https://docs.test'

/** Rows by the start URL of their source. Keys of earlier versions had no trailing slash and no display parameters such as `ref`. */
const OLDER_ROWS: Readonly<Record<string, readonly OlderRow[]>> = {
  [`${HOST}/`]: [
    { key: '/', url: '/', after: ['/', '/', null] },
    { key: '/bare', url: '/bare', after: ['/bare', '/bare', null] },
    { key: '/slash', url: '/slash/', after: ['/slash/', '/slash/', null] },
    { key: '/query?id=1/', url: '/query/?id=1/', after: ['/query/?id=1/', '/query/?id=1/', null] },
    { key: '/alias', url: '/alias/', target: '/slash', after: ['/alias/', '/alias/', '/slash/'] },
    // Earlier versions followed a redirect to another spelling within one visit.
    { key: '/led', url: '/led', contentUrl: '/led/', after: ['/led/', '/led/', null] },
    { key: '/back', url: '/back/', contentUrl: '/back', after: ['/back', '/back', null] },
    { key: '/to?id=1', url: '/to?id=1&ref=a', contentUrl: '/to?id=1', after: ['/to?id=1', '/to?id=1', null] },
    { key: '/text', url: '/text', contentUrl: '/text.md', after: ['/text', '/text', null] },
    { key: '/ref?id=1', url: '/ref?id=1&ref=a', after: ['/ref?id=1&ref=a', '/ref?id=1&ref=a', null] },
    { key: '/sort?id=~', url: '/sort/?id=%7e&sort=a', after: ['/sort/?id=~&sort=a', '/sort/?id=%7e&sort=a', null] },
    { key: '/track?id=1', url: '/track?id=1&utm_id=a', after: ['/track?id=1', '/track?id=1&utm_id=a', null] },
    // Another scope may have kept the whole query.
    { key: '/two?id=1', url: '/two?id=1&ref=a', after: ['/two?id=1', '/two?id=1&ref=a', null] },
    { key: '/two?id=1&ref=a', url: '/two?id=1&ref=a', after: ['/two?id=1&ref=a', '/two?id=1&ref=a', null] },
  ],
  [`${HOST}/other`]: [
    { key: '/slash', url: '/slash', after: ['/slash', '/slash', null] },
    { key: '/alias', url: '/alias', target: '/slash', after: ['/alias', '/alias', '/slash'] },
  ],
  // The migration changes neither keys of imports, which have no trailing slash, nor keys of archives, which are paths.
  [`import+${HOST}/`]: [
    { key: '/slash', url: '/slash/', after: ['/slash', '/slash/', null] },
    { key: '/alias', url: '/alias', target: '/slash', after: ['/alias', '/alias', '/slash'] },
  ],
  [`${HOST}/files.zip`]: [{ key: 'a.md', url: '/files.zip!/a.md', after: ['a.md', '/files.zip!/a.md', null] }],
}

/** SQL that gives the rows the address of their content. */
export const OLDER_CONTENT: readonly string[] = Object.values(OLDER_ROWS).flatMap((rows) =>
  rows.flatMap(({ key, contentUrl }) =>
    contentUrl === undefined
      ? []
      : [`UPDATE ledger SET content_url = '${HOST}${contentUrl}' WHERE key = '${HOST}${key}'`],
  ),
)

/** Writes rows as an earlier version did, and one that has a page. */
export async function writeOlderRows(store: LibraryStore, recordOf: (key: string) => PageRecord): Promise<void> {
  for (const [start, rows] of Object.entries(OLDER_ROWS)) {
    await store.addSource({
      ...{ id: start, name: start, version: null, url: start, siteUrl: start, createdAt: 1 },
      ...{ scope: DEFAULT_SCOPE, settings: DEFAULT_SETTINGS },
    })
    await store.offer(start, 'c1', rows.map(foundAddressOf), 9)
  }
  const find = foundAddressOf(PAGE)
  const adoption = { sourceId: `${HOST}/`, crawlId: 'c1', now: 9, find, record: recordOf(find.key), finds: [] }
  await store.adopt(adoption)
}

/** Expects that each row has the key of its address, and that chunks lead to their page. */
export async function expectMigratedKeys(store: LibraryStore, chunkId: string): Promise<void> {
  const withoutHost = (text: string | null) => text?.replace(HOST, '') ?? null
  for (const [start, rows] of Object.entries(OLDER_ROWS)) {
    const listed = await store.listRows(start, { limit: 99 })
    const found = listed.map((row) => [withoutHost(row.key), withoutHost(row.url), withoutHost(row.target)])
    const expected = [...rows, ...(start === `${HOST}/` ? [PAGE] : [])].map(({ after }) => after)
    expect(found, start).toHaveLength(expected.length)
    expect(found, start).toEqual(expect.arrayContaining(expected))
  }
  const chunk = (await store.readChunk(`${HOST}/`, chunkId))?.chunk
  expect(chunk?.path).toBe(`${HOST}/page/`)
  expect(await store.readExcerpt(`${HOST}/`, `${HOST}/page/`, 0)).toMatchObject({ markdown: 'some words' })
}

const PAGE: OlderRow = { key: '/page', url: '/page/', after: ['/page/', '/page/', null] }

function foundAddressOf({ key, url, target }: OlderRow): FoundAddress {
  const refusal = target === undefined ? null : { reason: 'covered' as const, pattern: null, target: HOST + target }
  const at = { depth: 1, foundOn: null, discovery: 'link' as const }
  return { key: key.startsWith('/') ? HOST + key : key, url: HOST + url, host: 'docs.test', refusal, ...at }
}
