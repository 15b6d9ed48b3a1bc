import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import type { FoundAddress } from '../../src/crawl/ledger.ts'
import { DEFAULT_SETTINGS } from '../../src/library/source.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { findFreePort, type ServerProcess, startServer, until } from '../e2e/server.ts'
import { isLong } from '../faults/bounded.ts'
import { copyCountries } from '../gazetteer/world.ts'
import { type Answer, type AnswerParts, openSite, page as pageOf, type Site, text } from '../sites/site.ts'
import { writeZip } from '../trees/archive-bytes.ts'
import { openChromium } from './chromium.ts'

/* The dashboard of a real `pharos serve`, in a real Chromium, with real crawls of a site on loopback. */

/** The number of addresses, a pattern for those about an eighth down the list, and a text that eleven of them contain. */
const [ADDRESS_COUNT, EIGHTH_PATTERN, FILTER_TEXT] = isLong
  ? [100_000, /^\/page\/8[5-9]\d{3}$/, 'page/1234']
  : [5000, /^\/page\/43\d{2}$/, 'page/123']
const CHAPTERS = 24
/** Folder for screenshots; without it none are taken. */
const SCREENSHOT_FOLDER = process.env['DASHBOARD_SHOTS']

const ENVIRONMENT = { PHAROS_ALLOW_PRIVATE: '127.0.0.0/8', PHAROS_START_INTERVAL: '50ms' }
const SCREEN = { width: 1280, height: 900 }
/** Timeouts that end a hang: a busy machine takes a multiple of the usual time. */
const PATIENCE = { timeout: 45_000 }
const LONG_PATIENCE = { timeout: 150_000 }
const TOKEN = 's3cret-s3cret-s3cret'

const sandbox = new ProgramSandbox()
let browser: Browser
/** The window that all tests share, because opening a new one costs more than most tests do in it. */
let page: Page
/** Problems in the window since the current test opened it. */
const problems: string[] = []
let server: ServerProcess
let site: Site
/** A newspaper with hubs of some countries, and a link to a hub that does not exist. */
let news: Site
/** Makes stories link to further stories, so that a crawl does not end before the test has looked at it. */
let isEndless = true
/** Slows the site down, so that a crawl does not end before the test has pressed a button. */
let isSlow = false

beforeAll(async () => {
  const openingBrowser = openChromium()
  site = await openSite(createPages())
  news = await openSite(createNews(), { fallback: ({ url = '' }) => writeStory(url) })
  await copyCountries(sandbox.path('library.db'))
  await fillLibrary(sandbox.path('library.db'))
  server = await startServer(sandbox, ['--port', await findFreePort()], ENVIRONMENT)
  browser = await openingBrowser
  page = await openWindow()
})

// Opens a new browser after a failure: a hanging one would fail the retry and every later test as well.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  void browser.close().catch(() => undefined)
  browser = await openChromium()
  page = await openWindow()
})

afterAll(async () => {
  await browser?.close()
  server?.kill('SIGTERM')
  await server?.ended
  await site?.close()
  await news?.close()
  sandbox.remove()
})

