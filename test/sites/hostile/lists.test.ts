import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Scope } from '../../../src/core/url/scope.ts'
import { markdown, page } from '../site.ts'
import {
  type Answerer,
  crawlHostile,
  isLong,
  openCanary,
  openRawServer,
  type RawServer,
  rowsOf,
  SHORT_TIMEOUTS,
  send,
  sendForever,
  sendRedirect,
} from './harness.ts'

/* Sites with hostile lists: robots.txt, sitemaps, llms.txt and llms-full.txt. */

/** A hostile site and the expected result of its crawl. */
interface Case {
  readonly answers: (origin: string, elsewhere: string) => Readonly<Record<string, Answerer>>
  readonly scope?: Partial<Scope>
  /** The expected states of paths besides the good pages. */
  readonly states?: Readonly<Record<string, string>>
  /** Whether robots.txt is unreachable, so that the crawl may read nothing. */
  readonly isClosed?: boolean
  /** Pattern that the discovery events must match. */
  readonly discovery?: RegExp
  /** Maximum number of requests. @default 20 */
  readonly maxRequests?: number
}

const GOOD = ['/good/1', '/good/2', '/good/3']
const plain = (text: string | Uint8Array) => send(text, { 'content-type': 'text/plain' })
const xml = (text: string | Uint8Array) => send(text, { 'content-type': 'application/xml' })
/** Repeats a text up to a large size. */
const fill = (text: string) => text.repeat(Math.ceil((isLong ? 5_000_000 : 60_000) / text.length))
const BOMB_BYTES = isLong ? 1_000_000_000 : 60_000_000
const urlset = (locs: readonly string[], before = '') =>
  xml(`<?xml version="1.0"?>${before}<urlset>${locs.map((loc) => `<url><loc>${loc}</loc></url>`).join('')}</urlset>`)
const index = (locs: readonly string[]) =>
  xml(`<sitemapindex>${locs.map((loc) => `<sitemap><loc>${loc}</loc></sitemap>`).join('')}</sitemapindex>`)
/** The short form tries only every fifth text. */
const isTried = (_: string, i: number) => isLong || i % 5 === 0
const range = (length: number) => Array.from({ length }, (_, i) => i)

