// Crawls real documentation sites from this machine and reports pages per second, CPU time and memory, compared with named peers.
//
//   npm run bench crawl [--only pharos,embed,scrapy,crawlee,fetch,latency,reach,polite] [--program dist/cli/main.js]
//
// The sites come from two Debian packages (postgresql-doc-15, python3.11-doc), served by a local nginx; requests and pages are counted in
// its log. Every contender runs in its own process, one after the other:
//   pharos   the whole job: fetch, extract, chunk, index, store; then a recrawl of the unchanged site, with a request for every page
//   embed    alternately with and without embedding: pages per second until the last page; all other parts run without embedding
//   scrapy   follows every link, one item per page, without text extraction or storage
//   crawlee  @crawlee/cheerio and turndown: follows every link, converts whole pages to Markdown, without storage
//   fetch    our client alone, on known addresses
//   latency  pharos again, from a server that delays every response by 50 ms
//   polite   the Python site at one page per second, with embedding: time from the last page until every chunk has its vector;
//            runs only when named, because it takes nine minutes
//   reach    pages that pharos found on both sites, compared with `wget -r`
// Wall time runs from the start of a process to its end. nginx uses part of the machine too; CPU seconds exclude it.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openLibrary } from '../dist/open-library.js'
import { isInstalled, isPage, startNginx } from './crawl/nginx.mjs'
import { option, printTable } from './measure.mjs'

const SITES = {
  'postgresql-doc-15': '/usr/share/doc/postgresql-doc-15/html',
  'python3.11-doc': '/usr/share/doc/python3.11/html',
}
const [site] = Object.values(SITES)
/** Number of runs with embedding, and of runs without. */
const EMBED_RUNS = 4
/** Reasons why a page that was read is not indexed under this address. */
const REPEATED = new Set(['duplicate', 'redirect', 'canonical'])
const parts = (option('only') ?? 'pharos,embed,scrapy,crawlee,fetch,latency,reach').split(',')
/** `latency` and `polite` use their own server. */
const usesNginx = parts.some((part) => !['latency', 'polite'].includes(part))
const here = fileURLToPath(new URL('.', import.meta.url))
const program = option('program') ?? join(here, '../dist/cli/main.js')
/** Options and environment with which the launcher starts a crawl. */
const LAUNCHER_FLAGS = [
  '--min-semi-space-size=1',
  '--max-semi-space-size=8',
  '--heap-growing-percent=50',
  '--v8-pool-size=2',
]
const LAUNCHER_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' }
const pharos = (...args) => [process.execPath, ...LAUNCHER_FLAGS, program, ...args, '--allow-private']
const script = (name, ...args) => [process.execPath, join(here, 'crawl', name), ...args]
const megabytes = (kilobytes) => (kilobytes === undefined ? '' : (kilobytes / 1024).toFixed(0))

