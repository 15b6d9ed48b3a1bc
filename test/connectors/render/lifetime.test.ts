import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import type { Snapshot } from '../../../src/core/model.ts'
import type { RenderOutcome } from '../../../src/crawl/ports.ts'
import type { ChromiumRenderer } from '../../../src/fetch/chromium/renderer.ts'
import { locateChromium, locateFullChromium } from '../../browser/chromium.ts'
import {
  browsersOf,
  htmlOf,
  isAlive,
  mainBrowserOf,
  memoryOf,
  openTestRenderer,
  openTestSite,
  pageProcessesOf,
  snapshotOf,
} from './fixture.ts'

const LONG = process.env['TEST_LONG'] !== undefined

/** Number of pages that are rendered in a row. */
const PAGES = LONG ? 300 : 6
/** Number of rows that each page shows, enough for a memory leak to be noticed. */
const ROWS = LONG ? 2000 : 100

const MEGABYTE = 2 ** 20

/** Profile folders that a browser of this process left behind. */
function profilesOf(pid: number): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('pharos-chromium-') && name.includes(`-${pid}-`))
}

function expectNoneAlive(pids: readonly number[]): Promise<void> {
  return vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000, interval: 50 })
}

test(
  `${PAGES} pages in a row leave no process, no folder and no memory behind`,
  async () => {
    const application = `const list = document.createElement('ul')
    document.body.append(list)
    fetch('/data.json').then((it) => it.json()).then(({ rows }) => {
      for (const row of rows) list.append(Object.assign(document.createElement('li'), { textContent: row }))
    })`
    const site = await openTestSite({
      '/app.js': { headers: { 'content-type': 'text/javascript', 'cache-control': 'max-age=600' }, body: application },
      '/data.json': { body: JSON.stringify({ rows: Array.from({ length: ROWS }, (_, i) => `row ${i}`) }) },
    })
    // The browser is not recycled, so a leak would be visible.
    const renderer = await openTestRenderer({ recycle: { pages: PAGES + 1, memoryBytes: Infinity } })
    const browserPids = new Set<number>()
    const measurements: Measurement[] = []
    for (let done = 0; done < PAGES; ) {
      const batch = Array.from({ length: 2 }, (_, i) =>
        renderer.render(snapshotOf(`${site.origin}/${done + i}`, '<p>x</p><script src="/app.js"></script>')),
      )
      for (const outcome of await Promise.all(batch)) expect(htmlOf(outcome)).toContain(`row ${ROWS - 1}<`)
      done += batch.length
      const browsers = browsersOf(process.pid)
      for (const pid of browsers) browserPids.add(pid)
      measurements.push({
        processes: browsers.length,
        windows: pageProcessesOf(process.pid).length,
        browserBytes: memoryOf(browsers),
        ownBytes: process.memoryUsage().rss,
      })
    }
    await renderer.close()
    const [first, middle, last] = [0, 1, 2].map((third) => peakOf(measurements, third))
    if (LONG) console.log([first, middle, last].map((peak) => JSON.stringify(peak)).join('\n'))
    // Each window has a process of its own, and the browser sometimes keeps a spare one.
    for (const what of ['processes', 'windows'] as const)
      expect(last?.[what]).toBeLessThanOrEqual(Number(first?.[what]) + 1)
    if (LONG) {
      expect(last?.browserBytes).toBeLessThan(Number(middle?.browserBytes) + 50 * MEGABYTE)
      expect(last?.ownBytes).toBeLessThan(Number(middle?.ownBytes) + 50 * MEGABYTE)
    }
    expect(browserPids.size).toBeGreaterThan(5)
    await expectNoneAlive([...browserPids])
    expect(profilesOf(process.pid)).toEqual([])
  },
  PAGES * 6000,
)

/** Process counts and memory after some pages. */
interface Measurement {
  readonly processes: number
  readonly windows: number
  readonly browserBytes: number
  readonly ownBytes: number
}

/** The highest values in one third of the measurements. */
function peakOf(measurements: readonly Measurement[], third: number): Measurement {
  const part = measurements.slice((measurements.length * third) / 3, (measurements.length * (third + 1)) / 3)
  const maxOf = (what: keyof Measurement): number => Math.max(...part.map((one) => one[what]))
  return {
    processes: maxOf('processes'),
    windows: maxOf('windows'),
    browserBytes: maxOf('browserBytes'),
    ownBytes: maxOf('ownBytes'),
  }
}

