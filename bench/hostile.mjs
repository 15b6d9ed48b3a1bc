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
/** Limits that apply unless a site sets its own. */
const BOUNDS = { requests: 150, megabytes: 5, seconds: 20, memory: 350 }
/** A crawl is stopped after its time limit multiplied by this factor. */
const STOP_FACTOR = 4

const GOOD = numbers(10).map((i) => `/good/${i}`)
/** Paths that a crawler requests even if no page links to them. */
const PROBED_PATHS = /^\/(?:.*\/)?(?:robots\.txt|llms(?:-full)?\.txt|sitemap(?:_index)?\.xml)$|\.md$/

function numbers(length) {
  return Array.from({ length }, (_, i) => i)
}

function html(title, links = [], content = '') {
  const items = links.map((href) => `<li><a href="${href}">Go on</a></li>`).join('')
  return `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>This page is about ${title}, and says enough about it to be read.</p>${content}<ul>${items}</ul></main>`
}

function sitemap(urls, kind = 'urlset') {
  const name = kind === 'urlset' ? 'url' : 'sitemap'
  const body = `<?xml version="1.0"?><${kind}>${urls.map((url) => `<${name}><loc>${url}</loc></${name}>`).join('')}</${kind}>`
  return { type: 'application/xml', body }
}

const text = (body, type = 'text/plain') => ({ type, body })
const redirect = (location, status = 302) => ({ status, headers: { location } })
/** A page whose text does not depend on its links. */
const samePage = (links) => html('one of very many pages', [...links, ...GOOD])
/** A word for a number, so that texts differ in words, not only in digits. */
const wordOf = (number) => String(number).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)])
/** 32 pseudo-random hexadecimal digits. */
const noise = (seed) => {
  let state = (seed * 2_654_435_761 + 3) >>> 0
  return numbers(4)
    .map(() => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state.toString(16).padStart(8, '0')
    })
    .join('')
}
const monthPath = (months) => `/calendar/${Math.floor(months / 12)}/${(months % 12) + 1}`
const monthOf = (path) => {
  const [, year = '2026', number = '1'] = /(\d{4})\/(\d{1,2})/.exec(path) ?? []
  return Number(year) * 12 + Number(number) - 1
}
const thisMonth = new Date().getUTCFullYear() * 12 + new Date().getUTCMonth()

/** A site whose start page links to good pages and to `links`; `follow` returns the links of every other page. */
const endless = (links, follow, settings = {}) => ({
  start: links,
  answer: (path, count) => samePage(follow(path, count)),
  ...settings,
})

/**
 * `start` holds the links of the start page besides the good pages. `pages` returns responses by path, and `answer` the response for every
 * other path; undefined becomes 404. A response is HTML, an object with its parts, or a function that gets request and response.
 */
