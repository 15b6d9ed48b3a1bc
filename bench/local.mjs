// Compares the local page with the program: both read the same folder of mixed files and write the same pack. Reports wall and CPU seconds
// of each, the longest task of the page, memory of the page with its worker, and the first search. Then measures a browser without workers,
// where the page does the work itself, in slices.
//
//   npm run bench local [--megabytes 50]
//
// Targets: at most 1.5 times the wall time of the program, no task of the page longer than 100 ms, less than 800 MB.
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { findBrowser } from '../src/fetch/chromium/find-browser.ts'
import { createIdentifier, createRandom, createWords, pick, pickContent } from './corpus.mjs'
import { option, printTable } from './measure.mjs'
import { runMeasured } from './own-usage.mjs'

const MEGABYTES = Number(option('megabytes') ?? 50)
const PROGRAM = fileURLToPath(new URL('../pharos', import.meta.url))
const PAGE = fileURLToPath(new URL('../dist/web/local/', import.meta.url))
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }
/** Timeout of every step. */
const STEP_TIMEOUT = { timeout: 600_000 }
/** Waits for an element that exists but may be hidden. */
const ATTACHED = { ...STEP_TIMEOUT, state: 'attached' }
const SAMPLE_INTERVAL_MS = 100
const UPLOAD = 'upload, done by the browser'
const STEP_COLUMNS = ['', 'wall s', 'CPU s', 'longest task ms']
const WITHOUT_WORKERS = 'delete globalThis.Worker'

