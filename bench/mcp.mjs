// Start time, response time and size of the MCP server, compared with docs-mcp-server.
//
//   npm run bench mcp [--library <path>] [--calls 600] [--only start,search,vectors,install] [--node <path>]
//
// Without a library, the documentation of Python (Debian's python3.11-doc) is crawled into a temporary one. The questions are names that
// its pages define, titles of those pages, and questions of users (bench/questions/python.jsonl), one after the other over stdio. `vectors`
// asks the same questions of a copy while another process embeds its chunks, and again afterwards. `install` measures the first three
// commands of a user, `npm install <tarball>`, `setup --yes` and `add` of the demo site, run by the Node that --node names.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDemoSite } from '../src/cli/demo-site.ts'
import { connect, pharos } from './mcp-client.mjs'
import { option, printTable, quantile } from './measure.mjs'
import { readCpuSeconds } from './process-usage.mjs'

const PYTHON = '/usr/share/doc/python3.11/html'
/** Figures of docs-mcp-server, measured on a 2-core arm64 machine with the same documentation; see docs/benchmarks.md. */
const PEER = { start: 4400, rss: 313, p50: 17, p95: 27, packages: 598, megabytes: 486 }
const STARTS = 9
const WARM_UP = 40
const root = fileURLToPath(new URL('..', import.meta.url))
const parts = (option('only') ?? 'start,search,vectors,install').split(',')
const calls = Number(option('calls') ?? 600)