test('a killed browser or tab fails its pages, and the next page is rendered in a new one', async () => {
  const renderer = await openTestRenderer()
  const site = await openTestSite({ '/hang': { delayMs: 60_000 } })
  const hang = async (): Promise<{ rendering: Promise<RenderOutcome> }> => {
    site.clearRequests()
    const rendering = renderer.render(snapshotOf(site.origin, '<p>x</p><script>fetch("/hang")</script>'))
    await vi.waitFor(() => expect(site.requestedPaths()).toEqual(['/hang']), { timeout: 60_000, interval: 20 })
    return { rendering }
  }
  const crashing = await hang()
  for (const pid of pageProcessesOf(process.pid)) process.kill(pid, 'SIGKILL')
  const failed = { type: 'failed', reason: 'page-defect', isTransient: true }
  expect(await crashing.rendering).toEqual({ ...failed, detail: 'the page crashed' })
  expect(htmlOf(await renderer.render(snapshotOf(site.origin, '<p>between</p>')))).toContain('between')
  const ending = await hang()
  const before = browsersOf(process.pid)
  process.kill(mainBrowserOf(process.pid), 'SIGKILL')
  expect(await ending.rendering).toEqual({ ...failed, detail: expect.stringMatching(/^the (browser|page) /) })
  expect(htmlOf(await renderer.render(snapshotOf(site.origin, '<p>after</p>')))).toContain('after')
  await expectNoneAlive(before)
  const after = browsersOf(process.pid)
  await renderer.close()
  await expectNoneAlive(after)
  expect(profilesOf(process.pid)).toEqual([])
})

/** Expects that a page renders. The timeout is short, so a busy machine may need several attempts. */
function expectRendered(renderer: ChromiumRenderer, page: Snapshot): Promise<void> {
  return vi.waitFor(async () => expect((await renderer.render(page)).type).toBe('rendered'), { timeout: 30_000 })
}

test('hanging pages fail, and the next page is rendered', async () => {
  const site = await openTestSite({ '/never': { delayMs: 60_000 } })
  const renderer = await openTestRenderer({ timeoutMs: 1000 })
  const url = `${site.origin}/`
  // The first page waits for a response that never comes, the second runs an endless loop.
  const wait = 'const x = new XMLHttpRequest(); x.open("GET", "/never", false); x.send()'
  const scripts = [wait, 'setTimeout(() => { while (true); }, 50)']
  const hung = scripts.map((script) => renderer.render(snapshotOf(url, `<p>x</p><script>${script}</script>`)))
  const outcome = { type: 'failed', reason: 'timeout', detail: 'the page hangs', isTransient: true }
  expect(await Promise.all(hung)).toEqual([outcome, outcome])
  await expectRendered(renderer, snapshotOf(url, '<p>next</p>'))
})