const LAUGHS = `<!DOCTYPE u [<!ENTITY l0 "ha">${range(30)
  .map((i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`)
  .join('')}]>`
const EXTERNAL = (elsewhere: string) =>
  `<!DOCTYPE u SYSTEM "${elsewhere}/dtd" [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY h SYSTEM "${elsewhere}/x">
<!ENTITY % p SYSTEM "${elsewhere}/p"> %p;]>`

const CASES: Readonly<Record<string, Case>> = {
  'robots.txt of 5 MB, of which the beginning counts': {
    answers: () => ({
      '/robots.txt': plain(
        `User-agent: *\nDisallow: /private\n${'# comment\n'.repeat(60_000)}Disallow: /good\n${'#\n'.repeat(isLong ? 2_000_000 : 200_000)}`,
      ),
    }),
    states: { '/private': 'skipped robots-disallow' },
  },
  'robots.txt without an answer': {
    answers: () => ({ '/robots.txt': () => undefined }),
    isClosed: true,
  },
  'robots.txt that drips': {
    answers: () => ({ '/robots.txt': sendForever('HTTP/1.1 200 OK\r\n\r\n', 'User-agent: *\n', 100) }),
    isClosed: true,
  },
  'robots.txt that fails': {
    answers: () => ({ '/robots.txt': send('busy', {}, 503) }),
    isClosed: true,
  },
  'robots.txt behind five redirects': {
    answers: () => ({ ...chain('/robots.txt', 5), '/robots.txt/5': plain('User-agent: *\nDisallow: /private') }),
    states: { '/private': 'skipped robots-disallow' },
  },
  'robots.txt behind six redirects': {
    answers: () => ({ ...chain('/robots.txt', 6), '/robots.txt/6': plain('User-agent: *\nDisallow: /') }),
    states: { '/private': 'indexed' },
  },
  'robots.txt in a circle': {
    answers: () => ({ '/robots.txt': sendRedirect('/robots.txt') }),
    states: { '/private': 'indexed' },
  },
  // Only the beginning of an endless file counts, and its rules belong to no user agent.
  'robots.txt that is a bomb': { answers: () => ({ '/robots.txt': bomb() }) },
  'robots.txt of asterisks': {
    answers: () => ({
      '/robots.txt': plain(
        `User-agent: *\n${range(250)
          .map((i) => `Disallow: /${'*a'.repeat(900)}${i}`)
          .join('\n')}`,
      ),
    }),
  },
  'robots.txt of one line': { answers: () => ({ '/robots.txt': plain(`User-agent: * Disallow: /${fill(' :#')}`) }) },
  'robots.txt of user agents': { answers: () => ({ '/robots.txt': plain(fill('User-agent: *\n')) }) },
  'robots.txt of white space': { answers: () => ({ '/robots.txt': plain(`Disallow:${fill(' ')}/good`) }) },
  'robots.txt that is a page': { answers: () => ({ '/robots.txt': send(page('Disallow: /')) }) },
  'robots.txt in UTF-16': {
    answers: () => ({ '/robots.txt': plain(Buffer.from('\ufeffUser-agent: *\nDisallow: /private\n', 'utf16le')) }),
    states: { '/private': 'skipped robots-disallow' },
  },
  'robots.txt of bad bytes': {
    answers: () => ({
      '/robots.txt': plain(
        Buffer.concat([Buffer.alloc(100_000, 0xff), Buffer.from('\nUser-agent: *\nDisallow: /private\n\0')]),
      ),
    }),
    states: { '/private': 'skipped robots-disallow' },
  },
  // The crawl would request a thousand sitemaps in sequence, so the short form tests this with a sitemap index below.
  ...(isLong && {
    'robots.txt that names sitemaps without end': {
      answers: () => ({
        '/robots.txt': plain(
          range(10_000)
            .map((i) => `Sitemap: /map${i}.xml`)
            .join('\n'),
        ),
      }),
      maxRequests: 1050,
    },
  }),
  'sitemap of 200,000 pages': {
    answers: (origin) => ({
      '/sitemap.xml': urlset(
        [...GOOD, ...range(isLong ? 200_000 : 2000).map((i) => `/listed/${i}`)].map((path) => origin + path),
      ),
    }),
    scope: { maxPages: 10 },
    maxRequests: 80,
  },
  'sitemap with an entity bomb': {
    answers: (origin) => ({ '/sitemap.xml': urlset([`${origin}/&l30;`, '&l30;', `${origin}/listed`], LAUGHS) }),
    states: { '/listed': 'failed not-found' },
  },
  'sitemap with external entities': {
    answers: (origin, elsewhere) => ({
      '/sitemap.xml': urlset(['&f;', '&h;', `${origin}/&f;`, `${origin}/listed`], EXTERNAL(elsewhere)),
    }),
    states: { '/listed': 'failed not-found' },
  },
  'sitemap that names itself': {
    answers: (origin) => ({ '/sitemap.xml': index([`${origin}/sitemap.xml`, `${origin}/sitemap.xml#a`]) }),
  },
  'sitemaps in a circle': {
    answers: (origin) => ({
      '/sitemap.xml': index([`${origin}/b.xml`]),
      '/b.xml': index([`${origin}/c.xml`]),
      '/c.xml': index([`${origin}/sitemap.xml`, `${origin}/b.xml`]),
    }),
  },
  'sitemaps below each other without end': {
    answers: (origin) =>
      Object.fromEntries(
        range(1000).map((i) => [i === 0 ? '/sitemap.xml' : `/${i}.xml`, index([`${origin}/${i + 1}.xml`])]),
      ),
  },
  'sitemap of sitemaps without end': {
    answers: (origin) => ({ '/sitemap.xml': index(range(isLong ? 10_000 : 1001).map((i) => `${origin}/${i}.xml`)) }),
    maxRequests: 1050,
  },
  'sitemaps elsewhere': {
    answers: (origin, elsewhere) => ({
      '/sitemap.xml': index([`${elsewhere}/sitemap.xml`, `${origin}/pages.xml`]),
      '/pages.xml': urlset([`${elsewhere}/page`, 'file:///etc/passwd', 'javascript:x', `${origin}/listed`]),
    }),
    states: { '/listed': 'failed not-found' },
  },
  'sitemap in a gzip file that is a bomb': {
    answers: (origin) => ({
      '/sitemap.xml': index([`${origin}/a.xml.gz`, `${origin}/b.xml.gz`, `${origin}/c.xml.gz`]),
      '/a.xml.gz': send(gzippedUrls(BOMB_BYTES), { 'content-type': 'application/gzip' }),
      '/b.xml.gz': send(gzippedUrls(1000).subarray(0, 20), { 'content-type': 'application/gzip' }),
      '/c.xml.gz': send(gzipSync(gzippedUrls(1000)), { 'content-type': 'application/gzip' }),
    }),
    discovery: /a\.xml\.gz larger than/,
  },
  'sitemap sent as a bomb': { answers: () => ({ '/sitemap.xml': bomb() }) },
  'sitemap that is a page': { answers: () => ({ '/sitemap.xml': send(page('Nothing here', ['/from-soft-404'])) }) },
  'sitemap of nested elements': {
    answers: () => ({ '/sitemap.xml': xml(`<urlset>${'<url>'.repeat(100_000)}`) }),
  },
  'sitemap of < signs': { answers: () => ({ '/sitemap.xml': xml(`<urlset>${fill('<')}`) }) },
  'sitemap of one address': {
    answers: (origin) => ({ '/sitemap.xml': urlset([`${origin}/${fill('a')}`, `${origin}/listed`]) }),
    states: { '/listed': 'failed not-found' },
  },
  'sitemap of attributes': { answers: () => ({ '/sitemap.xml': xml(`<urlset ${fill('a="b" ')}>`) }) },
  'sitemap of unclosed sections': { answers: () => ({ '/sitemap.xml': xml(fill('<urlset><![CDATA[<!--<?x ')) }) },
  'sitemap of entities': { answers: (o) => ({ '/sitemap.xml': urlset([`${o}/${fill('&amp;')}`, fill('&#x')]) }) },
  'llms.txt that is a page': {
    answers: () => ({
      '/llms.txt': send(page('Nothing here', ['/from-soft-404'])),
      '/llms-full.txt': plain(page('Nothing here', ['/from-soft-404'])),
    }),
  },
  'llms.txt that leads elsewhere': {
    answers: (_, elsewhere) => ({
      '/llms.txt': plain(
        markdown('Lists', `\n- [a](${elsewhere}/a)\n- [b](file:///etc/passwd)\n- [c](javascript:x)\n- [d](/listed)\n`),
      ),
      '/llms-full.txt': plain(`# Stolen\nSource: ${elsewhere}/stolen\n\nText that is said to be from elsewhere.\n`),
    }),
    states: { '/listed': 'failed not-found' },
    maxRequests: 25,
  },
  'llms.txt that is a bomb': { answers: () => ({ '/llms.txt': bomb(), '/llms-full.txt': bomb() }) },
  ...Object.fromEntries(
    [
      '[',
      '](',
      '[a](',
      '[a](<',
      '- [',
      '> ',
      '#',
      ' #',
      '- ',
      '`',
      '```\n',
      '~~~\n',
      '===\n',
      ' ',
      '\t',
      '\\',
      '(',
      '*_',
      '<!--',
      '\r',
      '\u00a0',
    ]
      .filter(isTried)
      .map((unit): [string, Case] => [
        `llms.txt of ${JSON.stringify(unit)}`,
        {
          answers: () => ({
            '/llms.txt': plain(`# List\n\n- [a](/listed)\n- ${fill(unit)}`),
            '/llms-full.txt': plain(`# Title\nSource: /listed\n\n${fill(unit)}`),
          }),
          maxRequests: 30,
        },
      ]),
  ),
  'llms-full.txt with a long name in a tag': {
    answers: () => ({ '/llms-full.txt': plain(`# Title\n\n<doc ${fill('-')}>\nText.\n</doc>\n`) }),
  },
  'llms-full.txt with a Unicode line separator': {
    answers: () => ({ '/llms-full.txt': plain(`# Title\n\n${fill('`')}\u2028x\n`) }),
  },
  ...Object.fromEntries(
    [
      '---\n',
      '---\nurl: x\n',
      'url: /a\n',
      '# a\nSource: https://h.example/a\n',
      '<doc title="a" url="/a">\n',
      '<doc ',
      '</doc>\n',
      '# [a](/a)\n',
      '# a\n',
      'source:',
      '** ',
      '---\n---\n',
    ]
      .filter(isTried)
      .map((unit): [string, Case] => [
        `llms-full.txt of ${JSON.stringify(unit)}`,
        { answers: () => ({ '/llms-full.txt': plain(`# Title\n\n${fill(unit)}`) }), maxRequests: 30 },
      ]),
  ),
}

/** Sites to crawl together in one process, which must stay within its limits. The long form crawls each llms case alone. */
const GROUPS: readonly (readonly [kind: string, names: readonly string[]])[] = [
  'robots.txt',
  'sitemap',
  'llms',
].flatMap((kind) => {
  const names = Object.keys(CASES).filter((name) => name.startsWith(kind))
  const size = isLong && kind === 'llms' ? 1 : names.length
  const starts = range(Math.ceil(names.length / size)).map((i) => i * size)
  return starts.map((start) => [kind, names.slice(start, start + size)] as const)
})

test.each(GROUPS)('a crawl with a hostile %s ends with the expected states: %j', async (kind, names) => {
  const canary = await openCanary()
  const servers = await Promise.all(names.map((name) => openCase(CASES[name], canary)))
  const run = await crawlHostile(
    servers.map(({ origin }, i) => ({ url: `${origin}/`, scope: CASES[names[i] ?? '']?.scope ?? {} })),
    kind === 'robots.txt' ? SHORT_TIMEOUTS : {},
  )
  const results = servers.map((server, i) => {
    const { states = {}, isClosed = false, discovery = /^/, maxRequests = 20 } = CASES[names[i] ?? ''] ?? {}
    const rows = rowsOf(run, server)
    const expected = isClosed
      ? { '/': 'failed robots-unreachable' }
      : { '/': 'indexed', ...Object.fromEntries(GOOD.map((path) => [path, 'indexed'])), ...states }
    const discovered = run.sources.get(`${server.origin}/`)?.discovered.join('\n') ?? ''
    return {
      name: names[i],
      end: run.sources.get(`${server.origin}/`)?.end,
      states: Object.fromEntries(Object.keys(expected).map((path) => [path, rows[path]])),
      expected,
      isDiscoveryExpected: discovery.test(discovered),
      requests: server.requestedPaths.length <= maxRequests ? 'few' : server.requestedPaths.length,
      hasFollowedErrorPage: server.requestedPaths.includes('/from-soft-404'),
    }
  })
  expect(results).toEqual(
    results.map(({ name, expected }) => {
      const end = CASES[name ?? '']?.isClosed === true ? 'failed' : 'completed'
      return {
        name,
        end,
        states: expected,
        expected,
        isDiscoveryExpected: true,
        requests: 'few',
        hasFollowedErrorPage: false,
      }
    }),
  )
  expect(canary.connections).toBe(0)
})

async function openCase(hostileCase: Case | undefined, canary: RawServer): Promise<RawServer> {
  const server = await openRawServer()
  server.answers.set('/', send(page('Start', [...GOOD, '/private'])))
  for (const path of [...GOOD, '/private']) server.answers.set(path, send(page(`Good ${path}`)))
  server.fallback = (path) => (path.startsWith('/listed/') ? send(page(`Listed ${path}`)) : undefined)
  for (const [path, answer] of Object.entries(hostileCase?.answers(server.origin, canary.origin) ?? {})) {
    server.answers.set(path, answer)
  }
  return server
}

/** `/robots.txt` → `/robots.txt/1` → … */
function chain(path: string, length: number): Record<string, Answerer> {
  return Object.fromEntries(
    range(length).map((i) => [i === 0 ? path : `${path}/${i}`, sendRedirect(`${path}/${i + 1}`)]),
  )
}

function gzippedUrls(bytes: number): Buffer {
  return gzipSync(Buffer.alloc(bytes, '<url><loc>/a</loc></url>'), { level: 1 })
}

let bombBytes: Buffer | undefined

function bomb(): Answerer {
  bombBytes ??= gzipSync(Buffer.alloc(BOMB_BYTES, 'Disallow: /good\n'), { level: 9 })
  return send(bombBytes, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
}
