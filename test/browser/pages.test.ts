import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { importChunks } from '../../src/library/import/import-chunks.ts'
import { parseImport } from '../../src/library/import/parse-import.ts'
import { isLong } from '../faults/bounded.ts'
import type { PageFixture } from '../http/page-fixture.ts'
import {
  attackOn,
  emitHostileEvents,
  HOSTILE_JOB,
  HOSTILE_MARKDOWN,
  HOSTILE_RUN,
  hostilePaths,
  hostileViews,
  openHostileFixture,
} from '../http/xss-corpus.ts'
import { openChromium } from './chromium.ts'

/*
 * Tests the server-rendered pages in a real Chromium without scripts, with hostile data, and live, and the dashboard with the same hostile
 * data.
 */

let browser: Browser
/** The window that most tests share. */
let shared: Page
/** Problems in any window since the current test began. */
const problems: string[] = []
let fixture: PageFixture
let http: HttpApp
let server: Server
let origin: string

// Takes long when Chromium must be installed first.
beforeAll(async () => {
  fixture = await openHostileFixture()
  http = createHttp(fixture.ports)
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
  await fixture.close()
})

/**
 * Runs steps in a page and returns its problems. Most tests share a window, because opening a new one costs more than their steps; tests
 * that change a window pass `ownOptions` for their own.
 */
async function withPage(
  ownOptions: BrowserContextOptions | null,
  work: (page: Page) => Promise<void>,
): Promise<string[]> {
  const page = ownOptions === null ? shared : await openWindow(ownOptions)
  // Leaves the page of the previous test.
  await page.unrouteAll()
  await page.emulateMedia({ colorScheme: null })
  await page.goto('about:blank')
  problems.length = 0
  try {
    await work(page)
  } finally {
    if (ownOptions !== null) await page.close()
  }
  return [...problems]
}

/** Opens a window that records its problems. */
async function openWindow(options: BrowserContextOptions): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options })
  page.on('dialog', async (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // The console also reports responses of 400 and 404, which are expected here.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) problems.push(`request: ${request.url()}`)
  })
  return page
}

/** The path of a page, and a text that the page shows. */
type ShownPage = readonly [path: string, shows: string]

/** The first page of each kind, in the given order. */
function firstOf(places: readonly ShownPage[], kindOf: (path: string) => string): ShownPage[] {
  const byKind = Map.groupBy(places, ([path]) => kindOf(path))
  return [...byKind.values()].flatMap((alike) => alike.slice(0, 1))
}

/** Pages that show no text of the corpus. */
const OTHER_PAGES: readonly ShownPage[] = [
  ['/docs', 'HTTP API'],
  ['/url', 'Enter an address to see its state'],
]

/** One page of each kind, identified by the first segment of its path and the number of further segments; all pages in a long run. */
function listPages(): ShownPage[] {
  const kindOf = (path: string) => {
    const [first, ...others] = new URL(path, origin).pathname.slice(1).split('/')
    return `${first} and ${others.length}`
  }
  return firstOf(hostilePaths(fixture.origin), isLong ? (path) => path : kindOf)
}

test('all pages can be read and navigated without scripts, also on a phone', async () => {
  const found = await withPage({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } }, async (page) => {
    for (const [path, shows] of [...listPages(), ...OTHER_PAGES]) {
      // The width depends on the style sheet, which may load later than the document.
      await page.goto(origin + path, { waitUntil: 'load' })
      const [words, width] = await page.evaluate<[string, number]>(
        '[document.body.textContent, document.documentElement.scrollWidth]',
      )
      expect(words).toContain(shows.split('"')[0])
      // Long texts may overflow their box, but must not widen the page.
      expect(width, path).toBeLessThanOrEqual(390)
    }
    await page.goto(`${origin}/queues/ssr`)
    await page.locator(`a[href="/queues/${HOSTILE_JOB}/ssr"]`).click()
    await page.getByLabel('Action').selectOption('drop')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.goto(`${page.url()}&limit=2`)
    expect(await page.getByRole('row').count()).toBe(1 + 2)
    await page.getByRole('link', { name: 'Older →' }).first().click()
    expect(page.url()).toContain('before=')
    await page.getByRole('link', { name: '← Newer', exact: true }).first().click()
    expect(page.url()).toContain('after=')
  })
  expect(found).toEqual([])
})

/** Runs in the page: triggers handlers that wait for the mouse or the keyboard. */
const TRIGGER_HANDLERS = `for (const element of document.querySelectorAll('main *'))
  for (const name of ['mouseover', 'focus', 'click', 'load', 'error'])
    if (element.tagName !== 'A' || name !== 'click') element.dispatchEvent(new Event(name))`
