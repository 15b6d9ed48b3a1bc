// Crawls hostile sites one after the other, and reports requests, bytes, time and memory with their limits.
//
//   npm run bench hostile [--only <part of a name>] [--program dist/cli/main.js]
//
// This process serves every site on loopback; `pharos add` crawls it in its own process with default settings. Requests and bytes are
// counted at the server, memory by the system. Every site has some good pages, which must all be indexed. Exits with code 1 if a limit is
// exceeded or a good page is missing.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { openLibrary } from '../dist/open-library.js'
import { option, printTable } from './measure.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const program = option('program') ?? join(here, '../dist/cli/main.js')
const only = option('only') ?? ''
/** Default limits of a site. */
const BOUNDS = { requests: 150, megabytes: 5, seconds: 20, memory: 350 }
/** A crawl is ended after this many times its time limit. */
const PATIENCE = 4

const GOOD = numbers(10).map((i) => `/good/${i}`)
const LISTS = /^\/(?:.*\/)?(?:robots\.txt|llms(?:-full)?\.txt|sitemap(?:_index)?\.xml)$|\.md$/

function numbers(length) {
  return Array.from({ length }, (_, i) => i)
}

function html(title, links = [], more = '') {
  const items = links.map((href) => `<li><a href="${href}">Go on</a></li>`).join('')
  return `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>This page is about ${title}, and says enough about it to be read.</p>${more}<ul>${items}</ul></main>`
}

function sitemap(urls, kind = 'urlset') {
  const name = kind === 'urlset' ? 'url' : 'sitemap'
  const body = `<?xml version="1.0"?><${kind}>${urls.map((url) => `<${name}><loc>${url}</loc></${name}>`).join('')}</${kind}>`
  return { type: 'application/xml', body }
}

const text = (body, type = 'text/plain') => ({ type, body })
const moved = (location, status = 302) => ({ status, headers: { location } })
/** A page with the same text whatever it links to. */
const leadOn = (links) => html('one of very many pages', [...links, ...GOOD])
/** A word for a number, so that texts differ in words, not only in digits. */
const wordOf = (number) => String(number).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)])
const noise = (seed) => {
  let state = (seed * 2_654_435_761 + 3) >>> 0
  return numbers(4)
    .map(() => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state.toString(16).padStart(8, '0')
    })
    .join('')
}
const month = (at) => `/calendar/${Math.floor(at / 12)}/${(at % 12) + 1}`
const monthOf = (path) => {
  const [, year = '2026', number = '1'] = /(\d{4})\/(\d{1,2})/.exec(path) ?? []
  return Number(year) * 12 + Number(number) - 1
}
const thisMonth = new Date().getUTCFullYear() * 12 + new Date().getUTCMonth()

/** A site whose start links to good pages and to `links`; `follow` returns the links of every other page. */
const endless = (links, follow, more = {}) => ({
  start: links,
  answer: (path, count) => leadOn(follow(path, count)),
  ...more,
})

/**
 * Each site: `start` holds links of the start besides the good pages, `pages` responses by path, and `answer` the response for every other
 * path; undefined is 404. A response is HTML, parts of a response, or a function that handles request and response itself.
 */