test('a frozen browser does not block callers, and is killed', async () => {
  const renderer = await openTestRenderer({ timeoutMs: 1000 })
  const page = snapshotOf('http://site.example/', '<p>x</p>')
  await renderer.render(page)
  const frozen = browsersOf(process.pid)
  process.kill(mainBrowserOf(process.pid), 'SIGSTOP')
  const stop = new AbortController()
  // The first page has the existing window, and the second would need a new one.
  const waiting = renderer.render(page)
  const aborted = renderer.render(page, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  expect(await waiting).toMatchObject({ type: 'failed', reason: 'timeout', isTransient: true })
  await expectRendered(renderer, page)
  await renderer.close()
  await expectNoneAlive(frozen)
  expect(profilesOf(process.pid)).toEqual([])
})

/** The signal that ends the program, and the browser of the program. A full browser takes three times as long to start. */
const TERMINATIONS: readonly (readonly [NodeJS.Signals, string])[] = LONG
  ? [
      ['SIGKILL', locateFullChromium()],
      ['SIGTERM', locateFullChromium()],
      ['SIGINT', locateFullChromium()],
    ]
  : [
      ['SIGKILL', locateChromium()],
      ['SIGTERM', locateChromium()],
    ]

test('the browser ends when a signal ends its program', async () => {
  const children = TERMINATIONS.map(([signal, browser]) => ({ signal, child: startChild(browser) }))
  const pids = children.map(({ child }) => Number(child.pid))
  await Promise.all(children.map(({ child }) => new Promise((resolve) => child.stdout.once('data', resolve))))
  const browsers = pids.map(browsersOf)
  for (const [i, { child, signal }] of children.entries()) {
    expect(browsers[i]?.length).toBeGreaterThan(2)
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await exited
  }
  await expectNoneAlive(browsers.flat())
  expect(pids.flatMap(profilesOf).length).toBe(TERMINATIONS.length)
  // The next browser removes the folders that the killed processes left behind.
  const renderer = await openTestRenderer()
  await renderer.prepare()
  expect(pids.flatMap(profilesOf)).toEqual([])
})

function startChild(browser: string): ChildProcessByStdio<null, Readable, null> {
  const script = fileURLToPath(new URL('render-child.ts', import.meta.url))
  return spawn(process.execPath, [script, browser], { stdio: ['ignore', 'pipe', 'inherit'] })
}

test('a browser is replaced when its memory is large', async () => {
  const renderer = await openTestRenderer({ recycle: { memoryBytes: 1 } })
  const page = snapshotOf('http://site.example/', '<p>x</p>')
  await renderer.prepare()
  const before = mainBrowserOf(process.pid)
  // The renderer checks memory at every tenth page, also if that page ends together with the eleventh.
  for (const count of [1, 2, 2, 2, 2, 2]) {
    const pages = await Promise.all(Array.from({ length: count }, () => renderer.render(page)))
    for (const outcome of pages) expect(htmlOf(outcome)).toContain('x')
  }
  await expectNoneAlive([before])
})

test('every page fails permanently if the browser has never started', async () => {
  const renderer = await openTestRenderer({ executablePath: '/bin/false' })
  const message = 'pages cannot be rendered: /bin/false does not start: it exits immediately'
  await expect(renderer.prepare()).rejects.toMatchObject({
    code: 'BROWSER_MISSING',
    message,
    details: { advice: 'correct the setting `browser`' },
  })
  expect(await renderer.render(snapshotOf('http://site.example/', '<p>x</p>'))).toEqual({
    type: 'failed',
    reason: 'needs-rendering',
    detail: message,
    isTransient: false,
  })
  await renderer.close()
  expect(profilesOf(process.pid)).toEqual([])
})

test('a page fails transiently if the browser started before but does not start again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-wrapper-'))
  const executablePath = join(folder, 'chromium')
  await writeFile(executablePath, `#!/bin/sh\nexec "${locateChromium()}" "$@"\n`, { mode: 0o700 })
  const renderer = await openTestRenderer({ executablePath, recycle: { pages: 1 } })
  const page = snapshotOf('http://site.example/', '<p>x</p>')
  expect(htmlOf(await renderer.render(page))).toContain('x')
  await rm(folder, { recursive: true })
  expect(await renderer.render(page)).toEqual({
    type: 'failed',
    reason: 'page-defect',
    detail: expect.stringContaining(`${executablePath} does not start: `),
    isTransient: true,
  })
})

test('the browser ends when it is old even without pages, and when the renderer is closed during work', async () => {
  const renderer = await openTestRenderer({ concurrency: 1, recycle: { ageMs: 1 } })
  const preparing = renderer.prepare()
  const old = await vi.waitFor(() => [mainBrowserOf(process.pid)], { timeout: 60_000, interval: 50 })
  await preparing
  await expectNoneAlive(old)
  // The next page starts another browser.
  const site = await openTestSite({ '/hang': { delayMs: 60_000 } })
  const page = snapshotOf(site.origin, '<p>x</p><script>fetch("/hang")</script>')
  const outcomes = [renderer.render(page), renderer.render(page)]
  await vi.waitFor(() => expect(site.requestedPaths()).toEqual(['/hang']), { timeout: 60_000, interval: 20 })
  const browsers = browsersOf(process.pid)
  await renderer.close()
  const closed = { type: 'failed', reason: 'page-defect', detail: 'the renderer was closed', isTransient: true }
  expect(await Promise.all([...outcomes, renderer.render(page)])).toEqual([closed, closed, closed])
  await expect(renderer.prepare()).rejects.toThrow('the renderer was closed')
  await expectNoneAlive(browsers)
  await renderer.close()
})

test('an invalid proxy address is refused', async () => {
  await expect(openTestRenderer({ proxy: 'nonsense' })).rejects.toThrow('not the URL of a proxy')
})
