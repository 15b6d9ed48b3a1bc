import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTeiReranker } from '../../src/embed/rerank-tei.ts'
import { openServiceClient } from '../../src/fetch/service-client.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { Library } from '../../src/library/library.ts'
import type { Reranker } from '../../src/library/ports/reranker.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import type { SearchAnswer, SearchInput } from '../../src/library/search.ts'
import { openLibrary } from '../../src/open-library.ts'
import { runCrawl } from '../sites/crawl.ts'
import { openSite } from '../sites/site.ts'
import { createQuickClock } from './quick-clock.ts'
import type { FaultyServer } from './servers/faults.ts'
import { openTeiRerankServer } from './servers/rerank.ts'

const PAGES = 12
/** The number of lamps in a text decides its rank by words, and the number of its wick decides its score by the reranker. */
const textOf = (page: number): string =>
  `${Array.from({ length: PAGES - page }, () => 'The lamp burns.').join(' ')} Its wick has number ${page}. ${filler(page)}`

/** Different words for each page, so that no page repeats another. */
function filler(page: number): string {
  return Array.from({ length: 40 }, (_, i) => `word${page}x${i}`).join(' ')
}

const site = Object.fromEntries([
  ['/', `<!doctype html><html lang="en"><title>Start</title><main><h1>Start</h1>${linksTo(PAGES)}</main></html>`],
  ...Array.from({ length: PAGES }, (_, page) => [
    `/p${page}`,
    `<!doctype html><html lang="en"><title>Page ${page}</title><main><h1>Page ${page}</h1><p>${textOf(page)}</p></main></html>`,
  ]),
])

function linksTo(count: number): string {
  return `<ul>${Array.from({ length: count }, (_, page) => `<li><a href="/p${page}">p${page}</a></li>`).join('')}</ul>`
}

const folder = mkdtempSync(join(tmpdir(), 'pharos-rerank-'))
const crawled = join(folder, 'crawled.db')
let server: FaultyServer
let library: Library
let judgedTexts: string[]
const closing: (() => Promise<void>)[] = []

// Every test has its own copy of one crawled library, because recent judgments are cached per library.
beforeAll(async () => {
  const first = await openLibrary({ path: crawled, version: '0.0.0', allowPrivate: ['127.0.0.0/8'] })
  const { origin, close } = await openSite(site)
  const source = await addSource(first, { url: `${origin}/`, name: 'lamps' })
  await runCrawl(first, source, { kind: 'add' }, origin)
  await Promise.all([first.close(), close()])
})

afterAll(() => rmSync(folder, { recursive: true }))

beforeEach(async () => {
  judgedTexts = []
  // The reverse of the ranking by words: the page with the greatest number is best.
  const judge = (_query: string, text: string): number => {
    judgedTexts.push(text)
    return Number(/number (\d+)/.exec(text)?.[1] ?? 0) / 100
  }
  server = await openTeiRerankServer({ judge })
  const client = openServiceClient({ origins: [server.origin], userAgent: 'Pharos/test' })
  const path = join(folder, 'copy.db')
  cpSync(crawled, path)
  const copy = await openLibrary({ path, version: '0.0.0' })
  closing.push(
    () => client.close(),
    () => server.close(),
    () => copy.close(),
  )
  const open = (budgetMs: number, candidates: number): Reranker =>
    openTeiReranker({ endpoint: server.origin, candidates, budgetMs, client, clock: copy.clock })
  openWith = (budgetMs, candidates) => ({ ...copy, openReranker: async () => open(budgetMs, candidates) })
  library = openWith(5000, 50)
})

/** The library with a reranker of the given budget and number of candidates. */
let openWith: (budgetMs: number, candidates: number) => Library

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const titlesOf = ({ passages, more }: SearchAnswer): string[] => [...passages, ...more].map(({ title }) => title)
const ask = (input: Partial<SearchInput> = {}, searched: Library = library): Promise<SearchAnswer> =>
  searchLibrary(searched, { query: 'lamp', limit: 20, ...input })
