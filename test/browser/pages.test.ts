import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { isLong } from '../faults/bounded.ts'
import type { PageStage } from '../http/page-stage.ts'
import {
  attackOn,
  HOSTILE_JOB,
  HOSTILE_RUN,
  hostilePaths,
  hostilePlaces,
  openHostileStage,
  tellHostileJob,
} from '../http/xss-corpus.ts'
import { openChromium } from './chromium.ts'

/* The server-rendered pages in a real Chromium: without scripts, under attack, and alive. And the dashboard under the same attack. */

let browser: Browser
/** The window of most tests. */
let shared: Page
/** What went wrong in any window since a test began. */
const troubles: string[] = []
let stage: PageStage
let http: HttpApp
let server: Server
let origin: string

// Chromium may have to be installed first.
beforeAll(async () => {
  stage = await openHostileStage()
  http = createHttp(stage.ports)
  server = createServer(getRequestListener((request) => http.fetch(request)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openChromium()
  shared = await openWindow({})
})

afterAll(async () => {
  await browser.close()
  http.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await stage.close()
})

/**
 * Does something with a page, and tells what went wrong in it. Most do it in the same window, one after the other: to open a new one
 * costs more than what they do in it. Those that leave something behind in a window have one of their own.
 */
async function withPage(own: BrowserContextOptions | null, work: (page: Page) => Promise<void>): Promise<string[]> {
  const page = own === null ? shared : await openWindow(own)
  // The page of the test before ends here.
  await page.unrouteAll()
  await page.emulateMedia({ colorScheme: null })
  await page.goto('about:blank')
  troubles.length = 0
  try {
    await work(page)
  } finally {
    if (own !== null) await page.close()
  }
  return [...troubles]
}

/** Opens a window that notes what goes wrong in it. */
async function openWindow(options: BrowserContextOptions): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options })
  page.on('dialog', async (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // An answer of 400 or 404 is told there as well.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      troubles.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) troubles.push(`request: ${request.url()}`)
  })
  return page
}

/** A place, and something that it shows. */
type Place = readonly [path: string, shows: string]

/** The first of each kind, in the order they come in. */
function firstOf(places: readonly Place[], kindOf: (path: string) => string): Place[] {
  const byKind = Map.groupBy(places, ([path]) => kindOf(path))
  return [...byKind.values()].flatMap((alike) => alike.slice(0, 1))
}

/** One page of each kind, which is told by the first word of its path and by how many follow: all of them in a long run. */
function listPages(): Place[] {
  const kindOf = (path: string) => {
    const [first, ...others] = new URL(path, origin).pathname.slice(1).split('/')
    return `${first} and ${others.length}`
  }
  return firstOf(hostilePaths(stage.origin), isLong ? (path) => path : kindOf)
}

test('all pages can be read and walked through without scripts, also on a phone', async () => {
  const found = await withPage({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } }, async (page) => {
    for (const [path, shows] of listPages()) {
      // The width depends on the style sheet, which may come later than the document.
      await page.goto(origin + path, { waitUntil: 'load' })
      const [words, width] = await page.evaluate<[string, number]>(
        '[document.body.textContent, document.documentElement.scrollWidth]',
      )
      expect(words).toContain(shows.split('"')[0])
      // Long texts may be wide, but never the page.
      expect(width, path).toBeLessThanOrEqual(390)
    }
    await page.goto(`${origin}/queues/ssr`)
    await page.getByRole('link', { name: HOSTILE_JOB.slice(0, 8) }).click()
    await page.getByLabel('Action').selectOption('drop')
    await page.getByLabel('Rows').fill('2')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.getByRole('row').count()).toBe(1 + 2)
    await page.getByRole('link', { name: 'Older →' }).first().click()
    expect(page.url()).toContain('before=')
    await page.getByRole('link', { name: '← Newer', exact: true }).first().click()
    expect(page.url()).toContain('after=')
  })
  expect(found).toEqual([])
})

/** Runs in the page: what only waits for the mouse or the keyboard gets its chance. */
const TEMPT = `for (const element of document.querySelectorAll('main *'))
  for (const name of ['mouseover', 'focus', 'click', 'load', 'error'])
    if (element.tagName !== 'A' || name !== 'click') element.dispatchEvent(new Event(name))`
/** What ran, and how many scripts there are. Asked of the page, because to look for elements from outside costs more than most pages. */
const FIND_RUN = '[globalThis.pwned, document.scripts.length]'

