import { expect, test } from 'vitest'
import { page } from '../site.ts'
import { crawlHostile, isLong, openRawServer, type RawServer, rowsOf, send, sendRedirect } from './harness.ts'

/* Endless sites: each page links to new ones. */

const GOOD = ['/good/1', '/good/2', '/good/3']

/** Links of a page on an endless site, by the path of the page and the number of pages served so far. */
const TRAPS: Readonly<Record<string, (path: string, count: number) => readonly string[]>> = {
  'a calendar by month': (path) => {
    const [, year = '2026', month = '1'] = /(\d{4})\/(\d{1,2})/.exec(path) ?? []
    const monthIndex = Number(year) * 12 + Number(month) - 1
    return [monthIndex + 1, monthIndex - 1].map((index) => `/calendar/${Math.floor(index / 12)}/${(index % 12) + 1}`)
  },
  'a calendar by day in the query': (path) => {
    const [, day = '2026-01-01'] = /date=([\d-]+)/.exec(path) ?? []
    const at = Date.parse(day)
    return [1, -1, 30].map((days) => `/calendar?date=${new Date(at + days * 86_400_000).toISOString().slice(0, 10)}`)
  },
  'session ids in the query': (_, count) => [1, 2, 3].map((i) => `/trap/page${i}?sid=${hex(count * 3 + i)}`),
  'session ids in the path': (_, count) => [1, 2].map((i) => `/trap/(S(${hex(count * 2 + i).slice(0, 24)}))/page${i}`),
  'session ids behind a semicolon': (_, count) => [1, 2].map((i) => `/trap/page${i};jsessionid=${hex(count * 2 + i)}`),
  'a path that repeats': (path) => [`${path.replace(/\/$/, '')}/trap/next`, `${path.replace(/\/$/, '')}/again`],
  'links that extend the path of the page': (path) => [`${path}/x/y`, `${path}/../trap/z`],
  'numbers without end': (path) => {
    const [, number = '0'] = /(\d+)$/.exec(path) ?? []
    return [`/trap/${Number(number) + 1}`, `/trap/${Number(number) * 2 + 7}`]
  },
  'sort orders': (_, count) => [1, 2, 3].map((i) => `/trap?sort=${i % 3}&page=${count + i}&order=${count % 7}`),
}

test('a crawl of an endless site ends', async () => {
  // The short form tries every second trap, because many of them are similar.
  const names = Object.keys(TRAPS).filter((_, i) => isLong || i % 2 === 0)
  const servers = await Promise.all(names.map((name) => openTrap(TRAPS[name] ?? (() => []))))
  const redirecting = await openRedirectTrap()
  const all = [...servers, redirecting]
  const run = await crawlHostile(all.map(({ origin }) => ({ url: `${origin}/` })))
  const results = all.map((server, i) => {
    const rows = rowsOf(run, server)
    const requestCount = server.requestedPaths.length
    return {
      name: names[i] ?? 'redirects without end',
      end: run.sources.get(`${server.origin}/`)?.end,
      good: GOOD.map((path) => rows[path]),
      requests: requestCount < 3000 ? 'few' : requestCount,
    }
  })
  const good = GOOD.map(() => 'indexed')
  expect(results).toEqual(results.map(({ name }) => ({ name, end: 'completed', good, requests: 'few' })))
})

async function openTrap(linksOf: (path: string, count: number) => readonly string[]): Promise<RawServer> {
  const server = await openRawServer()
  let count = 0
  server.answers.set('/', send(pageWithLinks('Start', [...linksOf('/trap', 0), ...GOOD])))
  for (const path of GOOD) server.answers.set(path, send(page(`Good ${path}`)))
  server.fallback = (path) => {
    if (/\.(?:txt|xml|md)$/.test(path)) return undefined
    count++
    return send(pageWithLinks('One of very many pages', [...linksOf(path, count), ...GOOD]))
  }
  return server
}

/** A page whose links all have the same text, as on endless sites. */
function pageWithLinks(title: string, links: readonly string[]): string {
  return page(title).replace('</main>', `${links.map((href) => `<a href="${href}">Go on</a>`).join(' ')}</main>`)
}

/** A server whose redirects lead to new pages, each of which links to two further redirects. */
async function openRedirectTrap(): Promise<RawServer> {
  const server = await openRawServer()
  let count = 0
  server.answers.set('/', send(page('Start', ['/go/0', ...GOOD])))
  for (const path of GOOD) server.answers.set(path, send(page(`Good ${path}`)))
  server.fallback = (path) => {
    if (/\.(?:txt|xml|md)$/.test(path)) return undefined
    count++
    return path.startsWith('/go/')
      ? sendRedirect(`/at/${count}`)
      : send(page('Moved along', [`/go/${count}`, `/go/${count}b`]))
  }
  return server
}

function hex(seed: number): string {
  let state = (seed * 2_654_435_761 + (isLong ? 7 : 3)) >>> 0
  let text = ''
  while (text.length < 32) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(16).padStart(8, '0')
  }
  return text
}
