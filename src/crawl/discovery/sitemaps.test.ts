import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ResourceFetcher } from '../resource.ts'
import { readSitemaps, type SitemapLimits, type SitemapReport } from './sitemaps.ts'

const SITE = 'https://e.com/docs/start'

function urlset(...urls: string[]): string {
  return `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`
}

function index(...urls: string[]): string {
  return `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`
}

async function read(
  files: Record<string, string | Uint8Array>,
  fromRobots: readonly string[] = [],
  limits: SitemapLimits = {},
  admits?: (url: string) => boolean,
) {
  const requested: string[] = []
  const fetchResource: ResourceFetcher = async (url) => {
    requested.push(url)
    const body = files[url]
    return body === undefined ? { type: 'missing', status: 404 } : { type: 'found', url, snapshot: { url, body } }
  }
  const pages: string[] = []
  let report: SitemapReport | undefined
  for await (const find of readSitemaps({
    siteUrl: SITE,
    fromRobots,
    fetchResource,
    limits,
    ...(admits && { admits }),
  })) {
    if (find.type === 'page') pages.push(`${find.foundOn} ${find.url}`)
    else report = find.report
  }
  return { requested, pages, report }
}

test('reads the sitemaps of robots.txt first, then /sitemap.xml', async () => {
  const { requested, pages, report } = await read(
    { 'https://e.com/a.xml': urlset('https://e.com/1'), 'https://e.com/sitemap.xml': urlset('https://e.com/2') },
    ['https://e.com/a.xml', 'https://e.com/none.xml'],
  )
  expect(requested).toEqual(['https://e.com/a.xml', 'https://e.com/none.xml', 'https://e.com/sitemap.xml'])
  expect(pages).toEqual(['https://e.com/a.xml https://e.com/1', 'https://e.com/sitemap.xml https://e.com/2'])
  expect(report).toEqual({
    read: [
      { url: 'https://e.com/a.xml', entries: 1 },
      { url: 'https://e.com/sitemap.xml', entries: 1 },
    ],
    failed: [{ url: 'https://e.com/none.xml', detail: 'status 404', isAnswered: true }],
    settled: new Set(['https://e.com/a.xml', 'https://e.com/none.xml', 'https://e.com/sitemap.xml']),
    doubtful: [],
    pages: 2,
    cappedBy: null,
  })
})

test('requests /sitemap_index.xml only when no page was found', async () => {
  const { requested, pages, report } = await read({
    'https://e.com/sitemap.xml': '<!doctype html><html><p>Not here',
    'https://e.com/sitemap_index.xml': index('https://e.com/1.xml', 'https://e.com/sitemap.xml'),
    'https://e.com/1.xml': 'https://e.com/x\nhttps://e.com/y',
  })
  expect(requested).toEqual(['https://e.com/sitemap.xml', 'https://e.com/sitemap_index.xml', 'https://e.com/1.xml'])
  expect(pages).toEqual(['https://e.com/1.xml https://e.com/x', 'https://e.com/1.xml https://e.com/y'])
  expect(report?.failed).toEqual([])
  expect(report?.doubtful).toEqual([{ url: 'https://e.com/sitemap.xml', detail: 'not a sitemap' }])
  expect((await read({})).report).toEqual({
    read: [],
    failed: [],
    settled: new Set(['https://e.com/sitemap.xml', 'https://e.com/sitemap_index.xml']),
    doubtful: [],
    pages: 0,
    cappedBy: null,
  })
})

test('unpacks gzip files whatever their name', async () => {
  const packed = gzipSync(urlset('https://e.com/é'))
  expect((await read({ 'https://e.com/sitemap.xml': new Uint8Array(packed) })).pages).toEqual([
    'https://e.com/sitemap.xml https://e.com/%C3%A9',
  ])
})

test('reads a file that unpacks beyond the size limit up to the limit', async () => {
  const urls = Array.from({ length: 20_000 }, (_, i) => `https://e.com/${i}`)
  const { pages, report } = await read({ 'https://e.com/sitemap.xml': gzipSync(urlset(...urls)) }, [], {
    maxBytes: 100_000,
  })
  expect(pages.length).toBeGreaterThan(0)
  expect(pages.length).toBeLessThan(4000)
  expect(report?.failed).toEqual([
    { url: 'https://e.com/sitemap.xml', detail: 'larger than 100000 bytes', isAnswered: false },
  ])
})

test('reports a damaged archive and reads the other files', async () => {
  const packed = gzipSync(urlset('https://e.com/1'))
  const { report } = await read(
    { 'https://e.com/a': packed.subarray(0, packed.length - 9), 'https://e.com/b': packed },
    ['https://e.com/a', 'https://e.com/b'],
  )
  expect(report?.failed).toEqual([{ url: 'https://e.com/a', detail: 'the archive is damaged', isAnswered: false }])
  expect(report?.read.map(({ url }) => url)).toContain('https://e.com/b')
})

test('stops at indexes that name each other', async () => {
  const { requested, report } = await read({
    'https://e.com/sitemap.xml': index('https://e.com/b.xml', 'https://e.com/sitemap.xml'),
    'https://e.com/b.xml': index('https://e.com/sitemap.xml', 'https://e.com/c.xml'),
    'https://e.com/c.xml': urlset('https://e.com/1'),
  })
  expect(requested).toEqual(['https://e.com/sitemap.xml', 'https://e.com/b.xml', 'https://e.com/c.xml'])
  expect(report).toMatchObject({ pages: 1, failed: [] })
})

