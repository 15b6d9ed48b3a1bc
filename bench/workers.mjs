// Cost and benefit of many workers on one library.
//
//   npm run bench workers [--parts cpu,speed] [--rounds 3] [--sites 8] [--pages 150] [--hosts 12] [--slow-pages 200]
//
// cpu: CPU seconds per page with one, two and four workers that read the same sites, one crawl at a time each; PostgreSQL separately
// speed: pages per second of one source on many hosts that take 300 ms, one request at a time, with one and two workers of six hosts each
//
// The database, the server, the workers, their crawls and the sites are separate processes. CPU time of a worker counts from the first job
// on; that of a crawl includes its start.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../test/postgres/server.ts'
import { option, printTable, quantile } from './measure.mjs'
import { readTreeCpuSeconds } from './process-usage.mjs'

const PROGRAM = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const SITES = fileURLToPath(new URL('workers/sites.mjs', import.meta.url))
/** Links per page of the sites; all addresses of the source on many hosts are known from the start. */
const LINKS = 10
const MAX_CPU_RATIO = 1.15
const MIN_SPEED_RATIO = 1.6
const RESPONSE_MS = 300
/** A host with this crawl delay gets one request at a time. */
const CRAWL_DELAY_S = 0.3
const HOSTS_PER_WORKER = 6

const parts = (option('parts') ?? 'cpu,speed').split(',')
const rounds = number('rounds', 3)
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const children = new Set()
try {
  if (parts.includes('cpu')) await measureCpu()
  if (parts.includes('speed')) await measureSpeed()
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}

/** The same work for one, two and four workers; the rounds alternate, because other load varies. */
async function measureCpu() {
  const [sites, pages] = [number('sites', 8), number('pages', 150)]
  const counts = [1, 2, 4]
  const measured = new Map(counts.map((count) => [count, []]))
  const origins = await openSites(sites, pages, LINKS, 0, 0)
  for (let round = 0; round < rounds; round++) {
    for (const count of counts) measured.get(count).push(await readSites(origins, pages, count))
  }
  const [one] = counts
  const medianOf = (count, name) =>
    quantile(
      measured.get(count).map((run) => run[name]),
      0.5,
    )
  console.log(`\ncpu: ${sites} sites of ${pages} pages, median of ${rounds} rounds, load ${showLoad()}`)
  printTable(
    ['workers', 'CPU ms a page', '÷ one worker', 'wanted', 'PostgreSQL', '÷ one worker', 'seconds'],
    counts.map((count) => [
      count,
      (medianOf(count, 'cpu') * 1000).toFixed(1),
      (medianOf(count, 'cpu') / medianOf(one, 'cpu')).toFixed(2),
      count === one ? '' : `≤ ${MAX_CPU_RATIO}`,
      (medianOf(count, 'database') * 1000).toFixed(1),
      (medianOf(count, 'database') / medianOf(one, 'database')).toFixed(2),
      medianOf(count, 'seconds').toFixed(1),
    ]),
  )
}

async function readSites(origins, pages, count) {
  return withWorkers(count, ['--max-crawls', '1'], async ({ server, workers, database }) => {
    const usage = () => ({
      cpu: workers.reduce((sum, pid) => sum + readTreeCpuSeconds(pid), 0),
      database: readTreeCpuSeconds(database),
    })
    const before = usage()
    const began = performance.now()
    const jobs = []
    for (const origin of origins) jobs.push((await server.post('/api/sources', { url: `${origin}/` })).jobId)
    for (const id of jobs) await server.untilDone(id, pages)
    const seconds = (performance.now() - began) / 1000
    const after = usage()
    const visits = origins.length * pages
    return { cpu: (after.cpu - before.cpu) / visits, database: (after.database - before.database) / visits, seconds }
  })
}