const pagesFrom = (first: number, step: 1 | -1, count = PAGES): string[] =>
  Array.from({ length: count }, (_, i) => `Page ${first + i * step}`)

describe('a reranker', () => {
  test('orders hits by its judgments, and the answer says so', async () => {
    const before = await ask({ fusion: 'words' })
    expect(titlesOf(before)).toEqual(pagesFrom(0, 1))
    expect(before.engines).toEqual(['words'])
    expect(server.count()).toBe(0)
    const after = await ask()
    expect(titlesOf(after)).toEqual(pagesFrom(PAGES - 1, -1))
    expect(after).toMatchObject({ engines: ['words', 'reranker'], notices: [] })
    expect(after.passages.map(({ score }) => score)).toEqual(
      before.passages.slice(0, after.passages.length).map(({ score }) => score),
    )
  })

  test('gets the title, the headings and the text of each hit, once', async () => {
    await ask()
    expect(judgedTexts).toHaveLength(PAGES)
    expect(judgedTexts.every((text) => /^Page \d+\n/.test(text) && text.includes('wick'))).toBe(true)
  })

  test('judges no more hits than its candidate limit', async () => {
    const answer = await ask({}, openWith(5000, 4))
    expect(titlesOf(answer)).toEqual([...pagesFrom(3, -1, 4), ...pagesFrom(4, 1, PAGES - 4)])
    expect(judgedTexts).toHaveLength(4)
  })

  test('keeps the order of hits that it judges equal', async () => {
    server.setFault('POST /rerank', {
      type: 'answer',
      status: 200,
      json: Array.from({ length: PAGES }, (_, index) => ({ index, score: index === 5 ? 1 : 0.5 })),
    })
    expect(titlesOf(await ask())).toEqual(['Page 5', ...pagesFrom(0, 1, 5), ...pagesFrom(6, 1, PAGES - 6)])
  })

  test('does not change the number of hits above the minimum score', async () => {
    const some = await ask({ minScore: 0.8, fusion: 'words' })
    const count = titlesOf(some).length
    expect(count).toBeGreaterThan(1)
    expect(count).toBeLessThan(PAGES)
    expect(titlesOf(await ask({ minScore: 0.8 }))).toEqual(pagesFrom(PAGES - 1, -1, count))
  })

  test('keeps its order over all pages of an answer', async () => {
    const titles: string[] = []
    let cursor: string | null | undefined
    do {
      const answer: SearchAnswer = await ask({ limit: 5, ...(cursor ? { cursor } : {}) })
      expect(answer.engines).toEqual(['words', 'reranker'])
      titles.push(...titlesOf(answer))
      cursor = answer.cursor
      expect(titles.length).toBeLessThanOrEqual(2 * PAGES)
    } while (cursor !== null)
    // A page that is only listed in `more` comes again as a passage of the next answer.
    expect([...new Set(titles)]).toEqual(pagesFrom(PAGES - 1, -1))
  })

  test('is called once for all pages of an answer, so the following pages work without it', async () => {
    const first = await ask({ limit: 5 })
    await server.stopListening()
    const second = await ask({ limit: 5, cursor: first.cursor ?? '' })
    expect(second).toMatchObject({ engines: ['words', 'reranker'], notices: [] })
    const titles = new Set([...titlesOf(first), ...titlesOf(second)])
    expect([...titles]).toEqual(pagesFrom(PAGES - 1, -1, titles.size))
    expect(titles.size).toBeGreaterThan(5)
    expect(server.count('POST /rerank')).toBe(1)
  })

  test('is called again when the cache has expired, and a following page that it could not rank says so', async () => {
    const clock = createQuickClock()
    const libraryWithClock = { ...library, clock }
    const first = await ask({ limit: 5 }, libraryWithClock)
    clock.advance(3_600_000)
    await server.stopListening()
    const second = await ask({ limit: 5, cursor: first.cursor ?? '' }, libraryWithClock)
    expect(second.engines).toEqual(['words'])
    expect(second.notices).toEqual([
      expect.stringContaining('ranked without it'),
      'earlier answers were also ranked by a reranker, but this one was not: some results may repeat, others may be missing',
    ])
  })

  test('ranks a following page whose cursor does not name the earlier ranking', async () => {
    const { cursor, passages } = await ask({ limit: 5 })
    const old = cursor?.replace(/-wr$/, '') ?? ''
    expect(old).not.toBe(cursor)
    expect(titlesOf(await ask({ limit: 5, cursor: old }))).toEqual(pagesFrom(PAGES - 1 - passages.length, -1, 5))
  })

  test('does not rank a following page if it did not rank the first one', async () => {
    server.queueFaults('POST /rerank', { type: 'answer', status: 500 })
    const first = await ask({ limit: 5 })
    expect(first.engines).toEqual(['words'])
    const second = await ask({ limit: 5, cursor: first.cursor ?? '' })
    expect(second).toMatchObject({ engines: ['words'], notices: [] })
    const titles = new Set([...titlesOf(first), ...titlesOf(second)])
    expect([...titles]).toEqual(pagesFrom(0, 1, titles.size))
    expect(titles.size).toBeGreaterThan(5)
  })

  test('appears in the explanation of a hit', async () => {
    const { passages } = await ask({ explain: true })
    expect(passages[0]?.explain?.reranker).toEqual({ score: 0.11, place: 1, placeBefore: PAGES })
    const byWords = await ask({ explain: true, fusion: 'words' })
    expect(byWords.passages[0]?.explain?.reranker).toBeNull()
  })

  test('is not called for a single hit, nor for none', async () => {
    expect((await ask({ query: 'word3x7' })).engines).toEqual(['words'])
    expect((await ask({ query: 'nowhere' })).engines).toEqual(['words'])
    expect(server.count()).toBe(0)
  })
})