const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
const rows = []
try {
  const library = option('library') ?? join(folder, 'python.db')
  const needsLibrary = parts.some((part) => ['start', 'search', 'vectors'].includes(part))
  if (option('library') === undefined && needsLibrary) await crawl(library)
  if (parts.includes('start')) await measureStart(library)
  if (parts.includes('search')) await measureSearch(library, { name: 'search_docs', p50: 6, p95: 14, rss: 130 })
  if (parts.includes('vectors')) await measureVectors(library)
  if (parts.includes('install')) await measureInstall()
  printTable(['', 'wanted', 'measured', 'met', 'docs-mcp-server'], rows)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Crawls the documentation of Python from a local server. */
async function crawl(library) {
  if (!existsSync(PYTHON)) {
    console.error(`bench: ${PYTHON} is missing: install python3.11-doc, or give --library <path>`)
    process.exit(2)
  }
  const server = spawn(process.execPath, [join(root, 'bench/crawl/slow-server.mjs'), PYTHON, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise((resolve) => createInterface(server.stdout).once('line', resolve))
  const args = [
    'add',
    `http://127.0.0.1:${port}/`,
    '--name',
    'python',
    '--library',
    library,
    '--allow-private',
    '--quiet',
    '--no-embed',
  ]
  const { status } = spawnSync(pharos, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  server.kill()
  if (status !== 0) process.exit(1)
}

/** Median time from the start of the process to the list of tools. */
async function measureStart(library) {
  const times = []
  for (let i = 0; i < STARTS; i++) {
    const began = performance.now()
    const server = await connect(library)
    await server.ask('tools/list', {})
    times.push(performance.now() - began)
    await server.close()
  }
  addTarget('start to tools/list, ms', 400, quantile(times, 0.5), PEER.start)
}

/** Searches by words and meaning, while the library is being embedded and afterwards. */
async function measureVectors(library) {
  const copy = join(folder, 'vectors.db')
  copyFileSync(library, copy)
  const child = spawn(pharos, ['embed', 'run', '--library', copy, '--quiet', '--embed-threads', '1'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const server = await connect(copy)
  while (child.exitCode === null && (await server.call('index_statistics', {})).embeddedChunks === 0) await sleep(500)
  await server.close()
  await measureSearch(copy, { name: 'search_docs with vectors, during embedding', p50: 12, p95: 25 })
  if (child.exitCode !== null) console.log('embedding ended before the searches did: use a lower --calls')
  if ((await ended) !== 0) throw new Error('pharos embed run failed')
  await measureSearch(copy, { name: 'search_docs with vectors', p50: 12, p95: 25 })
}

/** Search time as the caller sees it, and the memory of the server afterwards. */
async function measureSearch(library, { name, p50, p95, rss: maxRss }) {
  const questions = await listQuestions(library)
  // A new process, because listing the questions has read every page.
  const server = await connect(library)
  const times = []
  for (let i = 0; i < calls + WARM_UP; i++) {
    const began = performance.now()
    await server.call('search_docs', { query: questions[i % questions.length] })
    if (i >= WARM_UP) times.push(performance.now() - began)
  }
  console.log(`${name}: ${calls} searches, ${questions.length} different questions`)
  addTarget(`${name} p50, ms`, p50, quantile(times, 0.5), PEER.p50)
  addTarget(`${name} p95, ms`, p95, quantile(times, 0.95), PEER.p95)
  const rss = server.rssMegabytes()
  if (rss !== undefined && maxRss !== undefined) addTarget('memory after the searches, MB', maxRss, rss, PEER.rss)
  await server.close()
}

/** Names that pages define, titles of those pages, and questions of users, in turn. */
async function listQuestions(library) {
  const server = await connect(library)
  const { symbols } = await server.call('list_symbols', { limit: 1000 })
  const { sources } = await server.call('list_sources', {})
  await server.close()
  if (sources.length === 0) throw new Error('the library is empty')
  const names = symbols.filter((_, i) => i % 5 === 0).map(({ name }) => name)
  const namesAndTitles = [...new Set([...names, ...symbols.map(({ title }) => title)])]
  const lines = readFileSync(join(root, 'bench/questions/python.jsonl'), 'utf8').trim().split('\n')
  const userQuestions = lines.map((line) => JSON.parse(line).query)
  const userQuestionAt = (i) => userQuestions[(i / 2) % userQuestions.length]
  return namesAndTitles.flatMap((name, i) => (i % 2 === 0 ? [name, userQuestionAt(i)] : [name]))
}

/** Size of an installation, and the time until it has a searchable site. */
async function measureInstall() {
  const { stdout } = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '')
  const project = join(folder, 'project')
  const cache = cacheFolder()
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  const node = realpathSync(option('node') ?? process.execPath)
  await addSeconds('npm install, wall / CPU s', 'npm', ['install', '--no-audit', tarball])
  const modules = join(project, 'node_modules')
  addTarget('tarball, MB', 15, statSync(tarball).size / 1e6, '')
  addTarget('packages installed', 40, countPackages(modules), PEER.packages)
  addTarget('installed size, MB', 90, sizeOf(modules) / 1e6, PEER.megabytes)
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const program = join(modules, name, 'dist/cli/main.js')
  mkdirSync(join(project, '.cursor'))
  await addSeconds('setup --yes, wall / CPU s', node, [program, 'setup', '--yes'])
  const site = await openDemoSite()
  await addSeconds('add of the demo site, wall / CPU s', node, [
    program,
    'add',
    site.origin,
    '--allow-private=127.0.0.1',
  ])
  await site.close()

  async function addSeconds(title, command, args) {
    const started = performance.now()
    const startCpu = readCpuSeconds(process.pid)
    // npm runs on the first `node` of the PATH.
    const PATH = [dirname(node), process.env.PATH].join(delimiter)
    const env = { ...process.env, PATH, HOME: project, npm_config_cache: cache }
    const child = spawn(command, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (text) => {
      errors += text
    })
    const [status] = await once(child, 'close')
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${errors}`)
    const seconds = [(performance.now() - started) / 1000, readCpuSeconds(process.pid) - startCpu]
    rows.push([title, '', seconds.map((value) => value.toFixed(1)).join(' / '), '', ''])
  }
}

/** The cache of npm, because the measured commands have another home folder. */
function cacheFolder() {
  return spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim()
}

function countPackages(folder) {
  let count = 0
  for (const name of readdirSync(folder)) {
    if (name.startsWith('.')) continue
    const path = join(folder, name)
    if (name.startsWith('@')) count += countPackages(path)
    else if (existsSync(join(path, 'package.json'))) {
      count += 1 + (existsSync(join(path, 'node_modules')) ? countPackages(join(path, 'node_modules')) : 0)
    }
  }
  return count
}

function sizeOf(path) {
  if (!statSync(path).isDirectory()) return statSync(path).size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

function addTarget(name, max, measured, peer) {
  const digits = measured < 20 ? 1 : 0
  rows.push([name, `≤ ${max}`, measured.toFixed(digits), measured <= max ? 'yes' : 'NO', peer])
}