test('follows nested indexes five levels deep', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`https://e.com/${i}.xml`, index(`https://e.com/${i + 1}.xml`)]),
  )
  const { requested, report } = await read(files, ['https://e.com/0.xml'])
  expect(requested.filter((url) => /\d\.xml/.test(url))).toHaveLength(6)
  expect(report?.failed).toEqual([
    { url: 'https://e.com/6.xml', detail: 'nested in more than 5 indexes', isAnswered: true },
  ])
})

test('reads sitemaps on other hosts only if robots.txt leads there', async () => {
  const { requested, report } = await read(
    {
      'https://cdn.com/s.xml': index('https://cdn.com/1.xml', 'https://third.com/2.xml', 'https://www.e.com/3.xml'),
      'https://cdn.com/1.xml': urlset('https://e.com/1'),
      'https://www.e.com/3.xml': urlset('https://e.com/3'),
      'https://e.com/sitemap.xml': index('https://evil.com/s.xml', 'https://cdn.com/s.xml'),
    },
    ['https://cdn.com/s.xml'],
  )
  expect(requested).toEqual([
    'https://cdn.com/s.xml',
    'https://cdn.com/1.xml',
    'https://www.e.com/3.xml',
    'https://e.com/sitemap.xml',
  ])
  expect(report?.failed.map(({ url }) => url)).toEqual(['https://third.com/2.xml', 'https://evil.com/s.xml'])
})

test('limits the number of pages and files', async () => {
  const many = Array.from({ length: 9 }, (_, i) => `https://e.com/${i}.xml`)
  const files = Object.fromEntries(many.map((url) => [url, urlset(`${url}/1`, `${url}/2`)]))
  expect((await read(files, many, { maxEntries: 5 })).report).toMatchObject({ pages: 5, cappedBy: 'entries' })
  const capped = await read(files, many, { maxFiles: 3 })
  expect([capped.requested.length, capped.report?.cappedBy]).toEqual([3, 'files'])
  const wide = await read(
    { 'https://e.com/sitemap.xml': index(...Array.from({ length: 5000 }, (_, i) => `https://e.com/i${i}`)) },
    [],
    { maxFiles: 10 },
  )
  expect([wide.requested.length, wide.report?.cappedBy]).toEqual([10, 'files'])
})

test('limits pages outside the source separately from admitted pages', async () => {
  const urls = Array.from({ length: 20 }, (_, i) => `https://e.com/${i % 2 === 0 ? 'other' : 'docs'}/${i}`)
  const files = { 'https://e.com/sitemap.xml': urlset(...urls) }
  const admits = (url: string) => url.includes('/docs/')
  expect((await read(files, [], { maxEntries: 10 }, admits)).report).toMatchObject({ pages: 20, cappedBy: null })
  expect((await read(files, [], { maxEntries: 9 }, admits)).report).toMatchObject({ pages: 19, cappedBy: 'entries' })
  expect((await read(files, [], { maxRead: 7 }, admits)).report).toMatchObject({ pages: 7, cappedBy: 'entries' })
})

test('marks files that refuse access or are not sitemaps as doubtful', async () => {
  const fetchResource: ResourceFetcher = async (url) => {
    if (url.endsWith('/sitemap.xml')) return { type: 'missing', status: 403 }
    if (url.endsWith('/page')) return { type: 'found', url, snapshot: { url, body: '<!doctype html><p>Down' } }
    if (url.endsWith('/closed'))
      return { type: 'failed', reason: 'robots-disallow', detail: 'Disallow: /', status: null }
    return { type: 'missing', status: 410 }
  }
  const fromRobots = ['https://e.com/page', 'https://e.com/closed']
  const { value: last } = await readSitemaps({ siteUrl: SITE, fromRobots, fetchResource }).next()
  expect(last?.type === 'report' && last.report).toMatchObject({
    settled: new Set(['https://e.com/sitemap_index.xml']),
    doubtful: [
      { url: 'https://e.com/page', detail: 'not a sitemap' },
      { url: 'https://e.com/closed', detail: 'robots-disallow: Disallow: /' },
      { url: 'https://e.com/sitemap.xml', detail: 'status 403' },
    ],
  })
})

test('decodes a file with the encoding it names', async () => {
  const text = `<?xml version="1.0" encoding="ISO-8859-1"?>${urlset('https://e.com/é')}`
  const latin = Uint8Array.from(text, (char) => char.charCodeAt(0))
  expect((await read({ 'https://e.com/sitemap.xml': latin })).pages).toEqual([
    'https://e.com/sitemap.xml https://e.com/%C3%A9',
  ])
})

test('stops reading when the signal is aborted', async () => {
  const controller = new AbortController()
  const finds = readSitemaps({
    siteUrl: SITE,
    fromRobots: [],
    fetchResource: async (url) => {
      controller.abort(new Error('stop'))
      return { type: 'found', url, snapshot: { url, body: urlset('https://e.com/1') } }
    },
    signal: controller.signal,
  })
  await expect(finds.next()).rejects.toThrow('stop')
})