const SITES = {
  // Single bad addresses.
  'a silent, a resetting and a limited address': {
    start: ['/hangs', '/resets', '/limited', ...numbers(40).map((i) => `/more/${i}`)],
    answer: (path) => (path.startsWith('/more/') ? html(`more ${path}`) : undefined),
    pages: () => ({ '/hangs': hang, '/resets': reset, '/limited': limitFirst(1, 2) }),
    bounds: { requests: 80, seconds: 20 },
  },
  'ten silent addresses': {
    start: numbers(10).map((i) => `/hangs/${i}`),
    answer: (path) => (path.startsWith('/hangs/') ? hang : undefined),
    bounds: { requests: 60, seconds: 45 },
  },
  'thirty resetting addresses': {
    start: numbers(30).map((i) => `/resets/${i}`),
    answer: (path) => (path.startsWith('/resets/') ? reset : undefined),
    bounds: { requests: 160, seconds: 30 },
  },
  'an address that says 429 for ever': {
    start: ['/limited'],
    pages: () => ({ '/limited': { status: 429 } }),
    bounds: { requests: 30, seconds: 15 },
  },
  'three addresses that ask for two seconds': {
    start: numbers(3).map((i) => `/limited/${i}`),
    pages: () => Object.fromEntries(numbers(3).map((i) => [`/limited/${i}`, limitFirst(1, 2)])),
    bounds: { requests: 40, seconds: 25 },
  },
  'a hundred addresses that answer 500': {
    start: numbers(100).map((i) => `/fails/${i}`),
    answer: (path) => (path.startsWith('/fails/') ? { status: 500 } : undefined),
    bounds: { requests: 360, seconds: 60 },
  },
  'a start that answers 503 twice': { start: [], pages: () => ({ '/': failFirst(2) }), bounds: { requests: 30 } },
  // Lists.
  'a sitemap of 200,000 dead addresses, with a cap': {
    start: [],
    pages: (origin) => ({ '/sitemap.xml': sitemap(numbers(200_000).map((i) => `${origin}/dead/${i}`)) }),
    args: ['--max-pages', '100'],
    bounds: { requests: 500, megabytes: 15, seconds: 30 },
  },
  'a sitemap of 20,000 dead addresses': {
    start: [],
    pages: (origin) => ({ '/sitemap.xml': sitemap(numbers(20_000).map((i) => `${origin}/dead/${i}`)) }),
    bounds: { requests: 500, seconds: 30 },
  },
  'an llms.txt of 20,000 dead addresses': {
    start: [],
    pages: () => ({
      '/llms.txt': text(
        `# Site\n\n${numbers(20_000)
          .map((i) => `- [x${i}](/dead/${i}.txt)\n`)
          .join('')}`,
      ),
    }),
    bounds: { requests: 500, seconds: 30 },
  },
  'a sitemap of 20,000 addresses that redirect to the start, with a cap': {
    start: [],
    answer: (path) => (path.startsWith('/old/') ? moved('/') : undefined),
    pages: (origin) => ({ '/sitemap.xml': sitemap(numbers(20_000).map((i) => `${origin}/old/${i}`)) }),
    args: ['--max-pages', '20'],
    bounds: { requests: 350, seconds: 30 },
  },
  'a sitemap that names itself': {
    start: [],
    pages: (origin) => ({
      '/sitemap.xml': sitemap([`${origin}/sitemap.xml`, `${origin}/b.xml`], 'sitemapindex'),
      '/b.xml': sitemap([`${origin}/sitemap.xml`], 'sitemapindex'),
    }),
  },
  'sitemaps without end': {
    start: [],
    answer: (path, count, origin) =>
      path.endsWith('.xml')
        ? sitemap([`${origin}/${noise(count)}.xml`, `${origin}/${noise(count + 1e6)}.xml`], 'sitemapindex')
        : undefined,
    bounds: { requests: 200 },
  },
  'a sitemap that is a bomb': {
    start: [],
    pages: (origin) => ({
      '/robots.txt': text(`Sitemap: ${origin}/s.xml.gz`),
      '/s.xml.gz': text(gzipSync(Buffer.alloc(300 * 2 ** 20, 32)), 'application/gzip'),
    }),
  },
  'an llms-full.txt without end': {
    start: [],
    pages: () => ({ '/llms-full.txt': stream('words and more words\n') }),
    bounds: { megabytes: 60, seconds: 30 },
  },
  'a robots.txt of 5 MB': {
    start: [],
    pages: () => ({ '/robots.txt': text(`User-agent: *\n${'# x\n'.repeat(1_250_000)}`) }),
    bounds: { megabytes: 6 },
  },
  // Traps.
  'a calendar by month, with a cap': endless(
    [month(thisMonth)],
    (path) => [month(monthOf(path) - 1), month(monthOf(path) + 1)],
    { args: ['--max-pages', '100'], bounds: { requests: 110 } },
  ),
  'a calendar with numbers in its text': {
    start: [month(thisMonth)],
    answer: (path) => html(`Month ${path.slice(10)}`, [month(monthOf(path) - 1), month(monthOf(path) + 1)]),
    args: ['--max-pages', '100'],
    bounds: { requests: 110 },
  },
  'a calendar by day in the query': endless(['/calendar?date=2026-01-01'], (path) => {
    const at = Date.parse(/date=([\d-]+)/.exec(path)?.[1] ?? '2026-01-01')
    return [1, -1, 30].map((days) => `/calendar?date=${new Date(at + days * 86_400_000).toISOString().slice(0, 10)}`)
  }),
  'session ids in the query': endless(['/trap/page1?sid=1'], (_, count) =>
    [1, 2, 3].map((i) => `/trap/page${i}?sid=${noise(count * 3 + i)}`),
  ),
  'session ids in the path': endless(['/trap/'], (_, count) =>
    [1, 2].map((i) => `/trap/(S(${noise(count * 2 + i).slice(0, 24)}))/page${i}`),
  ),
  'session ids behind a semicolon': endless(['/trap/'], (_, count) =>
    [1, 2].map((i) => `/trap/page${i};jsessionid=${noise(count * 2 + i)}`),
  ),
  'a path that repeats': endless(
    ['/trap/'],
    (path) => [`${path.replace(/\/$/, '')}/trap/next`, `${path.replace(/\/$/, '')}/again`],
    { bounds: { requests: 300 } },
  ),
  'numbers without end': endless(['/trap/1'], (path) => {
    const number = Number(/(\d+)$/.exec(path)?.[1] ?? 0)
    return [`/trap/${number + 1}`, `/trap/${number * 2 + 7}`]
  }),
  'sort orders': endless(['/trap?sort=1'], (_, count) =>
    [1, 2, 3].map((i) => `/trap?sort=${i % 3}&page=${count + i}&order=${count % 7}`),
  ),
  'the same at 5,000 addresses': {
    start: numbers(5000).map((i) => `/same/${i}`),
    answer: (path) => (path.startsWith('/same/') ? html('the same') : undefined),
  },
  'pages that say 404 and answer 200': {
    start: numbers(2000).map((i) => `/nothing/${i}`),
    answer: (path) => (LISTS.test(path) ? undefined : html('404 Page not found')),
  },
  'redirects without end': {
    start: ['/go/0'],
    answer: (path, count) => (path.startsWith('/go/') ? moved(`/go/${count}`) : undefined),
  },
  'redirects in a circle': {
    start: ['/a'],
    pages: () => ({ '/a': moved('/b'), '/b': moved('/c'), '/c': moved('/a') }),
  },
  'redirects to other places': {
    start: ['/file', '/script', '/metadata'],
    pages: () => ({
      '/file': moved('file:///etc/passwd'),
      '/script': moved('javascript:alert(1)'),
      '/metadata': moved('http://169.254.169.254/latest/'),
    }),
  },
  '100,000 dead links, with a cap': {
    start: numbers(100_000).map((i) => `/dead/${i}`),
    args: ['--max-pages', '20'],
    bounds: { requests: 350, megabytes: 10, seconds: 60, memory: 450 },
  },
  // Bodies.
  'a body without end': {
    start: ['/endless'],
    pages: () => ({ '/endless': stream('<p>words and more words</p>\n') }),
    bounds: { megabytes: 40, seconds: 40 },
  },
  'a body that is a bomb': {
    start: ['/bomb'],
    pages: () => ({
      '/bomb': { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(300 * 2 ** 20, 32)) },
    }),
  },
  'a body that comes byte by byte': { start: ['/drip'], pages: () => ({ '/drip': drip }), bounds: { seconds: 45 } },
  'a header without end': {
    start: ['/header'],
    pages: () => ({ '/header': { headers: { 'x-long': 'x'.repeat(200_000) }, body: '' } }),
  },
  'a length that is wrong': {
    start: ['/short'],
    pages: () => ({ '/short': { headers: { 'content-length': '100000' }, body: 'short', isCut: true } }),
    bounds: { seconds: 30 },
  },
  'a page of one long line': {
    start: ['/line'],
    pages: () => ({ '/line': html('a line', [], `<p>${'word '.repeat(500_000)}</p>`) }),
    bounds: { memory: 500 },
  },
}