checkInstalled()
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const report = join(folder, 'usage.json')
const rows = []
const targets = []
const stops = []
try {
  const server = usesNginx ? await start(site) : undefined
  if (parts.includes('pharos')) await measurePharos(server)
  if (parts.includes('embed')) await measureEmbedding(server)
  if (parts.includes('scrapy')) {
    const args = [join(here, 'crawl/spider.py'), server.url, report]
    await measure('scrapy, no indexing', ['/usr/bin/python3', ...args], server)
  }
  if (parts.includes('crawlee'))
    await measure('crawlee + turndown, no indexing', script('crawlee.mjs', server.url), server)
  if (parts.includes('fetch')) {
    const names = readdirSync(site).filter((name) => name.endsWith('.html'))
    writeFileSync(join(folder, 'urls'), names.map((name) => `${server.url}${name}`).join('\n'))
    await measure('fetch alone', script('fetch-loop.mjs', join(folder, 'urls')), server)
  }
  if (parts.includes('latency')) await measureLatency()
  if (parts.includes('polite')) await measurePolite()
  if (rows.length > 0) {
    const header = [
      '',
      'pages',
      'requests',
      '304',
      'wall s',
      'pages/s',
      'CPU s',
      'pages/CPU s',
      'peak MB',
      'MB at 500',
      'MB at end',
    ]
    printTable(header, rows)
  }
  if (targets.length > 0) {
    console.log()
    printTable(['target', 'wanted', 'measured', 'met'], targets)
  }
  if (parts.includes('reach')) for (const [name, root] of Object.entries(SITES)) await compareReach(name, root)
} finally {
  for (const stop of stops.reverse()) await stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measurePharos(server) {
  const library = join(folder, 'library.db')
  const first = await measure('pharos', pharos('add', server.url, '--library', library, '--no-embed'), server)
  addTarget('pages/s', 150, first.pages / first.wall)
  addTarget('pages/CPU s', 130, first.pages / first.cpuSeconds)
  addTarget('peak MB', -150, first.peakKilobytes / 1024)
  // Memory counts as constant if it grows by at most a tenth.
  addTarget('MB at the end ÷ at 500 pages', -1.1, first.kilobytesAtEnd / first.kilobytesAt500, 2)
  const again = await measure(
    'pharos, nothing changed',
    pharos('recrawl', server.url, '--library', library, '--no-embed'),
    server,
  )
  addTarget('pages/s, nothing changed', 1000, again.pages / again.wall)
  addTarget('unchanged pages answered with 304', again.pages, again.unchanged)
}

/** Crawls alternately with and without embedding. Does not wait for embedding after the last page. */
async function measureEmbedding(server) {
  const rates = { '--embed': [], '--no-embed': [] }
  for (let i = 0; i < 2 * EMBED_RUNS; i++) {
    const flag = i % 4 === 0 || i % 4 === 3 ? '--no-embed' : '--embed'
    const library = join(folder, `embed-${i}.db`)
    const [command, ...args] = pharos('add', server.url, '--library', library, '--json', flag)
    const child = spawn(command, args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
    const line = await new Promise((resolve) => createInterface(child.stdout).once('line', resolve))
    child.kill('SIGINT')
    await new Promise((resolve) => child.once('close', resolve))
    const { indexed, elapsed_ms: elapsedMs } = JSON.parse(line).run
    rates[flag].push((1000 * indexed) / elapsedMs)
  }
  const [embedding, plain] = Object.values(rates).map((all) => all.sort((a, b) => a - b)[all.length >> 1])
  rows.push(['pharos, until the last page, embedding', '', '', '', '', embedding.toFixed(0), '', '', '', '', ''])
  rows.push(['pharos, until the last page, not embedding', '', '', '', '', plain.toFixed(0), '', '', '', '', ''])
  addTarget('pages/s embedding ÷ not embedding', 0.95, embedding / plain, 2)
}

/** Crawls at one page per second, and measures how long embedding continues after the last page. */
async function measurePolite() {
  const url = await startSlowServer(SITES['python3.11-doc'], 0, 1)
  const library = join(folder, 'polite.db')
  const [command, ...args] = pharos('add', url, '--library', library, '--json', '--embed')
  const child = spawn(command, args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const line = await new Promise((resolve) => createInterface(child.stdout).once('line', resolve))
  const lastPageAt = performance.now()
  const code = await closed
  const embedSeconds = (performance.now() - lastPageAt) / 1000
  if (code !== 0) throw new Error(`the crawl at one page a second ended with ${code}`)
  const { indexed, elapsed_ms: elapsedMs } = JSON.parse(line).run
  const wall = elapsedMs / 1000
  const columns = [wall.toFixed(1), (indexed / wall).toFixed(1), '', '', '', '', '']
  rows.push(['pharos, at one page a second', indexed, '', '', ...columns])
  addTarget('s from the last page to the last vector', -20, embedSeconds, 1)
}

/** Returns the address of a server that delays every response and may ask for a pause between requests, in seconds. */
async function startSlowServer(root, delayMs, ...crawlDelay) {
  const child = spawn(
    process.execPath,
    [join(here, 'crawl/slow-server.mjs'), root, String(delayMs), ...crawlDelay.map(String)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  stops.push(() => child.kill())
  const port = await new Promise((resolve) => createInterface(child.stdout).on('line', resolve))
  return `http://127.0.0.1:${port}/`
}

async function measureLatency() {
  const library = join(folder, 'slow.db')
  const args = pharos('add', await startSlowServer(site, 50), '--library', library, '--no-embed')
  // The slow server does not count pages, so the library is asked.
  const countIndexed = async () => (await readLedger(library)).filter(({ state }) => state === 'indexed').length
  const { pages, wall } = await measure('pharos, 50 ms latency', args, undefined, countIndexed)
  addTarget('pages/s, 50 ms latency', 60, pages / wall)
}

/** Runs a process to its end and adds its row: pages and requests from the log of the server, memory from the system. */
async function measure(label, [command, ...args], server, countPages) {
  server?.takeLog()
  rmSync(report, { force: true })
  const usesNode = command === process.execPath
  const hook = usesNode
    ? { NODE_OPTIONS: `--require ${join(here, 'crawl/report-usage.cjs')}`, PHAROS_BENCH_REPORT: report }
    : {}
  const launched = args.includes(program) ? LAUNCHER_ENVIRONMENT : {}
  const begun = performance.now()
  const child = spawn(command, args, {
    cwd: here,
    env: { ...process.env, ...launched, ...hook },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let problem = ''
  child.stderr.on('data', (data) => {
    problem = `${problem}${data}`.slice(-2000)
  })
  let residentAt500
  let resident
  let seen = 0
  const watch = setInterval(() => {
    const count = server?.countPages() ?? 0
    // Samples only while pages arrive, because memory after the last page does not belong to the crawl.
    if (count === seen) return
    seen = count
    resident = readResident(child.pid) ?? resident
    if (count >= 500) residentAt500 ??= resident
  }, 25)
  const code = await new Promise((resolve) => child.on('close', resolve))
  clearInterval(watch)
  const wall = (performance.now() - begun) / 1000
  if (code !== 0 || !existsSync(report)) throw new Error(`${label} ended with ${code}: ${problem}`)
  const { cpuSeconds, peakKilobytes } = JSON.parse(readFileSync(report, 'utf8'))
  const requests = server?.takeLog() ?? []
  const pages = (await countPages?.()) ?? new Set(requests.filter(isPage).map(({ path }) => path)).size
  const unchanged = requests.filter(({ status }) => status === 304).length
  const counts = server === undefined ? [pages, '', ''] : [pages, requests.length, unchanged]
  const rates = [wall.toFixed(1), (pages / wall).toFixed(0), cpuSeconds.toFixed(1), (pages / cpuSeconds).toFixed(0)]
  const memory = [peakKilobytes, residentAt500, resident].map(megabytes)
  rows.push([label, ...counts, ...rates, ...memory])
  return { pages, unchanged, wall, cpuSeconds, peakKilobytes, kilobytesAt500: residentAt500, kilobytesAtEnd: resident }
}

/** Adds a target: at least `wanted`, or, if negative, at most its absolute value. */
function addTarget(name, wanted, measured, digits = 0) {
  const isMet = wanted < 0 ? measured <= -wanted : measured >= wanted
  targets.push([name, `${wanted < 0 ? '≤' : '≥'} ${Math.abs(wanted)}`, measured.toFixed(digits), isMet ? 'yes' : 'NO'])
}

/** Compares the pages that pharos accounts for with those that wget reaches from the same start. */
async function compareReach(name, root) {
  const server = await start(root)
  await run('wget', ['-r', '-l', 'inf', '-q', '-P', join(folder, 'wget'), '--delete-after', server.url])
  const requests = server.takeLog().filter(({ status }) => status === 200)
  const wgetPaths = new Set(requests.map(({ path }) => path))
  const wgetPages = new Set(requests.filter(isPage).map(({ path }) => path))
  const library = join(folder, `${name}.db`)
  const [command, ...args] = pharos('add', server.url, '--library', library, '--no-embed')
  await run(command, args)
  const ledger = new Map()
  for (const row of await readLedger(library)) {
    if (row.url.startsWith(server.url)) ledger.set(row.url.slice(server.url.length - 1), row)
  }
  const isAccountedFor = ({ state, reason }) => state === 'indexed' || REPEATED.has(reason)
  const accounted = [...ledger].filter(([, row]) => isAccountedFor(row))
  const indexed = accounted.filter(([, { state }]) => state === 'indexed').length
  console.log(`\n${name}: wget reaches ${wgetPages.size} pages; pharos accounts for ${accounted.length}`)
  console.log(`  pharos: ${indexed} indexed, ${accounted.length - indexed} repeated or redirected`)
  for (const path of wgetPages) {
    const row = ledger.get(path) ?? { state: 'unknown', reason: null }
    if (!isAccountedFor(row)) console.log(`  only wget: ${path} (${row.state}, ${row.reason})`)
  }
  for (const [path, { state }] of accounted) {
    if (wgetPages.has(path)) continue
    console.log(`  ${wgetPaths.has(path) ? 'not HTML for wget' : 'only pharos'}: ${path} (${state})`)
  }
}

async function readLedger(path) {
  const library = await openLibrary({ path, version: 'bench' })
  try {
    const [source] = await library.store.listSources()
    return await library.store.listRows(source.id, { limit: 1_000_000 })
  } finally {
    await library.close()
  }
}

function readResident(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) || undefined
  } catch {
    return undefined
  }
}

async function start(root) {
  const server = await startNginx(root, mkdtempSync(join(folder, 'nginx-')))
  stops.push(server.stop)
  server.takeLog()
  return server
}

/** Runs a process without measuring it. wget ends with 8 when a link is broken. */
async function run(command, args) {
  const child = spawn(command, args, { cwd: folder, stdio: 'ignore' })
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
  if (code !== 0 && !(command === 'wget' && code === 8)) throw new Error(`${command} ended with ${code}`)
}

function checkInstalled() {
  const packageOf = usesNginx ? { nginx: 'nginx-light' } : {}
  if (parts.includes('scrapy')) packageOf.scrapy = 'python3-scrapy'
  if (parts.includes('reach')) packageOf.wget = 'wget'
  const missing = Object.keys(packageOf).filter((name) => !isInstalled(name))
  const packages = missing.map((name) => packageOf[name])
  for (const [name, root] of Object.entries(SITES)) if (!existsSync(root)) packages.push(name)
  if (packages.length === 0) return
  console.error(`bench: crawl needs packages that are not installed: \`apt-get install ${packages.join(' ')}\``)
  process.exit(1)
}