/** Runs in the page, which is cheaper than locators: returns the attack that ran, if any, and the number of scripts. */
const FIND_ATTACK = '[globalThis.pwned, document.scripts.length]'

test('no script of the corpus runs on any page', async () => {
  const found = await withPage(null, async (page) => {
    for (const [path] of listPages()) {
      await page.goto(origin + path)
      await page.evaluate(TRIGGER_HANDLERS)
      expect(await page.evaluate(FIND_ATTACK), path).toEqual([undefined, 1])
    }
  })
  expect(found).toEqual([])
})

/** The views of the dashboard by address: in a short run one for each set of parameters. */
function listViews(sourceId: string): Map<string, ShownPage[]> {
  const all = Map.groupBy(hostileViews(sourceId), ([hash]) => hash)
  const kindOf = (hash: string) => hash.replace(/(?<==)[^&]*/g, '')
  const kept = firstOf(hostileViews(sourceId), isLong ? (hash) => hash : kindOf)
  return new Map(kept.map(([hash]) => [hash, all.get(hash) ?? []]))
}

/** Runs in the page: finds characters, labels and links that must not reach a user. */
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

test('no script of the corpus runs in the dashboard, and no deceptive character or link is shown', async () => {
  const [source] = await fixture.library.store.listSources()
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/`)
    await page.getByText('Live', { exact: true }).waitFor()
    emitHostileEvents(fixture, 'cccccccc-job')
    const card = page.locator('[data-job="cccccccc-job"]')
    await card.getByText('Details').click()
    for (const place of ['card url', 'card download', 'card host', 'card kind', 'card problem', 'card milestone'])
      await card.getByText(`<script>globalThis.pwned="${place}"</script>`).first().waitFor()
    await card.getByText('Log').click()
    await card.getByText('<script>globalThis.pwned="card line"</script>').waitFor()
    await page.evaluate(TRIGGER_HANDLERS)
    expect(await page.evaluate(FIND_TRICKS)).toEqual([])
    for (const [hash, places] of listViews(source?.id ?? '')) {
      await page.goto(`${origin}/${hash}`)
      for (const [, shows] of places) await page.getByText(shows).filter({ visible: true }).first().waitFor()
      for (const button of await page.getByRole('button', { name: 'why it ranked' }).all()) await button.click()
      await page.evaluate(TRIGGER_HANDLERS)
      expect(await page.evaluate(FIND_TRICKS), hash).toEqual([])
      expect(await page.evaluate(FIND_ATTACK), hash).toEqual([undefined, 1])
    }
  })
  expect(found).toEqual([])
})

test('rendered Markdown runs no script and sends no request, in the reader and in search results', async () => {
  const url = 'https://chunks.example/raw'
  const chunk = { text: HOSTILE_MARKDOWN, source_url: url, section_path: '', content_type: 'prose' }
  // A crawl would clean the raw HTML; an import keeps it.
  await importChunks(
    fixture.library,
    parseImport({ source_url: 'https://chunks.example/', chunks: [{ ...chunk, last_updated: '2026-02-20' }] }),
  )
  const places: ShownPage[] = [
    [`/read?url=${encodeURIComponent(url)}`, '<script>globalThis.pwned="raw block"</script>'],
    ['/#/search?q=markdownattack&source=chunks.example', 'nobody takes it for an empty one: markdownattack'],
    [`/read?url=${encodeURIComponent(`${fixture.origin}/raw.md`)}`, '<script>globalThis.pwned="fence"</script>'],
    ['/#/search?q=markdownattack&path=/raw.md', 'nobody takes it for an empty one: markdownattack'],
  ]
  const found = await withPage(null, async (page) => {
    for (const [path, shows] of places) {
      await page.goto('about:blank')
      await page.goto(origin + path)
      await page.getByText(shows).first().waitFor()
      expect(await page.locator('main :is(h1, h2, h3, h4)').count(), path).toBeGreaterThan(0)
      await page.evaluate(TRIGGER_HANDLERS)
      // Elements and links that would act only later, or when they are clicked, count as well.
      expect(await page.evaluate(FIND_TRICKS), path).toEqual([])
      expect(await page.evaluate(FIND_ATTACK), path).toEqual([undefined, 1])
    }
  })
  expect(found).toEqual([])
})

test('places are drawn on a map without external resources, in both color schemes', async () => {
  const found = await withPage(null, async (page) => {
    const colors = new Set<string>()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${origin}/gazetteer`)
      // The map has land at the place, and none in the middle of the Atlantic.
      const isLand = (x: number, y: number) =>
        page.evaluate<boolean>(`document.querySelector('.land').isPointInFill(new DOMPoint(${x}, ${y}))`)
      expect([await isLand(1820, 430), await isLand(1400, 500)]).toEqual([true, false])
      await page.getByRole('group', { name: 'that pages name' }).waitFor()
      colors.add(await page.evaluate<string>("getComputedStyle(document.querySelector('.land')).fill"))
    }
    expect(colors.size).toBe(2)
    // The table has the same links as the map, for users who cannot see it.
    await page.getByRole('row').filter({ hasText: 'pwned="place name"' }).getByRole('link').first().click()
    expect(page.url()).toBe(`${origin}/gazetteer/place/1`)
    const box = await page.getByRole('img', { name: 'Where' }).boundingBox()
    const dot = await page.locator('circle').boundingBox()
    const share = ((dot?.x ?? 0) + (dot?.width ?? 0) / 2 - (box?.x ?? 0)) / (box?.width ?? 1)
    expect(share).toBeCloseTo((180 + 2) / 360, 2)
  })
  expect(found).toEqual([])
})

