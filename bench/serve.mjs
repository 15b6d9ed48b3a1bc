// Response times of the crawl server under load.
//
//   npm run bench serve [--only start,loop,streams,search] [--library <path>] [--folder <html>] [--connections 8] [--rounds 10]
//
// start:   POST /api/crawl while another crawl runs
// loop:    event loop delay of the server during a full crawl
// streams: 1,000 event streams on a crawl, 100 of which never read; memory of the server, and delay of events for the others
// search:  GET /api/search with 300 distinct queries, without a cache
//
// The server, the crawls, the site and the load are separate processes. Without a library, `search` crawls the documentation of PostgreSQL,
// from Debian's postgresql-doc-15.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { option, printTable, quantile } from './measure.mjs'

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const LOAD = fileURLToPath(new URL('serve/load.mjs', import.meta.url))
const LOOP_DELAY = new URL('serve/loop-delay.mjs', import.meta.url).href
const SITE = fileURLToPath(new URL('crawl/slow-server.mjs', import.meta.url))
/** Flags that the launcher passes to Node. */
const LAUNCHER_FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=80']
const STARTS = 15
const STREAMS = { readers: 900, stuck: 100 }
const QUERIES = 300

const parts = (option('only') ?? 'start,loop,streams,search').split(',')
const html = option('folder') ?? '/usr/share/doc/postgresql-doc-15/html'
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const rows = []
const children = []
try {
  if (!existsSync(html)) throw new Error(`${html} is missing: install postgresql-doc-15, or give --folder <html>`)
  if (parts.includes('start')) await measureStart()
  if (parts.includes('loop')) await measureLoop()
  if (parts.includes('streams')) await measureStreams()
  if (parts.includes('search')) await measureSearch()
  printTable(['', 'wanted', 'measured', 'met'], rows)
} finally {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true, force: true })
}

/** Time of a start as the caller sees it, while another crawl runs. */
async function measureStart() {
  const server = await openServer('start.db', ['--max-crawls', '4'])
  // The crawl of this site must last longer than all starts.
  const busy = await openSite(200)
  const small = await openSite(0)
  const other = await server.post('/api/crawl', { startUrl: busy, crawlType: 'basic', depth: 20, concurrency: 1 })
  await server.until(other.jobId, ({ metrics }) => metrics.visited > 5)
  const times = []
  for (let i = 0; i < STARTS; i++) {
    const began = performance.now()
    const { jobId } = await server.post('/api/crawl', { startUrl: small, maxPages: 1, crawlType: 'basic' })
    times.push(performance.now() - began)
    await server.until(jobId, ({ status }) => status !== 'running')
  }
  const { status, metrics } = await server.get(`/api/crawls/${other.jobId}`)
  console.log(`start: ${STARTS} starts while a crawl was ${status}, at ${metrics.visited} pages`)
  addMaximum('POST /api/crawl p50, ms', 100, quantile(times, 0.5))
  addFigure('POST /api/crawl max, ms', quantile(times, 1))
  await server.close()
}

/** Event loop delay of the server from the start to the end of a crawl, with clients that watch it. */
async function measureLoop() {
  const server = await openServer('loop.db', [])
  const load = await openLoad(['streams', server.origin, '5', '0'])
  const { jobId } = await server.post('/api/crawl', {
    startUrl: await openSite(0),
    crawlType: 'basic',
    depth: 20,
    concurrency: 8,
  })
  server.child.send('reset')
  const { metrics, startedAt, endedAt } = await server.until(jobId, ({ status }) => status !== 'running')
  const { p50, p99, max } = await server.loopDelay()
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000
  console.log(`loop: a crawl of ${metrics.visited} pages in ${seconds.toFixed(0)} s`)
  addMaximum('event loop delay p99 during a crawl, ms', 50, p99)
  addFigure('event loop delay p50 and max, ms', `${p50.toFixed(1)}, ${max.toFixed(0)}`)
  await load.end()
  await server.close()
}

/** Memory of the server and delay of events with many clients, some of which read nothing. */
async function measureStreams() {
  const server = await openServer('streams.db', [])
  const load = await openLoad(['streams', server.origin, String(STREAMS.readers), String(STREAMS.stuck)])
  const { eventStreams } = await server.get('/api/status')
  const before = server.rss()
  const { jobId } = await server.post('/api/crawl', {
    startUrl: await openSite(0),
    crawlType: 'basic',
    depth: 20,
    concurrency: 8,
  })
  load.child.stdin.write('reset\n')
  server.child.send('reset')
  const memory = [before]
  const { metrics } = await server.until(jobId, ({ status }) => {
    memory.push(server.rss())
    return status !== 'running'
  })
  const { p99 } = await server.loopDelay()
  const received = await load.end()
  const middle = memory[Math.floor(memory.length / 2)]
  console.log(
    `streams: ${eventStreams} open, a crawl of ${metrics.visited} pages, ${received.parts} parts and ${received.megabytes.toFixed(0)} MB received; memory ${before.toFixed(0)} MB before, ${middle.toFixed(0)} in the middle, ${memory.at(-1).toFixed(0)} at the end, ${quantile(memory, 1).toFixed(0)} at most`,
  )
  addFigure('memory, MB: before, max', `${before.toFixed(0)}, ${quantile(memory, 1).toFixed(0)}`)
  addMaximum('growth in the second half of the crawl, MB', 20, memory.at(-1) - middle)
  addFigure('event delay p50, ms', received.p50)
  addMaximum('event delay p99, ms', 1000, received.p99)
  addFigure('event loop delay p99, ms', p99)
  await server.close()
}