const SITES = {
  // Single bad addresses.
  'an address that hangs, one that resets, one that is rate-limited': {
    start: ['/hangs', '/resets', '/limited', ...numbers(40).map((i) => `/more/${i}`)],
    answer: (path) => (path.startsWith('/more/') ? html(`more ${path}`) : undefined),
    pages: () => ({ '/hangs': hang, '/resets': reset, '/limited': limitFirst(1, 2) }),
    bounds: { requests: 80, seconds: 20 },
  },
  'ten addresses that hang': {
    start: numbers(10).map((i) => `/hangs/${i}`),
    answer: (path) => (path.startsWith('/hangs/') ? hang : undefined),
    bounds: { requests: 60, seconds: 45 },
  },
  'thirty addresses that reset the connection': {
    start: numbers(30).map((i) => `/resets/${i}`),
    answer: (path) => (path.startsWith('/resets/') ? reset : undefined),
    bounds: { requests: 160, seconds: 30 },
  },
  'an address that always answers 429': {
    start: ['/limited'],
    pages: () => ({ '/limited': { status: 429 } }),
    bounds: { requests: 30, seconds: 15 },
  },
  'three addresses that ask for a pause of two seconds': {
    start: numbers(3).map((i) => `/limited/${i}`),
    pages: () => Object.fromEntries(numbers(3).map((i) => [`/limited/${i}`, limitFirst(1, 2)])),
    bounds: { requests: 40, seconds: 25 },
  },
  'a hundred addresses that answer 500': {
    start: numbers(100).map((i) => `/fails/${i}`),
    answer: (path) => (path.startsWith('/fails/') ? { status: 500 } : undefined),
    bounds: { requests: 360, seconds: 60 },
  },
  'a start page that answers 503 twice': { start: [], pages: () => ({ '/': failFirst(2) }), bounds: { requests: 30 } },
  // Lists.
  'a sitemap of 200,000 dead addresses, with a page limit': {
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
  'a sitemap of 20,000 redirects to the start page, with a page limit': {
    start: [],
    answer: (path) => (path.startsWith('/old/') ? redirect('/') : undefined),
    pages: (origin) => ({ '/sitemap.xml': sitemap(numbers(20_000).map((i) => `${origin}/old/${i}`)) }),
    args: ['--max-pages', '20'],
    bounds: { requests: 350, seconds: 30 },
  },
  'a sitemap that lists itself': {
    start: [],
    pages: (origin) => ({
      '/sitemap.xml': sitemap([`${origin}/sitemap.xml`, `${origin}/b.xml`], 'sitemapindex'),
      '/b.xml': sitemap([`${origin}/sitemap.xml`], 'sitemapindex'),
    }),
  },
  'endless sitemaps': {
    start: [],
    answer: (path, count, origin) =>
      path.endsWith('.xml')
        ? sitemap([`${origin}/${noise(count)}.xml`, `${origin}/${noise(count + 1e6)}.xml`], 'sitemapindex')
        : undefined,
    bounds: { requests: 200 },
  },
  'a sitemap that is a gzip bomb': {
    start: [],
    pages: (origin) => ({
      '/robots.txt': text(`Sitemap: ${origin}/s.xml.gz`),
      '/s.xml.gz': text(gzipSync(Buffer.alloc(300 * 2 ** 20, 32)), 'application/gzip'),
    }),
  },
  'an endless llms-full.txt': {
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
  'a calendar by month, with a page limit': endless(
    [monthPath(thisMonth)],
    (path) => [monthPath(monthOf(path) - 1), monthPath(monthOf(path) + 1)],
    { args: ['--max-pages', '100'], bounds: { requests: 110 } },
  ),
  'a calendar with numbers in its text': {
    start: [monthPath(thisMonth)],
    answer: (path) => html(`Month ${path.slice(10)}`, [monthPath(monthOf(path) - 1), monthPath(monthOf(path) + 1)]),
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
  'session ids after a semicolon': endless(['/trap/'], (_, count) =>
    [1, 2].map((i) => `/trap/page${i};jsessionid=${noise(count * 2 + i)}`),
  ),
  'a path that repeats': endless(
    ['/trap/'],
    (path) => [`${path.replace(/\/$/, '')}/trap/next`, `${path.replace(/\/$/, '')}/again`],
    { bounds: { requests: 300 } },
  ),
  'endless page numbers': endless(['/trap/1'], (path) => {
    const number = Number(/(\d+)$/.exec(path)?.[1] ?? 0)
    return [`/trap/${number + 1}`, `/trap/${number * 2 + 7}`]
  }),
  'sort orders': endless(['/trap?sort=1'], (_, count) =>
    [1, 2, 3].map((i) => `/trap?sort=${i % 3}&page=${count + i}&order=${count % 7}`),
  ),
  'the same page at 5,000 addresses': {
    start: numbers(5000).map((i) => `/same/${i}`),
    answer: (path) => (path.startsWith('/same/') ? html('the same') : undefined),
  },
  'pages that show 404 but answer 200': {
    start: numbers(2000).map((i) => `/nothing/${i}`),
    answer: (path) => (PROBED_PATHS.test(path) ? undefined : html('404 Page not found')),
  },
  'endless redirects': {
    start: ['/go/0'],
    answer: (path, count) => (path.startsWith('/go/') ? redirect(`/go/${count}`) : undefined),
  },
  'redirects in a circle': {
    start: ['/a'],
    pages: () => ({ '/a': redirect('/b'), '/b': redirect('/c'), '/c': redirect('/a') }),
  },
  'redirects to a file, a script and a metadata service': {
    start: ['/file', '/script', '/metadata'],
    pages: () => ({
      '/file': redirect('file:///etc/passwd'),
      '/script': redirect('javascript:alert(1)'),
      '/metadata': redirect('http://169.254.169.254/latest/'),
    }),
  },
  '100,000 dead links, with a page limit': {
    start: numbers(100_000).map((i) => `/dead/${i}`),
    args: ['--max-pages', '20'],
    bounds: { requests: 350, megabytes: 10, seconds: 60, memory: 450 },
  },
  // Bodies.
  'an endless body': {
    start: ['/endless'],
    pages: () => ({ '/endless': stream('<p>words and more words</p>\n') }),
    bounds: { megabytes: 40, seconds: 40 },
  },
  'a body that is a gzip bomb': {
    start: ['/bomb'],
    pages: () => ({
      '/bomb': { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(300 * 2 ** 20, 32)) },
    }),
  },
  'a body that arrives byte by byte': { start: ['/drip'], pages: () => ({ '/drip': drip }), bounds: { seconds: 45 } },
  'a header of 200,000 characters': {
    start: ['/header'],
    pages: () => ({ '/header': { headers: { 'x-long': 'x'.repeat(200_000) }, body: '' } }),
  },
  'a wrong Content-Length': {
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
let areAllWithin = true
try {
  for (const [name, site] of Object.entries(SITES)) if (name.includes(only)) await crawlSite(name, site)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
printTable(['site', 'requests', 'max', 'MB', 'max', 's', 'max', 'peak MB', 'max', 'good pages', 'within'], rows)
console.log(`\n${rows.length} sites, ${areAllWithin ? 'all within their limits' : 'NOT all within their limits'}`)
process.exitCode = areAllWithin ? 0 : 1

async function crawlSite(name, site) {
  const server = await serve(site)
  const library = join(folder, `${rows.length}.db`)
  const bounds = { ...BOUNDS, ...site.bounds }
  const args = ['add', `${server.origin}/`, '--library', library, '--no-embed', '--allow-private', ...(site.args ?? [])]
  const { wall, peakKilobytes } = await run(args, bounds.seconds * STOP_FACTOR)
  const requests = server.requests()
  const megabytes = server.bytes() / 2 ** 20
  await server.close()
  const good = await countGood(library, server.origin)
  const peak = peakKilobytes / 1024
  const isWithin =
    good === GOOD.length &&
    requests <= bounds.requests &&
    megabytes <= bounds.megabytes &&
    wall <= bounds.seconds &&
    peak <= bounds.memory
  areAllWithin &&= isWithin
  const figures = [requests, bounds.requests, megabytes.toFixed(1), bounds.megabytes, wall.toFixed(1), bounds.seconds]
  rows.push([name, ...figures, peak.toFixed(0), bounds.memory, `${good}/${GOOD.length}`, isWithin ? 'yes' : 'NO'])
  console.error(`${isWithin ? 'ok' : 'NO'}  ${name}`)
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

/** Peak memory of a running process in kilobytes; 0 after it has ended. Resource usage would include the memory of its parent. */
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
  let responses = {}
  const sockets = new Set()
  const server = createServer((request, response) => {
    count++
    const path = request.url ?? '/'
    const fixed = responses[path] ?? (GOOD.includes(path) ? html(`Good ${wordOf(path)}`) : undefined) ?? homeAt(path)
    const isMissing = PROBED_PATHS.test(path) && !path.endsWith('.xml')
    const found = fixed ?? (isMissing ? undefined : answer?.(path, count, origin))
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
  responses = pages?.(origin) ?? {}
  // A site with `failFirst` for its start page fails there at first.
  const home = responses['/']
  if (home?.thenHome) responses['/'] = home.thenHome(() => homeAt('/'))
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
  const content = typeof answer === 'function' ? answer(request, response) : answer
  if (content === undefined) return
  const {
    status = 200,
    type = 'text/html; charset=utf-8',
    headers = {},
    body = '',
    isCut = false,
  } = typeof content === 'string' ? { body: content } : content
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
  let requestCount = 0
  return () =>
    ++requestCount <= times ? { status: 429, headers: { 'retry-after': String(seconds) } } : html('no longer limited')
}

function failFirst(times) {
  let requestCount = 0
  return { thenHome: (home) => () => (++requestCount <= times ? { status: 503 } : home()) }
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