describe('a failing reranker', () => {
  const expectFirstRanking = async (notice: string | RegExp, searched: Library = library): Promise<void> => {
    const answer = await ask({}, searched)
    expect(titlesOf(answer)).toEqual(pagesFrom(0, 1))
    expect(answer.engines).toEqual(['words'])
    expect(answer.notices).toEqual([expect.stringMatching(notice)])
  }

  test('leaves the first ranking in place when its budget is over, and the answer says so', async () => {
    server.setFault('POST /rerank', { type: 'hang' })
    await expectFirstRanking(/^the reranker gave no answer within 0\.04 s; ranked without it$/, openWith(40, 50))
  })

  test('leaves the first ranking in place when it fails or is down, and the answer says so', async () => {
    server.queueFaults('POST /rerank', {
      type: 'answer',
      status: 500,
      json: { error: 'no memory', error_type: 'Backend' },
    })
    await expectFirstRanking(/^the reranker cannot be used: TEI answered 500: no memory; ranked without it$/)
    await server.stopListening()
    await expectFirstRanking(/^the reranker cannot be used: TEI: /)
  })

  test('leaves the first ranking in place when its promise never resolves', async () => {
    const hung: Reranker = { name: 'hung', candidates: 9, budgetMs: 30, rerank: () => new Promise(() => undefined) }
    await expectFirstRanking(/within 0\.03 s/, { ...library, openReranker: async () => hung })
  })

  test('does not keep a search from rejecting when the caller aborts', async () => {
    server.setFault('POST /rerank', { type: 'hang' })
    const controller = new AbortController()
    const searching = searchLibrary(library, { query: 'lamp' }, controller.signal)
    setTimeout(() => controller.abort(new Error('enough')), 30)
    await expect(searching).rejects.toThrow('enough')
  })
})