test('an analysis is started by a button and watched until it ends', async () => {
  const { analyses } = fixture.library
  const found = await withPage({}, async (page) => {
    // A fake clock avoids a wait of five seconds.
    await page.clock.install()
    const holder = { id: HOSTILE_RUN, runner: 'somebody' }
    // A run without a heartbeat for a minute counts as abandoned, and the previous tests may have taken that long.
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
    // Only one run is allowed at a time.
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
    await status.getByText('This run has ended').waitFor()
    await page.locator('[data-run] .pill-good').getByText('completed').waitFor()
    await page.goto(`${origin}/analysis/ssr`)
    await status.getByText('Live').waitFor()
    fixture.dispatcher.feed.tell('analysis', null, {
      ...{ runId: 'eeeeeeee-run', status: 'running', stage: 'domains', error: null },
      lastProgress: { pages: 4321, articles: 5, places: 6, hubs: 7 },
    })
    await page.getByRole('row').nth(1).getByText('4,321').waitFor()
    expect(await page.getByRole('link', { name: 'eeeeeeee' }).getAttribute('href')).toBe('/analysis/eeeeeeee-run/ssr')
    await page.locator('summary').click()
    await page.getByLabel('Page limit').fill('7')
    await page.getByRole('button', { name: 'Perform Analysis' }).click()
    await page.waitForURL(/\/analysis\/[\w-]{36}\/ssr$/)
    await page.getByText('at most 7 pages').waitFor()
    expect(await page.evaluate(() => Reflect.get(globalThis, 'pwned'))).toBeUndefined()
  })
  expect(found).toEqual([])
})

test('pages and dashboard have the same navigation and the chosen color scheme', async () => {
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
    expect(await readLinks()).toEqual(links)
    expect(await page.locator('nav.sub a').allTextContents()).toContain('Hosts')
    expect(await readGround()).toBe(dark)
    // The button of these pages does the same, and the local page follows.
    await page.getByRole('button', { name: 'Colours: Dark' }).click()
    await page.getByRole('button', { name: 'Colours: System' }).click()
    expect(await readGround()).toBe(light)
    await page.goto(`${origin}/local/`)
    await page.getByRole('button', { name: 'Colours: Light' }).waitFor()
    expect(await readLinks()).toEqual(links)
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.evaluate("localStorage.setItem('pharos-theme', 'light')")
    await page.reload()
    expect(await readGround()).toBe(light)
  })
  expect(found).toEqual([])
})

test('lists that are not live show how many entries are new', async () => {
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
      fixture.dispatcher.feed.tell('progress', 'dddddddd-job', figures)
      await status.getByText(`Live, ${count} new since this page was loaded: reload`).waitFor()
      expect(await status.getByRole('link', { name: 'reload' }).getAttribute('href')).toBe(origin + path)
    }
  })
  expect(found).toEqual([])
})

test('a list offers to reset its filters only if there are any', async () => {
  const found = await withPage(null, async (page) => {
    for (const [path, isOffered] of [
      ['/urls', false],
      ['/urls?state=failed', true],
      ['/urls?q=a', true],
    ] as const) {
      await page.goto(origin + path)
      expect(await page.getByRole('link', { name: 'Reset' }).isVisible(), path).toBe(isOffered)
    }
  })
  expect(found).toEqual([])
})