test('nothing of the corpus runs, whatever is on the page', async () => {
  const found = await withPage(null, async (page) => {
    for (const [path] of listPages()) {
      await page.goto(origin + path)
      await page.evaluate(TEMPT)
      expect(await page.evaluate(FIND_RUN), path).toEqual([undefined, 1])
    }
  })
  expect(found).toEqual([])
})

/** The places of the dashboard by their address: in a short run one for each set of parameters. */
function listPlaces(sourceId: string): Map<string, Place[]> {
  const all = Map.groupBy(hostilePlaces(sourceId), ([hash]) => hash)
  const kindOf = (hash: string) => hash.replace(/(?<==)[^&]*/g, '')
  const kept = firstOf(hostilePlaces(sourceId), isLong ? (hash) => hash : kindOf)
  return new Map(kept.map(([hash]) => [hash, all.get(hash) ?? []]))
}

/** Runs in the page: whatever somebody could read, hear or be led to that must not be there. */
const FIND_TRICKS = `[
  ...(document.body.innerText.match(/[\\0\\u202e\\u2066]/g) ?? []),
  ...[...document.querySelectorAll('[title], [aria-label]')]
    .map((one) => (one.title ?? '') + (one.ariaLabel ?? ''))
    .filter((text) => /[\\0\\u202e\\u2066]/.test(text)),
  ...[...document.querySelectorAll('a[href]')]
    .map((link) => new URL(link.getAttribute('href'), location.href).href)
    .filter((href) => !/^https?:/.test(href)),
  ...[...document.querySelectorAll('main :is(script, iframe, img, style, [srcdoc], [onload], [onfocus])')].map(({ tagName }) => tagName),
]`

test('nothing of the corpus runs in the dashboard, whatever it shows, and nothing looks like something else', async () => {
  const [source] = await stage.library.store.listSources()
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/`)
    await page.getByText('live', { exact: true }).waitFor()
    tellHostileJob(stage, 'cccccccc-job')
    const card = page.locator('[data-job="cccccccc-job"]')
    for (const place of ['card url', 'card download', 'card host', 'card kind', 'card problem', 'card milestone'])
      await card.getByText(`<script>globalThis.pwned="${place}"</script>`).first().waitFor()
    await card.getByText('Log').click()
    await card.getByText('<script>globalThis.pwned="card line"</script>').waitFor()
    await page.evaluate(TEMPT)
    expect(await page.evaluate(FIND_TRICKS)).toEqual([])
    for (const [hash, places] of listPlaces(source?.id ?? '')) {
      await page.goto(`${origin}/${hash}`)
      for (const [, shows] of places) await page.getByText(shows).filter({ visible: true }).first().waitFor()
      for (const button of await page.getByRole('button', { name: 'why it ranked' }).all()) await button.click()
      await page.evaluate(TEMPT)
      expect(await page.evaluate(FIND_TRICKS), hash).toEqual([])
      expect(await page.evaluate(FIND_RUN), hash).toEqual([undefined, 1])
    }
  })
  expect(found).toEqual([])
})

test('places are drawn on a map that is made here, in both schemes', async () => {
  const found = await withPage(null, async (page) => {
    const colours = new Set<string>()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${origin}/gazetteer`)
      const map = page.getByRole('img', { name: 'that pages name' })
      const box = await map.boundingBox()
      // There is land where the place is, and none in the middle of the Atlantic.
      const isLand = (x: number, y: number) =>
        page.evaluate<boolean>(`document.querySelector('.land').isPointInFill(new DOMPoint(${x}, ${y}))`)
      expect([await isLand(1820, 430), await isLand(1400, 500)]).toEqual([true, false])
      const dot = await map.locator('circle').boundingBox()
      const share = ((dot?.x ?? 0) + (dot?.width ?? 0) / 2 - (box?.x ?? 0)) / (box?.width ?? 1)
      expect(share).toBeCloseTo((180 + 2) / 360, 2)
      colours.add(await page.evaluate<string>("getComputedStyle(document.querySelector('.land')).fill"))
    }
    expect(colours.size).toBe(2)
    // Whoever cannot see the map has the same links in a table.
    await page.getByRole('row').filter({ hasText: 'pwned="place name"' }).getByRole('link').first().click()
    expect(page.url()).toBe(`${origin}/gazetteer/place/1`)
    await page.locator('circle').click()
    expect(page.url()).toBe(`${origin}/gazetteer/place/1`)
  })
  expect(found).toEqual([])
})

