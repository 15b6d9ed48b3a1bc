// Renders pages of an application on loopback with our renderer, and with the usual Playwright code: a new context for each page, and
// waiting for network idle. Reports pages per second, total CPU seconds and memory of the browser.
//
//   node bench/render.mjs [--pages 40] [--concurrency 2]

import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import { parseAllowance } from '../src/fetch/addresses.ts'
import { findBrowser } from '../src/fetch/chromium/find-browser.ts'
import { openChromiumRenderer } from '../src/fetch/chromium/renderer.ts'
import { option, printTable } from './measure.mjs'

const PAGES = Number(option('pages') ?? 40)
const CONCURRENCY = Number(option('concurrency') ?? 2)
/** Clock ticks per second; the value is the same on every Linux. */
const CLOCK_TICKS = 100

const SHELL = '<!doctype html><title>App</title><div id="app"></div><script src="/app.js"></script>'
const APP = `/* ${'x'.repeat(200_000)} */
fetch('/data.json' + location.pathname).then((it) => it.json()).then(({ rows }) => {
  document.querySelector('#app').innerHTML = '<h1>' + location.pathname + '</h1>' + rows.map((row) => '<p>' + row + '</p>').join('')
})`
const DATA = JSON.stringify({ rows: Array.from({ length: 200 }, (_, i) => `Row ${i} of the application data.`) })

const server = createServer((request, response) => {
  const { url = '' } = request
  if (url === '/app.js') {
    response.writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'max-age=600' }).end(APP)
  } else if (url.startsWith('/data.json')) response.writeHead(200, { 'content-type': 'application/json' }).end(DATA)
  else response.writeHead(200, { 'content-type': 'text/html' }).end(SHELL)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${server.address().port}`
const executablePath = await findBrowser(undefined)

const ours = await measure(async () => {
  const { allowance } = parseAllowance(['127.0.0.1'])
  const renderer = await openChromiumRenderer({
    executablePath,
    userAgent: 'bench',
    allowance,
    concurrency: CONCURRENCY,
    recycle: { pages: PAGES + 1 },
  })
  return {
    render: async (url) => {
      const { snapshot } = await renderer.render({ url, body: await fetch(url).then((response) => response.text()) })
      return snapshot.body
    },
    close: () => renderer.close(),
  }
})

const plain = await measure(async () => {
  const browser = await chromium.launch({
    executablePath,
    args: ['--disable-gpu'],
    chromiumSandbox: process.getuid() !== 0,
  })
  return {
    render: async (url) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(url, { waitUntil: 'networkidle' })
      const html = await page.content()
      await context.close()
      return html
    },
    close: () => browser.close(),
  }
})

server.close()
server.closeAllConnections()
console.log(`${PAGES} pages, ${CONCURRENCY} at a time; the first page, which starts the browser, is not counted`)
printTable(
  ['', 'pages/s', 'CPU s', 'CPU ms/page', 'browser MB'],
  [
    ['pharos', ...ours],
    ['playwright, new context, networkidle', ...plain],
  ],
)

/** Renders the pages, and returns the figures. */
async function measure(open) {
  const { render, close } = await open()
  await render(`${origin}/warm`)
  const cpuBefore = cpuSeconds()
  const start = performance.now()
  let next = 0
  let peak = 0
  const work = async () => {
    while (next < PAGES) {
      const path = `/page-${next++}`
      const html = await render(origin + path)
      if (!html.includes(`<h1>${path}</h1>`) || !html.includes('Row 199')) throw new Error(`incomplete: ${path}`)
      peak = Math.max(peak, memoryOfBrowser())
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const seconds = (performance.now() - start) / 1000
  const cpu = cpuSeconds() - cpuBefore
  await close()
  return [(PAGES / seconds).toFixed(1), cpu.toFixed(1), ((cpu / PAGES) * 1000).toFixed(0), Math.round(peak / 2 ** 20)]
}

/** CPU time of this process and all its descendants, including children that have ended. */
function cpuSeconds() {
  const ticks = [process.pid, ...listDescendants()].map((pid) =>
    readStat(pid)
      .slice(11, 15)
      .reduce((sum, field) => sum + Number(field), 0),
  )
  return ticks.reduce((sum, processTicks) => sum + processTicks, 0) / CLOCK_TICKS
}

/** Private memory of the browser processes. */
function memoryOfBrowser() {
  const sizes = listDescendants().map((pid) => /^RssAnon:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)
  return sizes.reduce((sum, size) => sum + Number(size), 0) * 1024
}

function listDescendants() {
  const found = new Set([process.pid])
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parents = all.map((pid) => [Number(pid), Number(readStat(pid)[1])])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid)
  }
  found.delete(process.pid)
  return [...found]
}

/** Fields of /proc/<pid>/stat from the state on. */
function readStat(pid) {
  const text = read(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Reads a file of /proc; empty if the process has ended. */
function read(path) {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