const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
try {
  const source = join(folder, 'mixed')
  const { count, query } = writeMixedFolder(source, MEGABYTES * 2 ** 20)
  console.log(`${count} files, ${MEGABYTES} MB: Markdown, text, JSON, TypeScript, Python`)
  const programZip = join(folder, 'program.zip')
  const packArgs = ['pack', source, '--out', programZip, '--full', '--max-total-bytes', '2GB']
  const program = runMeasured(PROGRAM, packArgs, { XDG_CACHE_HOME: join(folder, 'cache') })
  const pageZip = join(folder, 'page.zip')
  const isSame = () => (readFileSync(programZip).equals(readFileSync(pageZip)) ? 'yes' : 'no')
  const size = `${(statSync(programZip).size / 2 ** 20).toFixed(1)} MB`
  const page = await runPage(source, pageZip, query)
  printTable(STEP_COLUMNS, [
    ['pharos pack', program.wall.toFixed(1), program.cpu.toFixed(1), ''],
    ['page: survey, reading and zip', page.wall.toFixed(1), page.cpu.toFixed(1), Math.round(page.longest)],
    ...stepRows(page),
  ])
  printTable(
    ['', 'wanted', 'measured', 'met'],
    [
      targetRow('wall time ÷ that of the program', '<= 1.5', page.wall / program.wall, (value) => value <= 1.5),
      targetRow('longest task in the page, ms', '<= 100', page.longest, (value) => value <= 100),
      targetRow('memory of page and worker, MB', '< 800', page.memory / 2 ** 20, (value) => value < 800),
      ['bytes of the pack', 'the same', size, isSame()],
    ],
  )
  const workerless = await runPage(source, pageZip, query, WITHOUT_WORKERS)
  printTable(STEP_COLUMNS, [
    ['page without workers', workerless.wall.toFixed(1), workerless.cpu.toFixed(1), Math.round(workerless.longest)],
    ...stepRows(workerless),
  ])
  printTable(['', 'wanted', 'measured', 'met'], [['bytes of the pack', 'the same', size, isSame()]])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function targetRow(name, wanted, value, isMet) {
  return [name, wanted, value.toFixed(value < 10 ? 2 : 0), isMet(value) ? 'yes' : 'no']
}

function stepRows({ steps }) {
  return Object.entries(steps).map(([name, step]) => [
    `  ${name}`,
    step.wall.toFixed(1),
    step.cpu.toFixed(1),
    Math.round(step.longest),
  ])
}

/** Uploads the folder to the page as a user does. `prelude` is code that runs before the scripts of the page. */
async function runPage(source, out, query, prelude = '') {
  const host = await openHost()
  const browser = await chromium.launch({
    executablePath: await findBrowser(undefined),
    args: ['--disable-gpu'],
    chromiumSandbox: process.getuid() !== 0,
  })
  try {
    const devtools = await browser.newBrowserCDPSession()
    const page = await browser.newPage()
    await page.addInitScript(prelude)
    await page.addInitScript(() => {
      globalThis.tasks = []
      const record = (list) => {
        for (const { startTime, duration } of list.getEntries()) globalThis.tasks.push({ startTime, duration })
      }
      new PerformanceObserver(record).observe({ type: 'longtask' })
    })
    await page.goto(host.address)
    await page.locator('#folder-input').waitFor({ state: 'attached' })
    const processes = async () => (await devtools.send('SystemInfo.getProcessInfo')).processInfo
    const cpuSeconds = async () => (await processes()).reduce((total, { cpuTime }) => total + cpuTime, 0)
    const memory = watchMemory(await processes())
    const steps = {}
    const measure = async (name, work) => {
      const before = {
        cpu: await cpuSeconds(),
        wall: performance.now(),
        page: await page.evaluate(() => performance.now()),
      }
      await work()
      const wall = (performance.now() - before.wall) / 1000
      const cpu = (await cpuSeconds()) - before.cpu
      // The browser reports long tasks with a short delay.
      await sleep(200)
      const longest = await page.evaluate(
        (since) =>
          Math.max(
            0,
            ...globalThis.tasks.filter(({ startTime }) => startTime >= since).map(({ duration }) => duration),
          ),
        before.page,
      )
      steps[name] = { wall, cpu, longest }
    }
    const read = page.getByRole('button', { name: /^Read/ })
    // The browser lists the folder and creates a file object for each entry; the page cannot speed this up.
    await measure(UPLOAD, () => page.locator('#folder-input').setInputFiles(source, STEP_TIMEOUT))
    await measure('survey', () => read.waitFor(STEP_TIMEOUT))
    await page.getByText('Limits', { exact: true }).click()
    await page.getByLabel('All files together, in MB').fill('2048')
    await measure('reading', async () => {
      await read.click()
      await page.locator('#search-box').waitFor(STEP_TIMEOUT)
    })
    await measure('first search', async () => {
      await page.locator('#search-box').fill(query)
      await page.getByRole('list', { name: 'Results' }).waitFor(STEP_TIMEOUT)
    })
    await page.getByRole('link', { name: 'Export', exact: true }).click()
    await measure('writing the zip', async () => {
      const downloading = page.waitForEvent('download', STEP_TIMEOUT)
      await page.getByRole('button', { name: 'Download Full pack' }).click()
      await (await downloading).saveAs(out)
    })
    await page.reload()
    const stored = page.locator('#search-box, #export-state').first()
    await measure('opening the stored index', () => stored.waitFor(ATTACHED))
    const { [UPLOAD]: _, ...ours } = steps
    const packSteps = ['survey', 'reading', 'writing the zip'].map((name) => steps[name])
    const sum = (field) => packSteps.reduce((total, step) => total + step[field], 0)
    const longest = Math.max(...Object.values(ours).map((step) => step.longest))
    return { steps, wall: sum('wall'), cpu: sum('cpu'), longest, memory: memory.stop() }
  } finally {
    await browser.close()
    host.close()
  }
}

/** Samples the peak private memory of the page's process, in which its worker is a thread. */
function watchMemory(processes) {
  const statusFiles = processes.filter(({ type }) => type === 'renderer').map(({ id }) => `/proc/${id}/status`)
  let peak = 0
  const timer = setInterval(() => {
    const sizes = statusFiles.map((path) => Number(/^RssAnon:\s+(\d+)/m.exec(read(path))?.[1] ?? 0) * 1024)
    peak = Math.max(peak, ...sizes)
  }, SAMPLE_INTERVAL_MS)
  return {
    stop() {
      clearInterval(timer)
      return peak
    },
  }
}

/** Reads a file of /proc; empty if the process has ended. */
function read(path) {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Serves the page as static files. */
async function openHost() {
  const server = createServer(({ url = '' }, response) => {
    const path = join(PAGE, new URL(url, 'http://host/').pathname.replace(/\/$/, '/index.html'))
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' })
    return createReadStream(path).pipe(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Writes a folder of mixed files. Returns their number, and two words that occur in many of them. */
function writeMixedFolder(root, bytes) {
  const random = createRandom(17)
  const words = createWords(30_000, random)
  const times = (max, make) => Array.from({ length: 1 + Math.floor(random() * max) }, make)
  const word = () => pickContent(words, random)
  const name = () => createIdentifier(words, random)
  const sentence = () => `${times(18, () => pick(words, random)).join(' ')}.`
  const paragraph = () => times(12, sentence).join(' ')
  const writers = {
    md: () => times(24, () => `## ${word()} ${word()}\n\n${times(4, paragraph).join('\n\n')}\n`).join('\n'),
    txt: () => times(60, paragraph).join('\n\n'),
    json: () => JSON.stringify(Object.fromEntries(times(40, () => [name(), times(8, sentence)])), null, 2),
    ts: () => times(30, () => `export function ${name()}(${word()}: string) {\n${lines('  const ')}}\n`).join('\n'),
    py: () => times(30, () => `def ${name()}(${word()}):\n    """${sentence()}"""\n${lines('    ')}`).join('\n\n'),
  }
  const lines = (before) => times(40, () => `${before}${name()} = ${word()}(${word()})\n`).join('')
  const kinds = Object.keys(writers)
  let count = 0
  for (let written = 0; written < bytes; count++) {
    const kind = kinds[count % kinds.length]
    const text = writers[kind]()
    const path = join(root, `part-${count % 40}`, `${word()}-${count}.${kind}`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    written += Buffer.byteLength(text)
  }
  return { count, query: `${words[200]} ${words[500]}` }
}