test('an analysis is watched until it ends, and begun by a button', async () => {
  const { analyses } = stage.library
  const found = await withPage({}, async (page) => {
    // Nobody waits five seconds.
    await page.clock.install()
    const holder = { id: HOSTILE_RUN, runner: 'somebody' }
    // A run that was silent for a minute counts as left, and the tests before may have taken that long.
    await analyses.changeRun(holder, { heartbeatAt: Date.now() })
    await page.goto(`${origin}/analysis/${HOSTILE_RUN}/ssr`)
    const status = page.getByRole('status')
    await status.getByText('Live').waitFor()
    const rows = await page.getByRole('row').count()
    const before = await analyses.findRun(HOSTILE_RUN)
    if (before === undefined) throw new Error('the run is gone')
    const event = { runId: HOSTILE_RUN, at: Date.now(), stage: 'pages' as const, details: null }
    await analyses.addEvent({ ...event, message: attackOn('polled') })
    await analyses.changeRun(holder, {
      stage: 'pages',
      progress: { ...before.progress, pages: 1500, totalPages: 3000 },
      heartbeatAt: Date.now(),
    })
    await page.clock.runFor(5000)
    await page.getByText('1,500 of 3,000').waitFor()
    expect(await page.getByRole('progressbar').evaluate((bar) => Reflect.get(bar, 'position'))).toBe(0.5)
    const row = page.getByRole('row').nth(1)
    expect(await row.textContent()).toContain('<script>globalThis.pwned="polled"</script>')
    expect(await page.getByRole('row').count()).toBe(rows + 1)
    // There is one at a time.
    await page.goto(`${origin}/analysis/ssr`)
    await page.getByRole('button', { name: 'Perform Analysis' }).click()
    await page.waitForURL(`${origin}/analysis/${HOSTILE_RUN}/ssr`)
    await status.getByText('Live').waitFor()
    await analyses.changeRun(holder, {
      status: 'completed',
      stage: 'done',
      endedAt: Date.now(),
      summary: { pages: 3000 },
    })
    await page.clock.runFor(5000)
    await status.getByText('This run is over').waitFor()
    await page.locator('[data-run] .pill-good').getByText('completed').waitFor()
    await page.goto(`${origin}/analysis/ssr`)
    await status.getByText('Live').waitFor()
    stage.dispatcher.feed.tell('analysis', null, {
      ...{ runId: 'eeeeeeee-run', status: 'running', stage: 'domains', error: null },
      lastProgress: { pages: 4321, articles: 5, places: 6, hubs: 7 },
    })
    await page.getByRole('row').nth(1).getByText('4,321').waitFor()
    expect(await page.getByRole('link', { name: 'eeeeeeee' }).getAttribute('href')).toBe('/analysis/eeeeeeee-run/ssr')
    await page.locator('summary').click()
    await page.getByLabel('Most pages').fill('7')
    await page.getByRole('button', { name: 'Perform Analysis' }).click()
    await page.waitForURL(/\/analysis\/[\w-]{36}\/ssr$/)
    await page.getByText('at most 7 pages').waitFor()
    expect(await page.evaluate(() => Reflect.get(globalThis, 'pwned'))).toBeUndefined()
  })
  expect(found).toEqual([])
})

test('both have the same navigation, and the colours that were chosen', async () => {
  const found = await withPage({}, async (page) => {
    const readLinks = () =>
      page
        .locator('header nav a')
        .evaluateAll((links) => links.map((link) => `${link.textContent} ${Reflect.get(link, 'href')}`))
    const readGround = () =>
      page.evaluate<string>("getComputedStyle(document.documentElement).getPropertyValue('--ground')")
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${origin}/#/sources`)
    await page.getByRole('heading', { name: 'Sources' }).waitFor()
    const links = await readLinks()
    const light = await readGround()
    await page.getByRole('button', { name: 'Colours' }).click()
    expect(await readGround()).toBe(light)
    await page.getByRole('button', { name: 'Colours' }).click()
    const dark = await readGround()
    expect(dark).not.toBe(light)
    await page.goto(`${origin}/domains`)
    expect((await readLinks()).map((link) => link.replace(/^(Crawler .*)\/$/, '$1/#/'))).toEqual(links)
    expect(await readGround()).toBe(dark)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.evaluate("localStorage.setItem('pharos-theme', 'light')")
    await page.reload()
    expect(await readGround()).toBe(light)
  })
  expect(found).toEqual([])
})