describe('the dashboard', () => {
  test('is small: the files of the first load are at most 60 kB compressed', async () => {
    const start = await (await server.ask('/')).text()
    const paths = [...start.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path ?? '')
    // The page, the chunk that it shares with lazily loaded parts, and the style sheet.
    expect(paths).toHaveLength(3)
    const files = await Promise.all(paths.map(async (path) => (await server.ask(path)).bytes()))
    const size = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).byteLength, 0)
    expect(size).toBeLessThanOrEqual(60_000)
  })

  test('starts a crawl, shows it live, pauses and resumes it, and shows how it ended', {
    timeout: 200_000,
  }, async () => {
    isSlow = true
    await openPage('#/')
    await page.getByRole('button', { name: 'Start crawl' }).click()
    await page.getByText('Enter an address.').waitFor()
    await page.getByText('Options', { exact: true }).click()
    await page.getByLabel('Crawl type').selectOption('basic')
    expect(await page.getByLabel('Read sitemaps').isChecked()).toBe(false)
    await page.getByLabel('Sitemap only').check()
    expect(await page.getByLabel('Crawl type').inputValue()).toBe('sitemap-only')
    await page.getByLabel('Crawl type').selectOption('basic')
    await takeScreenshots('settings')
    expect(await page.getByLabel('Read pages').locator('option').allTextContents()).toContain('always in a browser')
    await page.getByLabel('Requests at once').fill('2')
    await page.getByLabel('Link depth').fill('many')
    await page.getByLabel('Start a crawl at').fill(`${site.origin}/`)
    await page.getByRole('button', { name: 'Start crawl' }).click()
    await page.getByText('A whole number from 0 on').waitFor()
    await page.getByLabel('Link depth').fill('')
    // An error that only the server finds is shown at its field, even when the field was folded away.
    await page.getByLabel('Requests at once').fill('9999')
    await page.getByText('Options', { exact: true }).click()
    await page.getByRole('button', { name: 'Start crawl' }).click()
    await page
      .locator('.field', { hasText: 'Requests at once' })
      .getByText(/^expected a whole number from 1 to 256, got 9999$/i)
      .waitFor()
    await page.getByLabel('Requests at once').fill('2')
    await page.getByRole('button', { name: 'Start crawl' }).click()

    const card = page.locator(`article[aria-label="Crawl of ${site.origin}/"]`)
    await card.getByText('running', { exact: true }).waitFor()
    await expect.poll(() => figureOf(card, 'visited'), PATIENCE).toBeGreaterThan(2)
    await expect.poll(() => figureOf(card, 'pages / s'), PATIENCE).toBeGreaterThan(0)
    await card.getByRole('button', { name: 'Pause' }).click()
    await card.getByText('paused', { exact: true }).waitFor()
    await takeScreenshots('paused')
    // Requests in flight at the time of the pause may still arrive.
    await until(async () => site.requests.length, createStableCheck(), 10_000)
    const before = site.requests.length
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(site.requests).toHaveLength(before)
    expect(before).toBeLessThan(CHAPTERS)

    // The server kept the run, so a reload does not begin the chart anew.
    const listSamples = async () => {
      const { items } = (await server.get('/api/crawl-history')) as { items: { samples: { at: number }[] }[] }
      return items[0]?.samples ?? []
    }
    await expect.poll(async () => (await listSamples()).length, PATIENCE).toBeGreaterThan(1)
    const [first] = await listSamples()
    // A page that is opened later: the chart of a crawl that started just now begins at its start anyway.
    await page.clock.setSystemTime(Date.now() + 60_000)
    await page.reload()
    await expect.poll(() => card.locator('.rate-chart').getAttribute('data-from'), PATIENCE).toBe(String(first?.at))
    await page.clock.setSystemTime(Date.now())
    await page.reload()

    isSlow = false
    await card.getByRole('button', { name: 'Resume' }).click()
    await card.getByText('running', { exact: true }).waitFor()
    await card.locator('.rate-chart canvas').waitFor()
    await card.getByText('Details').click()
    await card.getByText('Pace per host').waitFor()
    await takeScreenshots('running')
    const row = page.locator('[data-ended]').filter({ hasText: site.origin })
    await row.getByText('done', { exact: true }).waitFor(LONG_PATIENCE)
    expect(await card.count()).toBe(0)
    // All chapters and the start page were saved.
    await row.getByText(String(CHAPTERS + 1), { exact: true }).waitFor()
    await takeScreenshots('ended')
    // The browser logs the response of 400 as an error.
    expect(problems).toEqual([expect.stringContaining('status of 400')])
  })

  test('finds a passage with the keyboard alone, explains its rank, and opens the page where the passage begins', async () => {
    await openPage('#/search')
    await page.getByRole('heading', { name: 'Search' }).click()
    await page.keyboard.press('/')
    await page.keyboard.type('trim the wick of lamp seventeen')
    const first = page.locator('article.passage').first()
    await first.getByRole('link', { name: 'Chapter 17' }).waitFor()
    expect(await first.locator('mark').allTextContents()).toContain('wick')
    // A short section is shown with its parent and cited where the parent begins: at the top of the page, which has no anchor.
    expect(await first.locator('.heading-path').textContent()).toContain(new URL(site.origin).host)
    await first.getByRole('button', { name: 'why it ranked' }).click()
    await first.locator('.why tbody tr').nth(1).waitFor()
    await takeScreenshots('search')
    // The length of a bar is proportional to its value, and on a phone nothing is wider than the screen.
    const bars = first.locator('.share')
    const [[least, shortest], [most, longest]] = await Promise.all([readBar(bars.last()), readBar(bars.first())])
    expect(shortest / longest).toBeCloseTo(least / most, 1)
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await listTooWide()).toEqual([])
    await page.setViewportSize(SCREEN)
    await page.getByLabel('What to look for').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/read\?.*#L1$/)
    await page.getByRole('heading', { name: 'Chapter 17', level: 1 }).waitFor()
    await page.goBack()
    await first.getByRole('link', { name: 'Chapter 17' }).waitFor()
    expect(problems).toEqual([])
  })

  test('marks words with hyphens and punctuation, and drops a response that is out of date', async () => {
    // The query is not URL-encoded, as in a link written by hand.
    await openPage('#/search?q=LF-030+(client-side)?')
    // The shared window shows the query of the previous test until the address is read.
    await expect.poll(() => page.getByLabel('What to look for').inputValue()).toBe('LF-030 (client-side)?')
    const first = page.locator('article.passage').first()
    await first.getByRole('link', { name: 'Chapter 18' }).waitFor()
    expect(await first.locator('mark').allTextContents()).toContain('client-side')
    let releaseResponse = () => {}
    const released = new Promise<void>((resolve) => {
      releaseResponse = resolve
    })
    await page.route('**/api/search?q=slow*', async (route) => {
      await released
      await route.continue()
    })
    await page.getByLabel('What to look for').fill('slow')
    await page.locator('.results[aria-busy=true]').waitFor()
    await page.getByLabel('What to look for').fill('')
    await page.locator('.results[aria-busy=false]').waitFor({ state: 'attached' })
    releaseResponse()
    expect(await page.locator('.results').textContent()).toBe('')
    expect(problems).toEqual([])
  })

  test('shows an error in place of a view that cannot be shown, and the other views still work', async () => {
    await openPage('#/')
    await page.route('**/api/sources', (route) => route.fulfill({ json: { items: [{ id: 'x', status: 'INDEXED' }] } }))
    await page.getByRole('link', { name: 'Sources', exact: true }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('This page cannot be shown.').waitFor()
    expect(await alert.textContent()).toContain('TypeError')
    expect(problems).not.toEqual([])
    await page.unroute('**/api/sources')
    await alert.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('link', { name: 'endless' }).waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
  })

  test('explains in words why an address was skipped', async () => {
    await openPage('#/sources')
    await page.getByRole('link', { name: new URL(site.origin).host }).click()
    await page.getByRole('button', { name: /^robots.txt 1$/ }).click()
    await page.getByText('1 address', { exact: true }).waitFor()
    await page.getByRole('button', { name: '/private/' }).click()
    const panel = page.getByRole('complementary')
    await panel.getByText('robots.txt disallows it').waitFor()
    expect(await panel.textContent()).toContain(`on ${site.origin}/`)
    await takeScreenshots('source')
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    // The address of the window is a link to exactly this view.
    expect(new URL(page.url()).hash).toMatch(/^#\/sources\/[\w-]+\?state=skipped&reason=robots-disallow$/)
    // Unknown addresses can be looked up as well.
    await page.getByLabel('Part of the address').fill('/nowhere')
    await page.getByRole('button', { name: 'Explain this address' }).click()
    await panel.getByText('Never seen in this source.').waitFor()
    expect(await panel.getByRole('heading').textContent()).toBe(`${site.origin}/nowhere`)
    expect(problems).toEqual([])
  })

  test('stops a crawl after a confirmation, and says that it was stopped', async () => {
    await openPage('#/')
    isSlow = true
    const answer = await server.post('/api/crawl', { startUrl: `${site.origin}/`, preferCache: false })
    const card = page.locator(`[data-job="${answer['jobId']}"]`)
    await card.getByRole('button', { name: 'Stop', exact: true }).click()
    await takeScreenshots('asking')
    await page.getByRole('button', { name: 'Back' }).click()
    expect(await card.count()).toBe(1)
    await card.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByRole('button', { name: 'Stop the crawl' }).click()
    await page.locator(`[data-ended="${answer['jobId']}"]`).getByText('stopped', { exact: true }).waitFor()
    isSlow = false
    expect(problems).toEqual([])
  })

  test(`renders a list of ${ADDRESS_COUNT.toLocaleString('en')} addresses with few elements`, async () => {
    await openPage('#/sources')
    await page.getByRole('link', { name: 'endless' }).click()
    await page.getByText(`${ADDRESS_COUNT.toLocaleString('en')} addresses`).waitFor()
    const box = page.getByRole('region', { name: 'List of addresses' })
    const rows = box.locator('tbody tr.url-row')
    expect(await rows.count()).toBeLessThan(80)
    const seen = await rows.first().textContent()
    await box.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await box.getByText('/page/0', { exact: true }).waitFor(PATIENCE)
    expect(await rows.count()).toBeLessThan(80)
    expect(await rows.first().textContent()).not.toBe(seen)
    expect(await page.locator('*').count()).toBeLessThan(1500)
    // Rows in between are loaded when the user scrolls there, each address once.
    await box.evaluate((element) => element.scrollTo(0, element.scrollHeight / 8))
    await box.getByText(EIGHTH_PATTERN).first().waitFor()
    const between = await rows.locator('button').allTextContents()
    expect(between.length).toBeGreaterThan(10)
    expect(new Set(between).size).toBe(between.length)
    await takeScreenshots('endless')
    await page.getByLabel('Part of the address').fill(FILTER_TEXT)
    await page.getByText('11 addresses').waitFor()
    expect(problems).toEqual([])
  })

  test('removes a source only when its name was typed', async () => {
    await openPage('#/sources')
    const name = new URL(site.origin).host
    const row = page.locator('tr').filter({ hasText: name })
    await row.getByText('More').click()
    await row.getByRole('button', { name: 'Remove' }).click()
    const remove = page.getByRole('button', { name: 'Remove it' })
    const box = page.getByLabel(`Type ${name} to confirm`)
    expect(await remove.isDisabled()).toBe(true)
    await box.fill(name.slice(1))
    expect(await remove.isDisabled()).toBe(true)
    await box.fill(name)
    await remove.click()
    await row.waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  test('adds a source with a name, and says why it is not kept when no page could be read', async () => {
    await openPage('#/')
    await page.getByText('Options', { exact: true }).click()
    await page.getByRole('link', { name: 'Add with a name' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a source' })
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    await dialog.getByText('Enter an address.').waitFor()
    await dialog.getByLabel('Address').fill('~/docs')
    await dialog.getByText('pharos add ~/docs').waitFor()
    await dialog.getByLabel('Address').fill(`${site.origin}/missing/`)
    await dialog.getByText(`Understood as web site ${new URL(site.origin).host}, the pages below /missing/.`).waitFor()
    await openAdvanced(dialog)
    await dialog.getByLabel('Name').fill('nowhere')
    await dialog.getByLabel('Version').fill('2')
    await dialog.getByLabel('No paths like').fill('/a/**\n/b/**')
    await dialog.getByLabel('Crawl again').selectOption('every week')
    await takeScreenshots('adding')
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const alert = page.getByRole('alert').filter({ hasText: 'was not added' })
    await alert.getByText('answered 404').waitFor()
    expect(await page.locator('tr').filter({ hasText: 'nowhere' }).count()).toBe(0)
    // The values are still there, so that one of them can be corrected.
    site.pages.set('/missing/', pageOf('Found after all'))
    await alert.getByRole('button', { name: 'Change and try again' }).click()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('nowhere')
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    const row = page.locator('tr').filter({ hasText: 'nowhere 2' })
    await row.getByText('complete', { exact: true }).waitFor()
    const { scope, refresh } = (await server.get('/api/sources/nowhere@2')) as {
      scope: { block: string[] }
      refresh: object
    }
    expect(scope.block).toEqual(['/a/**', '/b/**'])
    expect(refresh).toMatchObject({ every: '7d' })
    await takeScreenshots('sources')
    // The crawl of the source that was not kept leads to its log.
    await openPage('#/')
    const runs = page.locator('tr[data-ended]').filter({ hasText: `${site.origin}/missing/` })
    await runs.getByRole('link', { name: 'nowhere 2' }).waitFor()
    const failed = runs.filter({ hasText: 'failed' }).getByRole('link', { name: `${site.origin}/missing/` })
    expect(await failed.getAttribute('href')).toMatch(/^\/queues\/.+\/ssr$/)
    expect(problems).toEqual([])
  })

  test('changes how often a source is crawled again by itself, and shows when that is due', async () => {
    await openPage(`#/sources/${encodeURIComponent('nowhere@2')}`)
    const interval = page.getByLabel('crawl again')
    expect(await interval.inputValue()).toBe('1w')
    await interval.selectOption('never')
    await until(
      () => server.get('/api/sources/nowhere@2'),
      ({ refresh }) => refresh === null,
    )
    await interval.selectOption('every 12 hours')
    await page.getByText(/^next in 1[12]h$/).waitFor()
    expect(await server.get('/api/sources/nowhere@2')).toMatchObject({ refresh: { every: '12h', attempts: 0 } })
    await takeScreenshots('schedule')
    await interval.selectOption('never')
    await page.getByText(/^next in/).waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  test('shows only the fields that an archive, repository or package needs', async () => {
    await openPage('#/sources?add=1')
    const dialog = page.getByRole('dialog', { name: 'Add a source' })
    await dialog.getByLabel('Address').waitFor()
    await openAdvanced(dialog)
    const labels = async () => (await dialog.locator('label').allTextContents()).slice(0, 5)
    expect(await labels()).toEqual(['Address', 'Name', 'Version', 'Scope', 'Only paths like'])
    await dialog.getByLabel('Address').fill('npm:lamp@1.0')
    expect(await labels()).toEqual(['Address', 'Subfolder', 'Name', 'Version', 'Only paths like'])
    await dialog.getByLabel('Address').fill('<https://github.com/o/lamp/tree/main/docs>')
    await dialog.getByText('Understood as repository github.com/o/lamp, folder docs, at main.').waitFor()
    expect(await dialog.getByLabel('Subfolder').getAttribute('placeholder')).toBe('docs')
    await dialog.getByLabel('Address').fill('git@127.0.0.1:lamp.git')
    await dialog.getByLabel('Branch, tag or commit').fill('a..b')
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    await dialog.getByText('expected a branch, tag or commit, got "a..b"').waitFor()
    await dialog.getByLabel('Address').fill('ftp://example.com/')
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    await dialog.getByText('Enter a URL (https://…), a Git address or a package').waitFor()
  })

  test('adds an archive, shows its kind, shows one of two duplicate pages, and lists both', async () => {
    await openPage('#/sources?add=1')
    const dialog = page.getByRole('dialog', { name: 'Add a source' })
    await dialog.getByLabel('Address').fill(`${site.origin}/manual.zip`)
    await openAdvanced(dialog)
    await dialog.getByLabel('Subfolder').fill('docs')
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const row = page.locator('tr').filter({ hasText: 'manual.zip' })
    await row.getByText('complete', { exact: true }).waitFor(PATIENCE)
    await row.getByRole('link', { name: 'manual.zip' }).click()
    const facts = page.locator('.source-facts')
    await facts.getByText('archive', { exact: true }).waitFor()
    expect(await facts.getByText('in docs').count()).toBe(1)
    expect(await page.title()).toBe('manual.zip · Pharos')
    await page.getByText('/docs/v1/fuel.md', { exact: true }).click()
    // A browser cannot open a file of an archive, so only the reader does.
    const panel = page.getByRole('complementary')
    await panel.getByText('in the folder', { exact: true }).waitFor()
    expect(await panel.locator('a[target=_blank]').count()).toBe(0)
    await takeScreenshots('archive')
    await panel.getByRole('link', { name: 'Read this page' }).click()
    await page.getByRole('heading', { name: 'Fuel', level: 1 }).waitFor()
    expect(await page.getByRole('link', { name: 'Original page' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Why is it here?' }).click()
    await page.getByText('its content was indexed').first().waitFor()
    const fuel = encodeURIComponent(`${site.origin}/manual.zip!/docs/v1/fuel.md`)
    expect(await server.get(`/api/url-details?url=${fuel}`)).toMatchObject({ article: { title: 'Fuel' } })
    await page.goBack()
    await page.goBack()
    await facts.getByRole('link', { name: 'duplicates' }).click()
    await page.getByText('1 group of 2 pages among 2 pages').waitFor(PATIENCE)
    expect(await page.locator('.duplicates li').allTextContents()).toEqual([
      expect.stringContaining('manual.zip!/docs/v1/fuel.md'),
      expect.stringContaining('manual.zip!/docs/v2/fuel.md'),
    ])
    await takeScreenshots('duplicates')
    await openPage('#/changes?source=manual.zip')
    await page.getByText('was crawled only once').waitFor(PATIENCE)
    await openPage('#/search?q=paraffin+burner&source=manual.zip')
    await page.locator('article.passage').first().waitFor(PATIENCE)
    expect(await page.locator('article.passage').count()).toBe(1)
    expect(await page.locator('.similar').count()).toBe(1)
    await page.getByText('More filters').click()
    await page.locator('#filter-duplicates').selectOption('show')
    await page.locator('article.passage').nth(1).waitFor(PATIENCE)
    expect(problems).toEqual([])
  })

  test('imports a file of chunks, reports an invalid chunk, and asks before it removes most of the pages', async () => {
    const fileOf = (texts: readonly string[]) => {
      const chunks = texts.map((text, i) => ({
        ...{ text, source_url: `https://docs.example/${i}`, section_path: '', content_type: 'prose' },
        last_updated: '2026-02-20',
      }))
      const written = JSON.stringify({ source_url: 'https://docs.example/', chunks })
      return { name: 'chunks.json', mimeType: 'application/json', buffer: Buffer.from(written) }
    }
    const texts = Array.from({ length: 60 }, (_, i) => `Lamp number ${i}.`)
    await openPage('#/sources?add=1')
    const dialog = page.getByRole('dialog', { name: 'Add a source' })
    await openAdvanced(dialog)
    const file = dialog.getByLabel('Or a file of chunks')
    await file.setInputFiles(fileOf(['Lamp.', '']))
    expect(await dialog.locator('label').allTextContents()).toEqual(['Name', 'Version', 'Or a file of chunks'])
    await dialog.getByLabel('Name').fill('chunks')
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByText('chunks[1].text: received "", give a text').waitFor()
    await file.setInputFiles(fileOf(texts))
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const row = page.locator('tr').filter({ hasText: 'import+https://docs.example/' })
    await row.waitFor()
    await row.getByText('More').click()
    expect(await row.getByRole('button').allTextContents()).toEqual(['Remove'])
    await openPage('#/sources?add=1')
    expect(await file.inputValue()).toBe('')
    await file.setInputFiles(fileOf(texts.slice(0, 20)))
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByLabel('Remove pages that are not in the file').check()
    await takeScreenshots('importing')
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await server.get('/api/sources/chunks')).toMatchObject({ pages: 20 })
  })

  test('says how many pages need a browser, and reads them in a browser on request', async () => {
    await openPage('#/sources?add=1')
    const dialog = page.getByRole('dialog', { name: 'Add a source' })
    await dialog.getByLabel('Address').fill(`${site.origin}/app/`)
    await openAdvanced(dialog)
    await dialog.getByLabel('Name').fill('signal')
    expect(await dialog.getByLabel('Read pages').inputValue()).toBe('http')
    await dialog.getByLabel('Cut pages').selectOption('pack')
    await dialog.getByRole('button', { name: 'Add and crawl' }).click()
    await page.locator('tr').filter({ hasText: 'signal' }).getByText('failed', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'signal', exact: true }).click()
    await page.getByText('1 page is empty until a browser runs its scripts.').waitFor()
    await takeScreenshots('needs-browser')
    await page.getByRole('button', { name: 'Recrawl with a browser' }).click()
    await page.getByText('complete', { exact: true }).first().waitFor()
    expect(await page.getByText('until a browser runs').count()).toBe(0)
    const source = await server.get('/api/sources/signal')
    expect(source).toMatchObject({ pages: 1, settings: { render: 'auto', chunks: 'pack' } })
    expect(problems).toEqual([])
  })

  test('shows what a page limit and a narrow scope left out, on a phone too, and continues without the limit', async () => {
    const paths = Array.from({ length: 8 }, (_, i) => `/limited/p${i}`)
    site.pages.set('/limited/', pageOf('Limited', ['/limited/missing', ...paths]))
    for (const path of paths) site.pages.set(path, pageOf(`Page ${path}`))
    site.pages.set('/limited/alone/', pageOf('Alone', paths))
    await server.post('/api/sources', { url: `${site.origin}/limited/`, name: 'limited', scope: { maxPages: 3 } })
    await server.post('/api/sources', { url: `${site.origin}/limited/alone/`, name: 'alone' })
    await openPage('#/sources')
    await page.setViewportSize({ width: 390, height: 844 })
    const note = 'The page limit of 3 was reached: 6 known addresses not read.'
    const narrow = 'The scope left only the start page: it refused 8 addresses of the site'
    await page.getByText(note).waitFor()
    await page.getByText(narrow).waitFor()
    await takeScreenshots('partial-phone')
    expect(await listTooWide()).toEqual([])
    await page.setViewportSize(SCREEN)
    await page.getByRole('link', { name: 'alone', exact: true }).click()
    await page.getByText(`${narrow}; the scope “the whole host” and`).waitFor()
    await page.getByText('only paths like /limited/**').waitFor()
    await openPage('#/sources')
    await page.getByRole('link', { name: 'limited', exact: true }).click()
    await page.getByText(note).waitFor()
    await page.getByLabel('Part of the address').fill('/limited/unseen')
    await page.getByRole('button', { name: 'Explain this address' }).click()
    await page.getByText('the last crawl did not see everything: it stopped at its page limit of 3').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('Part of the address').fill('')
    await page.getByRole('button', { name: 'Continue without limit' }).click()
    await page.getByText('complete', { exact: true }).first().waitFor()
    expect(await server.get('/api/sources/limited')).toMatchObject({ pages: 9, partial: null })
    await openPage('#/')
    const runs = page.locator('tr[data-ended]').filter({ hasText: '/limited/' })
    await runs.filter({ hasText: 'done' }).first().waitFor()
    await runs.filter({ hasText: 'page limit' }).first().waitFor()
    for (const count of ['0', '6'])
      await runs.locator('[data-label="Not read"]').getByText(count, { exact: true }).first().waitFor()
    expect(problems).toEqual([])
  })

  test('ends the pause of a host that asked to wait, and its crawl goes on', async () => {
    const paths = ['/1', '/2', '/3']
    const refusals = paths.map((path) => [path, { status: 429, headers: { 'retry-after': '300' } }] as const)
    const busy = await openSite({ '/': pageOf('Busy', paths), ...Object.fromEntries(refusals) })
    try {
      await server.post('/api/sources', { url: `${busy.origin}/`, name: 'busy' })
      const read = () => server.get('/api/sources/busy') as Promise<{ waiting: unknown[]; pages: number }>
      await until(read, ({ waiting }) => waiting.length > 0, PATIENCE.timeout)
      for (const path of paths) busy.pages.set(path, pageOf(`Page ${path}`))
      await openPage('#/')
      const matter = page.locator('[data-matter="paused"]')
      await matter.getByText('The crawl goes on by itself then.').waitFor()
      await matter.getByRole('button', { name: 'Continue now' }).click()
      await until(read, ({ pages }) => pages === 4, PATIENCE.timeout)
      await matter.waitFor({ state: 'detached' })
      expect(problems).toEqual([])
    } finally {
      await busy.close()
    }
  })

  test('refuses a history crawl and lists the missing milestones, plans a crawl, and shows live what the plan learns', async () => {
    await openPage('#/')
    await page.getByText('Options', { exact: true }).click()
    await page.getByLabel('Start a crawl at').fill(`${news.origin}/`)
    await page.getByLabel('Crawl type').selectOption('basic')
    expect(await page.getByLabel('Guess limit').count()).toBe(0)
    await page.getByLabel('Crawl type').selectOption('history')
    await page.getByRole('button', { name: 'Start crawl' }).click()
    const needed = page.getByRole('region', { name: 'Required milestones' })
    await needed.getByText('not yet').nth(2).waitFor()
    expect(await needed.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('Site fully understood'),
      expect.stringContaining('Second level read'),
      expect.stringContaining('1,000 articles found'),
    ])
    await takeScreenshots('unprepared')
    await page.getByLabel('Crawl type').selectOption('intelligent')
    await page.getByLabel('Guess limit').fill('none')
    await page.getByRole('button', { name: 'Start crawl' }).click()
    await page.locator('.field', { hasText: 'Guess limit' }).getByText('A whole number from 1 on').waitFor()
    await page.getByLabel('Guess limit').fill(String(GUESSES))
    await page.getByLabel('Log level').selectOption('everything')
    await page.getByRole('button', { name: 'Start crawl' }).click()

    const card = page.locator(`article[aria-label="Crawl of ${news.origin}/"]`)
    await card.getByText('Patterns learned', { exact: true }).first().waitFor()
    await card.getByText('Missing hub', { exact: true }).waitFor()
    expect(await card.getByRole('link', { name: `${news.origin}/world/peru` }).count()).toBe(1)
    const understood = card.getByRole('region', { name: 'Findings about' })
    await understood.getByText('hubs confirmed').waitFor()
    await takeScreenshots('planned')
    // Events from before a reload are shown again.
    await page.reload()
    await card.getByText('Missing hub', { exact: true }).waitFor()
    await card.getByText('Patterns learned', { exact: true }).first().waitFor()
    isEndless = false
    const row = page.locator('[data-ended]').filter({ hasText: news.origin })
    await row.getByText('done', { exact: true }).waitFor()
    const guessed = news.requestedPaths().filter((path) => path.startsWith('/world/') && !news.pages.has(path))
    expect(guessed).toContain('/world/peru')
    expect(guessed).toHaveLength(GUESSES + 1)
    // The browser logs the response of 409 as an error.
    expect(problems).toEqual([expect.stringContaining('status of 409')])
  })

  test('shows the group about places once there are places, and links its pages', async () => {
    await openPage('#/')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Understanding' }).click()
    await page.getByRole('heading', { name: 'Places', level: 1 }).waitFor()
    const group = page.getByRole('navigation', { name: 'Understanding' })
    expect(await group.getByRole('link').allTextContents()).toEqual(['Places', 'Hubs', 'Analysis', 'Gazetteer'])
    await group.getByRole('link', { name: 'Analysis' }).click()
    await page.getByRole('button', { name: 'Perform Analysis' }).click()
    await page.locator('[data-run]').getByText('completed', { exact: true }).waitFor()
    await group.getByRole('link', { name: 'Places' }).click()
    await page.locator('tbody tr').filter({ hasText: 'France' }).first().waitFor()
    expect((await page.locator('.land').first().getAttribute('d'))?.length).toBeGreaterThan(1000)
    await page.goto(`${server.origin}/hubs?host=${new URL(news.origin).host}`)
    await page.getByText('/world/{country}', { exact: true }).waitFor()
    await page
      .getByText(/^4 of 250 countries have a hub/)
      .filter({ visible: true })
      .waitFor()
    await takeScreenshots('places')
    expect(problems).toEqual([])
  })

  test('says when the server is offline, and redirects to the login of a server that needs a token', async () => {
    await openPage('#/sources')
    await page.getByRole('heading', { name: 'Sources' }).waitFor()
    server.kill('SIGTERM')
    await server.ended
    await page.getByText('offline').waitFor()
    const environment = { ...ENVIRONMENT, PHAROS_TOKEN: TOKEN }
    server = await startServer(sandbox, ['--port', new URL(server.origin).port], environment)
    await page.waitForURL('**/login?*')
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    // The user is back on the same view, and it is live again.
    await page.getByRole('heading', { name: 'Sources' }).waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    // A link leads to its view after the login, although the server never sees the fragment.
    const other = await browser.newPage()
    other.setDefaultTimeout(PATIENCE.timeout)
    await other.goto(`${server.origin}/#/search?q=wick`)
    await other.getByLabel('Token').fill(TOKEN)
    await other.keyboard.press('Enter')
    await other.waitForURL(`${server.origin}/#/search?q=wick`)
    await other.close()
  })
})

/** Opens a window that records errors, policy violations and requests to other hosts. */
async function openWindow(): Promise<Page> {
  const opened = await browser.newPage({ viewport: SCREEN })
  opened.setDefaultTimeout(PATIENCE.timeout)
  opened.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  opened.on('pageerror', ({ message }) => problems.push(message))
  opened.on('request', (request) => {
    if (!request.url().startsWith(`${server.origin}/`)) problems.push(`asked for ${request.url()}`)
  })
  // Policy violations are printed to the console, and so count as errors.
  await opened.addInitScript({
    content: "addEventListener('securitypolicyviolation', (e) => console.error(e.violatedDirective, e.blockedURI))",
  })
  return opened
}

/** Unfolds the fields of the dialog, which stay unfolded until the window is reloaded. */
async function openAdvanced(dialog: Locator): Promise<void> {
  await dialog.getByText('Advanced').waitFor()
  await dialog.locator('details').evaluate((element) => element.setAttribute('open', ''))
}

/** Shows a page of the dashboard. */
async function openPage(hash: string): Promise<void> {
  await page.unrouteAll()
  await page.setViewportSize(SCREEN)
  problems.length = 0
  await page.goto(`${server.origin}/${hash}`)
}

/** Elements that are wider than the screen of a phone. */
function listTooWide(): Promise<string[]> {
  return page
    .locator('main *')
    .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > 391).map((one) => one.outerHTML))
}

/** The value of a bar, and its width. */
async function readBar(share: Locator): Promise<[value: number, width: number]> {
  const width = await share.locator('.share-bar').evaluate((element) => element.getBoundingClientRect().width)
  return [Number(await share.locator('.number').textContent()), width]
}

async function figureOf(card: Locator, label: string): Promise<number> {
  const cell = card.locator('.figures div').filter({ has: card.page().getByText(label, { exact: true }) })
  return Number((await cell.locator('dd').textContent())?.replaceAll(',', ''))
}

/** Creates a check that succeeds when a number was the same six times in a row. */
function createStableCheck(): (value: number) => boolean {
  const last: number[] = []
  return (value) => {
    last.push(value)
    return last.length > 6 && last.slice(-6).every((one) => one === value)
  }
}

async function takeScreenshots(name: string): Promise<void> {
  if (SCREENSHOT_FOLDER === undefined) return
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
      await page.emulateMedia({ colorScheme })
      const path = join(SCREENSHOT_FOLDER, `dash-${name}-${colorScheme}-${width}.png`)
      await page.screenshot({ path, fullPage: true })
    }
  }
  await page.setViewportSize(SCREEN)
}

const NUMBERS: Readonly<Record<number, string>> = { 17: 'seventeen', 18: 'eighteen' }

function createPages(): Record<string, Answer> {
  const chapters = Array.from({ length: CHAPTERS }, (_, number): [string, Answer] => {
    const heading = `<h2 id="lamp-${number}">Lamp ${NUMBERS[number] ?? number}</h2><p>Trim the wick of lamp ${NUMBERS[number] ?? number} every evening, before the fog comes in from the sea.${number === 18 ? ' Rule LF-030 (client-side) is about it.' : ''}</p>`
    const body = pageOf(`Chapter ${number}`).replace('</ul>', `</ul>${heading}`)
    return [`/chapter/${number}`, () => ({ body, delayMs: isSlow && number > 10 ? 1500 : 40 })]
  })
  const links = chapters.map(([path]) => path)
  return {
    '/robots.txt': text('User-agent: *\nDisallow: /private/\n'),
    '/': pageOf('The keeper', [...links, '/private/']),
    '/private/': pageOf('Private'),
    '/app/': '<!doctype html><title>App</title><div id="root"></div><script src="/app/app.js"></script>',
    '/app/app.js': text(
      `document.getElementById('root').innerHTML = '<main><h1>Fog signal</h1><p>${'Sound it twice a minute while the fog lasts. '.repeat(8)}</p></main>'`,
      'text/javascript',
    ),
    '/manual.zip': text(writeManual(), 'application/zip'),
    ...Object.fromEntries(chapters),
  }
}

/** An archive of a manual in two editions with the same text. */
function writeManual(): Uint8Array {
  const rules = 'wick glass brass mantle tank cloth valve gauge ladder ledger shutter lens'
    .split(' ')
    .map((part, i) => {
      return `Clean the ${part} of the paraffin burner on day ${i + 1} of the month, and note in the book what was found.`
    })
  const fuel = (mark: string) => `# Fuel\n\n${rules.join('\n\n')}\n\n${mark}Printed in haste.${mark}\n`
  return writeZip([
    { name: 'docs/v1/fuel.md', content: fuel('') },
    { name: 'docs/v2/fuel.md', content: fuel('**') },
  ])
}

/** Countries that have a hub in the newspaper. */
const HUBS = ['france', 'japan', 'brazil', 'kenya']
/** Maximum number of guessed hubs. */
const GUESSES = 5

function createNews(): Record<string, Answer> {
  const hubs = HUBS.map((country) => `/world/${country}`)
  const sections = ['about', 'sport', 'culture', 'business', 'science', 'weather', 'travel'].map((name) => `/${name}`)
  const article = '/2026/01/05/a-bridge-opens-in-france'
  const words = 'Visitors from Japan and Brazil came to see the new bridge that was opened in France this week. '
  const text = Array.from({ length: 8 }, () => `<p>${words.repeat(2)}</p>`).join('')
  return {
    '/': pageOf('The Daily Test', [...hubs, '/world/peru', ...sections]),
    ...Object.fromEntries(hubs.map((path) => [path, pageOf(`News: ${path}`, [...hubs, ...sections, article])])),
    [article]: pageOf('A bridge opens in France', ['/story/1']).replace('<ul>', `${text}<ul>`),
  }
}

function writeStory(path: string): AnswerParts {
  const number = Number(/^\/story\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)
  if (Number.isNaN(number)) return { status: 404 }
  return { body: pageOf(`Story ${number}`, isEndless ? [`/story/${number + 1}`] : []), delayMs: 100 }
}

/** Adds a source with as many addresses as a large site has, all of them refused. */
async function fillLibrary(path: string): Promise<void> {
  const store = await openSqliteStore(path)
  const source = '00000000-0000-4000-8000-000000000001'
  const crawl = '00000000-0000-4000-8000-000000000002'
  const url = 'https://endless.example/'
  await store.addSource({
    id: source,
    name: 'endless',
    version: null,
    url,
    siteUrl: url,
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 1,
  })
  const now = Date.now() - ADDRESS_COUNT
  const options = { full: false, acceptLoss: false, discover: false, maxAgeMs: 0, maxAgeMsOf: {}, scope: {} }
  await store.beginCrawl(
    {
      id: crawl,
      sourceId: source,
      kind: 'add',
      state: 'running',
      options,
      runner: null,
      startedAt: now,
      heartbeatAt: now,
      endedAt: null,
      summary: null,
    },
    1000,
  )
  const step = 5000
  for (let from = 0; from < ADDRESS_COUNT; from += step) {
    const finds = Array.from({ length: step }, (_, i): FoundAddress => {
      const address = `${url}page/${from + i}`
      const refusal = { reason: 'blocked', pattern: '/page/**', target: null } as const
      return { key: address, url: address, host: 'endless.example', depth: 1, foundOn: url, discovery: 'link', refusal }
    })
    await store.offer(source, crawl, finds, now + from)
  }
  await store.endCrawl(crawl, null, now + ADDRESS_COUNT)
  await store.close()
}
