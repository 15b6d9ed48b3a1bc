import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../src/library/crawl/crawl-source.ts'
import type { Source } from '../../src/library/source.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { openTestSite, runCrawl, SHORT_BACKOFF } from './crawl.ts'
import { page } from './site.ts'

/** Returns a function that opens the same library file with or without permission to reach private addresses. */
function createLibraryOpener() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-'))
  closeLater(async () => rmSync(folder, { recursive: true }))
  const path = join(folder, 'library.db')
  return async (allowPrivate: readonly string[]) => {
    const library = await openLibrary({ path, version: '0.0.0', limits: SHORT_BACKOFF, allowPrivate })
    closeLater(() => library.close())
    return library
  }
}

async function readState({ store }: OpenLibrary, { id }: Source) {
  return { rows: await store.listRows(id, { limit: 100 }), crawls: await store.listCrawls(id, 10) }
}

const REFUSED = {
  code: 'CRAWL_START_FAILED',
  details: {
    problem: expect.stringContaining('address-refused, 127.0.0.1 is not a public address'),
    reason: 'address-refused',
    advice: expect.stringContaining('--allow-private=127.0.0.1'),
  },
}

test.each(['refresh', 'recrawl', 'retry'] as const)(
  'a %s without permission to reach the site is refused and changes nothing',
  async (kind) => {
    const site = await openTestSite({ '/': page('Home', ['/a', '/b', '/gone']), '/a': page('A'), '/b': page('B') })
    const open = createLibraryOpener()
    const allowed = await open(['127.0.0.1'])
    const source = await addSource(allowed, { url: `${site.origin}/` })
    await runCrawl(allowed, source, { kind: 'add' }, site.origin)
    const before = await readState(allowed, source)
    site.clearRequests()
    const library = await open([])
    await expect(runCrawl(library, source, { kind }, site.origin)).rejects.toMatchObject(REFUSED)
    expect(await readState(library, source)).toEqual(before)
    expect(site.requests).toEqual([])
  },
)

test('a crawl whose start redirects is not resumed without permission to reach the site, and its addresses stay pending', async () => {
  const paths = Array.from({ length: 40 }, (_, i) => `/docs/p${i}`)
  const site = await openTestSite({
    '/': { status: 302, headers: { location: '/docs/' } },
    '/docs/': page('Home', paths),
    ...Object.fromEntries(paths.map((path) => [path, page(path)])),
  })
  const open = createLibraryOpener()
  const allowed = await open(['127.0.0.1'])
  const source = await addSource(allowed, { url: `${site.origin}/` })
  const controller = new AbortController()
  for await (const event of crawlSource(allowed, source, { kind: 'add' }, controller.signal)) {
    if (event.type === 'settled' && event.state === 'indexed') controller.abort()
  }
  const before = await readState(allowed, source)
  expect(before.rows.filter(({ state }) => state === 'pending').length).toBeGreaterThan(20)
  const library = await open(['10.0.0.0/8'])
  await expect(runCrawl(library, source, { kind: 'recrawl' }, site.origin)).rejects.toMatchObject(REFUSED)
  expect(await readState(library, source)).toEqual(before)
})