/** Searches over several concurrent connections. */
async function measureSearch() {
  const path = option('library')
  const server = await openServer(path ?? 'search.db', [])
  if (path === undefined) {
    const { jobId } = await server.post('/api/sources', { url: await openSite(0), name: 'postgresql' })
    await server.until(jobId, ({ status }) => status !== 'running' && status !== 'queued')
  }
  const queries = await listQueries(server)
  const connections = option('connections') ?? '8'
  const cpuBefore = server.cpuSeconds()
  const load = spawnPiped([LOAD, 'search', server.origin, connections, option('rounds') ?? '10'])
  load.child.stdin.end(queries.join('\n'))
  const { perSecond, p50, p99, share, requestCount } = JSON.parse(await load.line())
  console.log(
    `search: ${queries.length} queries, ${connections} connections, ${(share * 100).toFixed(0)} % with an answer`,
  )
  addMinimum('GET /api/search, requests/s', 200, perSecond)
  addFigure('GET /api/search p50, p99, ms', `${p50.toFixed(1)}, ${p99.toFixed(1)}`)
  // With other load on the machine, CPU time is more reliable than wall time.
  addFigure('CPU time of the server per search, ms', ((server.cpuSeconds() - cpuBefore) / requestCount) * 1000)
  addFigure('memory of the server, MB', server.rss())
  await server.close()
}

/** Titles of pages, spread over all pages. */
async function listQueries(server) {
  const titles = new Set()
  let cursor = ''
  do {
    const page = await server.get(`/api/urls?limit=5000&state=indexed&cursor=${encodeURIComponent(cursor)}`)
    for (const { title } of page.items) if (title) titles.add(title.replace(/^[\d.A-Z]+\.\s+/, '').toLowerCase())
    cursor = page.cursor
  } while (cursor !== null)
  const sorted = [...titles].filter((title) => title.length > 3).sort((a, b) => (a < b ? -1 : 1))
  const step = Math.max(1, sorted.length / QUERIES)
  return [...new Set(Array.from({ length: QUERIES }, (_, i) => sorted[Math.floor(i * step)]))].filter(
    (title) => title !== undefined,
  )
}

/** Starts a server on its own library. */
async function openServer(name, args) {
  const library = name.includes('/') ? name : join(folder, name)
  const child = spawn(
    process.execPath,
    [
      ...LAUNCHER_FLAGS,
      '--import',
      LOOP_DELAY,
      PROGRAM,
      'serve',
      '--library',
      library,
      '--allow-private',
      '--json',
      '--quiet',
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env: { ...process.env, PHAROS_CONFIG: '' } },
  )
  children.push(child)
  const lines = createInterface(child.stdout)
  const { origin } = JSON.parse((await once(lines, 'line'))[0])
  const request = async (path, init) => {
    const response = await fetch(origin + path, init)
    const body = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    return body
  }
  const get = (path) => request(path)
  return {
    origin,
    child,
    get,
    post: (path, body) =>
      request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    /** Waits until a job satisfies a condition. */
    async until(jobId, isMet) {
      for (;;) {
        const job = await get(`/api/crawls/${jobId}`)
        if (isMet(job)) return job
        await sleep(250)
      }
    },
    async loopDelay() {
      child.send('report')
      return (await once(child, 'message'))[0]
    },
    /** Resident memory in megabytes. */
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    cpuSeconds() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
      // Clock ticks are hundredths of a second on every Linux.
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    async close() {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
    },
  }
}

/** Starts a site, and returns its address. */
async function openSite(delayMs) {
  const { line } = spawnPiped([SITE, html, String(delayMs)])
  return `http://127.0.0.1:${await line()}/`
}

/** Starts a load process that runs until it is ended. */
async function openLoad(args) {
  const { child, line } = spawnPiped([LOAD, ...args])
  await line()
  return {
    child,
    /** Ends the load, and returns its measurements. */
    async end() {
      child.stdin.end()
      return JSON.parse(await line())
    },
  }
}

function spawnPiped(args) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return { child, line: async () => (await lines.next()).value }
}

function addMaximum(name, max, measured) {
  rows.push([name, `≤ ${max}`, format(measured), measured <= max ? 'yes' : 'NO'])
}

function addMinimum(name, min, measured) {
  rows.push([name, `≥ ${min}`, format(measured), measured >= min ? 'yes' : 'NO'])
}

function addFigure(name, measured) {
  rows.push([name, '', format(measured), ''])
}

function format(value) {
  return typeof value === 'number' ? value.toFixed(value < 20 ? 1 : 0) : value
}