const folder = mkdtempSync(join(tmpdir(), 'pharos-hostile-'))
const rows = []
let isWithin = true
try {
  for (const [name, site] of Object.entries(SITES)) if (name.includes(only)) await crawlSite(name, site)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
printTable(['site', 'requests', 'most', 'MB', 'most', 's', 'most', 'peak MB', 'most', 'good', 'within'], rows)
console.log(`\n${rows.length} sites, ${isWithin ? 'all within their bounds' : 'NOT all within their bounds'}`)
process.exitCode = isWithin ? 0 : 1

async function crawlSite(name, site) {
  const server = await serve(site)
  const library = join(folder, `${rows.length}.db`)
  const bounds = { ...BOUNDS, ...site.bounds }
  const args = ['add', `${server.origin}/`, '--library', library, '--no-embed', '--allow-private', ...(site.args ?? [])]
  const { wall, peakKilobytes } = await run(args, bounds.seconds * PATIENCE)
  const requests = server.requests()
  const megabytes = server.bytes() / 2 ** 20
  await server.close()
  const good = await countGood(library, server.origin)
  const peak = peakKilobytes / 1024
  const isGood =
    good === GOOD.length &&
    requests <= bounds.requests &&
    megabytes <= bounds.megabytes &&
    wall <= bounds.seconds &&
    peak <= bounds.memory
  isWithin &&= isGood
  const figures = [requests, bounds.requests, megabytes.toFixed(1), bounds.megabytes, wall.toFixed(1), bounds.seconds]
  rows.push([name, ...figures, peak.toFixed(0), bounds.memory, `${good}/${GOOD.length}`, isGood ? 'yes' : 'NO'])
  console.error(`${isGood ? 'ok' : 'NO'}  ${name}`)
}

/** Runs the program to its end, or until the time limit. */
async function run(args, seconds) {
  const begun = performance.now()
  const child = spawn(process.execPath, [program, ...args], { stdio: 'ignore' })
  const timer = setTimeout(() => child.kill('SIGINT'), seconds * 1000)
  let peakKilobytes = 0
  const watch = setInterval(() => {
    peakKilobytes = Math.max(peakKilobytes, readPeak(child.pid))
  }, 25)
  await new Promise((resolve) => child.on('close', resolve))
  clearInterval(watch)
  clearTimeout(timer)
  return { wall: (performance.now() - begun) / 1000, peakKilobytes }
}

/** Peak memory of a running process; 0 once it has ended. Resource usage would include memory of its parent. */
function readPeak(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return 0
    throw error
  }
}