test('live events become rows at the top of the table, as text, and update the counters; times are relative', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/queues/${HOSTILE_JOB}/ssr`)
    await page.getByRole('status').getByText('Live').waitFor()
    const before = await page.getByRole('row').count()
    const url = attackOn('live')
    const { feed } = fixture.dispatcher
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

test('jobs that begin and end appear in the list', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/queues/ssr`)
    await page.getByRole('status').getByText('Live').waitFor()
    const { feed } = fixture.dispatcher
    const job = { id: 'aaaaaaaa-job', url: '<b>bold</b>', status: 'running', startedAt: new Date().toISOString() }
    feed.tell('jobs', null, { count: 1, items: [job] })
    const row = page.getByRole('row').nth(1)
    await row.getByText('<b>bold</b>').waitFor()
    expect(await row.getByRole('link', { name: '<b>bold</b>' }).getAttribute('href')).toBe('/queues/aaaaaaaa-job/ssr')
    feed.tell('progress', job.id, { saved: 2, unchanged: 1300, errors: 1 })
    await row.locator('[data-field="unchanged"]').getByText('1,300').waitFor()
    const endedAt = new Date(Date.parse(job.startedAt) + 192_000).toISOString()
    feed.tell('done', job.id, { code: 1, signal: null, endedAt, status: 'failed' })
    await row.locator('.pill-bad').getByText('failed').waitFor()
    expect(await row.locator('[data-field="took"]').textContent()).toBe('3m 12s')
    const capped = { code: 0, signal: null, endedAt: job.startedAt, status: 'done', unread: 3 }
    feed.tell('done', job.id, capped)
    await row.locator('.pill-limit').getByText('page limit').waitFor()
  })
  expect(found).toEqual([])
})

test('a request is tried on the page of the API, and its answer shown as text', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/docs`)
    const operation = page.locator('details.panel').filter({ hasText: '/api/urls' }).first()
    await operation.locator('summary').first().click()
    await operation.getByLabel('limit', { exact: true }).fill('2')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText(/^200 /).waitFor()
    const answer = JSON.parse((await operation.getByLabel('Answer').textContent()) ?? '')
    expect(answer.items).toHaveLength(2)
    const tones = await page
      .locator('details.panel > summary .pill')
      .evaluateAll((pills) => [...new Set(pills.map(({ textContent, className }) => `${textContent} ${className}`))])
    expect(tones.sort((a, b) => a.localeCompare(b))).toEqual([
      'DELETE pill pill-bad',
      'GET pill pill-info',
      'POST pill pill-good',
    ])
  })
  expect(found).toEqual([])
})

test('live problems appear only when they pass the filters of the page', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/problems/ssr?kind=missing-hub`)
    await page.getByText('No problems pass these filters').waitFor()
    await page.getByRole('status').getByText('Live').waitFor()
    const problem = { scope: 'docs.example', target: '/x', message: 'no hub', details: null, severity: 'warn' }
    fixture.dispatcher.feed.tell('problem', HOSTILE_JOB, { ...problem, kind: 'other' })
    fixture.dispatcher.feed.tell('problem', HOSTILE_JOB, { ...problem, kind: 'missing-hub' })
    await page.getByRole('cell', { name: 'Missing hub No hub. /x' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.locator('.pill-warn').textContent()).toBe('warning')
    expect(await page.getByText('No problems pass these filters').count()).toBe(0)
  })
  expect(found).toEqual([])
})

test('a live problem has the title that it has after a reload', async () => {
  const found = await withPage(null, async (page) => {
    await page.goto(`${origin}/problems/ssr?kind=page-cap`)
    await page.getByRole('status').getByText('Live').waitFor()
    const problem = { scope: 'docs.example', target: '/x', message: 'cut', details: null, severity: 'warn' }
    fixture.dispatcher.feed.tell('problem', HOSTILE_JOB, { ...problem, kind: 'page-cap' })
    await page.getByRole('cell', { name: 'Page limit reached Cut. /x' }).waitFor()
  })
  expect(found).toEqual([])
})

test('a page without events stays as it was sent, and the keyboard reaches its content first', async () => {
  await withPage(null, async (page) => {
    await page.route('**/events*', (route) => route.fulfill({ status: 503, body: '' }))
    await page.goto(`${origin}/problems/ssr`)
    await page.getByRole('status').getByText('Not live').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate("document.activeElement.closest('main a')?.textContent")).toBe('Errors')
  })
})