test('lists that cannot be added to tell how much is new since they were made', async () => {
  const found = await withPage(null, async (page) => {
    const status = page.getByRole('status')
    for (const [path, count] of [
      ['/errors', '2'],
      ['/domains', '40'],
      ['/urls', '40'],
    ] as const) {
      await page.goto(origin + path)
      await status.getByText('Live').waitFor()
      const figures = { visited: 40, downloaded: 0, saved: 0, errors: 2, queueSize: 0, paused: false }
      stage.dispatcher.feed.tell('progress', 'dddddddd-job', figures)
      await status.getByText(`Live, ${count} new since this page was made: reload`).waitFor()
      expect(await status.getByRole('link', { name: 'reload' }).getAttribute('href')).toBe(origin + path)
    }
  })
  expect(found).toEqual([])
})

test('events become rows on top, as text, with counters and words for the time', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/queues/${HOSTILE_JOB}/ssr`)
    await page.getByRole('status').getByText('Live').waitFor()
    const before = await page.getByRole('row').count()
    const url = attackOn('live')
    const { feed } = stage.dispatcher
    feed.tell('queue', HOSTILE_JOB, {
      action: 'retry',
      url,
      depth: 2,
      host: 'x',
      reason: 'slow',
      queueSize: 1234,
      alias: null,
    })
    feed.tell('queue', 'another', { action: 'retry', url: 'https://other.example/', depth: 2, queueSize: 1 })
    feed.tell('progress', HOSTILE_JOB, {
      visited: 41_000,
      downloaded: 7,
      saved: 6,
      errors: 5,
      queueSize: 4,
      paused: false,
    })
    const row = page.getByRole('row').nth(1)
    await row.getByText('slow').waitFor()
    expect(await page.getByRole('row').count()).toBe(before + 1)
    expect(await row.textContent()).toContain('<script>globalThis.pwned="live"</script>')
    expect(await row.getByRole('link').getAttribute('href')).toBe(`/url?url=${encodeURIComponent(url)}`)
    expect(await row.textContent()).toContain('1,234')
    await page.locator('[data-counter="visited"]').getByText('41,000').waitFor()
    expect(await page.locator('time').last().textContent()).toMatch(/ago|in \d|now|yesterday|tomorrow/)
    expect(await page.evaluate(() => Reflect.get(globalThis, 'pwned'))).toBeUndefined()
  })
  expect(found).toEqual([])
})

test('jobs that begin and end are seen in the list', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/queues/ssr`)
    await page.getByRole('status').getByText('Live').waitFor()
    const { feed } = stage.dispatcher
    const job = { id: 'aaaaaaaa-job', url: '<b>bold</b>', status: 'running', startedAt: new Date().toISOString() }
    feed.tell('jobs', null, { count: 1, items: [job] })
    const row = page.getByRole('row').nth(1)
    await row.getByText('<b>bold</b>').waitFor()
    expect(await row.getByRole('link', { name: 'aaaaaaaa' }).getAttribute('href')).toBe('/queues/aaaaaaaa-job/ssr')
    feed.tell('queue', job.id, { action: 'enqueued', url: 'https://docs.example/', queueSize: 1 })
    feed.tell('done', job.id, { code: 1, signal: null, endedAt: job.startedAt, status: 'failed' })
    await row.locator('.pill-bad').getByText('failed').waitFor()
    expect(await row.locator('[data-field="events"]').textContent()).toBe('1')
    expect(await row.locator('[data-field="endedAt"]').getAttribute('datetime')).toBe(job.startedAt)
  })
  expect(found).toEqual([])
})

test('problems pass the filters of their page or stay away', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/problems/ssr?kind=missing-hub`)
    await page.getByText('No problems pass these filters').waitFor()
    await page.getByRole('status').getByText('Live').waitFor()
    const problem = { scope: 'docs.example', target: '/x', message: 'no hub', details: null, severity: 'warn' }
    stage.dispatcher.feed.tell('problem', HOSTILE_JOB, { ...problem, kind: 'other' })
    stage.dispatcher.feed.tell('problem', HOSTILE_JOB, { ...problem, kind: 'missing-hub' })
    await page.getByRole('cell', { name: 'missing-hub' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.locator('.pill-warn').textContent()).toBe('warn')
    expect(await page.getByText('No problems pass these filters').count()).toBe(0)
  })
  expect(found).toEqual([])
})

test('without events a page stays as it was sent, and the keyboard reaches its content first', async () => {
  await withPage(null, async (page) => {
    await page.route('**/events*', (route) => route.fulfill({ status: 503, body: '' }))
    await page.goto(`${origin}/problems/ssr`)
    await page.getByRole('status').getByText('Not live').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.name')).toBe('job')
  })
})