/** One source on many hosts, as fast as they allow. */
async function measureSpeed() {
  const [hosts, pages] = [number('hosts', 2 * HOSTS_PER_WORKER), number('slow-pages', 200)]
  const origins = await openSites(hosts, pages, 0, RESPONSE_MS, CRAWL_DELAY_S)
  const counts = [1, 2]
  const measured = new Map(counts.map((count) => [count, []]))
  for (let round = 0; round < rounds; round++) {
    for (const count of counts) measured.get(count).push(await readSource(origins, pages, count))
  }
  const medianOf = (count) => quantile(measured.get(count), 0.5)
  console.log(
    `\nspeed: ${hosts} hosts of ${pages} pages, ${HOSTS_PER_WORKER} hosts a worker, median of ${rounds} rounds, load ${showLoad()}`,
  )
  printTable(
    ['workers', 'pages a second', '÷ one worker', 'wanted'],
    counts.map((count) => [
      count,
      medianOf(count).toFixed(1),
      (medianOf(count) / medianOf(1)).toFixed(2),
      count === 1 ? '' : `≥ ${MIN_SPEED_RATIO}`,
    ]),
  )
}

async function readSource(origins, pages, count) {
  const flags = ['--max-crawls', '1', '--hosts', String(HOSTS_PER_WORKER)]
  return withWorkers(count, flags, async ({ server, address }) => {
    const id = await insertSource(address, origins, pages)
    const began = performance.now()
    const { jobId } = await server.post(`/api/sources/${id}/recrawl`)
    await server.untilDone(jobId, origins.length * pages)
    return (origins.length * pages) / ((performance.now() - began) / 1000)
  })
}

/** Records a source whose addresses are all known, and returns its id. */
async function insertSource(path, origins, pages) {
  const { openLibrary } = await import('../dist/open-library.js')
  const { addSource } = await import('../dist/library/crawl/add-source.js')
  const library = await openLibrary({ path, version: '0' })
  try {
    const source = await addSource(library, { url: `${origins[0]}/` })
    const finds = origins.flatMap((origin) =>
      Array.from({ length: pages }, (_, at) => findOf(`${origin}/${at === 0 ? '' : at}`)),
    )
    await library.store.offer(source.id, 'bench', finds, library.clock.now())
    return source.id
  } finally {
    await library.close()
  }
}

function findOf(url) {
  const { host } = new URL(url)
  return { key: url, url, host, depth: 0, foundOn: null, discovery: 'manual', refusal: null }
}

/** Starts a database, a server that runs no crawls itself, and workers; calls `use`; then stops all of them. */
async function withWorkers(count, flags, use) {
  const postgres = startPostgres()
  const started = []
  try {
    const address = postgres.addressOf('postgres')
    const server = await openServer(address)
    started.push(server.child)
    const workers = []
    for (let i = 0; i < count; i++) workers.push(start(['worker', ...flags], address))
    started.push(...workers.map(({ child }) => child))
    // Each worker prints a line when it is ready.
    for (const { line } of workers) await line()
    const pids = workers.map(({ child }) => child.pid)
    return await use({ address, server, workers: pids, database: postgres.pid })
  } finally {
    for (const child of started.reverse()) {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      children.delete(child)
    }
    postgres.stop()
  }
}

async function openServer(address) {
  const { child, line } = start(['serve', '--workers', '0', '--quiet', '--port', '0'], address)
  const { origin } = JSON.parse(await line())
  const request = async (path, init) => {
    const response = await fetch(origin + path, init)
    const body = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    child,
    post: (path, body = {}) =>
      request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    async untilDone(jobId, pages) {
      for (;;) {
        const { status, visited, problem } = await request(`/api/crawls/${jobId}`)
        if (status === 'done' && visited >= pages) return
        if (status !== 'queued' && status !== 'running') throw new Error(`${status}: ${visited} pages, ${problem}`)
        await sleep(250)
      }
    },
  }
}

async function openSites(...args) {
  const child = spawn(process.execPath, [SITES, ...args.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const [line] = await once(createInterface(child.stdout), 'line')
  return JSON.parse(line)
}

/** Starts the program on a library. */
function start(args, library) {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, PHAROS_CONFIG: '', PHAROS_LIBRARY: library, PHAROS_ALLOW_PRIVATE: '127.0.0.0/8' },
  })
  children.add(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return { child, line: async () => (await lines.next()).value }
}

function number(name, fallback) {
  return Number(option(name) ?? fallback)
}

function showLoad() {
  return loadavg()[0].toFixed(1)
}