async function countGood(path, origin) {
  const library = await openLibrary({ path, version: '0.0.0' })
  try {
    const [source] = await library.store.listSources()
    if (source === undefined) return 0
    const states = await Promise.all(GOOD.map((good) => library.store.findRow(source.id, origin + good)))
    return states.filter((row) => row?.state === 'indexed').length
  } finally {
    await library.close()
  }
}

async function serve({ start, pages, answer }) {
  let count = 0
  let bytes = 0
  let origin = ''
  let known = {}
  const sockets = new Set()
  const server = createServer((request, response) => {
    count++
    const path = request.url ?? '/'
    const given = known[path] ?? (GOOD.includes(path) ? html(`Good ${wordOf(path)}`) : undefined) ?? homeAt(path)
    const found = given ?? (LISTS.test(path) && !path.endsWith('.xml') ? undefined : answer?.(path, count, origin))
    send(request, response, found ?? { status: 404, type: 'text/plain', body: 'not found' })
  })
  const homeAt = (path) => (path === '/' ? html('Home', [...GOOD, ...start]) : undefined)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      bytes += socket.bytesWritten
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${server.address().port}`
  known = pages?.(origin) ?? {}
  // On these sites the start itself fails at first.
  const home = known['/']
  if (home?.thenHome) known['/'] = home.thenHome(() => homeAt('/'))
  return {
    origin,
    requests: () => count,
    bytes: () => bytes + [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

function send(request, response, answer) {
  const given = typeof answer === 'function' ? answer(request, response) : answer
  if (given === undefined) return
  const {
    status = 200,
    type = 'text/html; charset=utf-8',
    headers = {},
    body = '',
    isCut = false,
  } = typeof given === 'string' ? { body: given } : given
  response.writeHead(status, { 'content-type': type, ...headers })
  if (!isCut) return response.end(body)
  response.write(body, () => response.destroy())
}

function hang() {
  return undefined
}

function reset(request) {
  request.socket.resetAndDestroy()
}

function limitFirst(times, seconds) {
  let asked = 0
  return () =>
    ++asked <= times ? { status: 429, headers: { 'retry-after': String(seconds) } } : html('no limit any more')
}

function failFirst(times) {
  let asked = 0
  return { thenHome: (home) => () => (++asked <= times ? { status: 503 } : home()) }
}

function stream(piece) {
  const block = piece.repeat(3000)
  return (_request, response) => {
    response.writeHead(200, { 'content-type': piece.startsWith('<') ? 'text/html' : 'text/plain' })
    const write = () => {
      while (!response.destroyed && response.write(block));
    }
    response.on('drain', write)
    write()
  }
}

function drip(_request, response) {
  response.writeHead(200, { 'content-type': 'text/html' })
  const timer = setInterval(() => response.write('x'), 200)
  response.on('close', () => clearInterval(timer))
}
