import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../../src/cli/serve/listen.ts'
import { createHttp } from '../../src/http/app.ts'
import { jobOf, openPageFixture, type PageFixture } from '../http/page-fixture.ts'
import { page as writePage } from '../sites/site.ts'
import { openChromium } from './chromium.ts'

let fixture: PageFixture
let browser: Browser
let page: Page
let origin: string
let close: () => Promise<void>

beforeAll(async () => {
  fixture = await openPageFixture({
    pages: { '/': writePage('Guide') },
    jobs: [jobOf('11111111-1111-4111-8111-111111111111')],
  })
  const settings = { ...fixture.ports.settings, libraryPath: 'postgres://u@db.example/d' }
  const http = createHttp({ ...fixture.ports, settings })
  const server = await listen(http.fetch, 0)
  close = async () => {
    http.close()
    await server.close()
  }
  browser = await openChromium()
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  origin = server.origin
})

afterAll(async () => {
  await browser?.close()
  await close?.()
  await fixture?.close()
})

test('the dashboard reports an unavailable library, shows no empty lists, and recovers with the library', async () => {
  fixture.setStoreBroken(false)
  await page.goto('about:blank')
  await page.goto(`${origin}/#/sources`)
  await page.getByRole('link', { name: 'guide 2.0' }).waitFor()
  const banner = page.locator('.trouble')
  expect(await banner.count()).toBe(0)

  fixture.setStoreBroken(true)
  await page.reload()
  await banner.waitFor()
  expect(await banner.textContent()).toMatch(/^the library cannot be used at the moment\. Since .*Nothing is lost/)
  expect(await page.locator('main').textContent()).not.toMatch(/The library is empty|0 in the library/)
  await page.goto(`${origin}/#/`)
  await page.getByText('Running crawls are unknown for now.').waitFor()
  expect(await page.locator('.live').textContent()).toContain('Library unavailable')

  fixture.setStoreBroken(false)
  await banner.waitFor({ state: 'detached' })
  // Views that failed to load are loaded now.
  await page.getByRole('heading', { name: 'Recent crawls' }).waitFor()
  await page.getByText('Nothing is being crawled.').waitFor()
})
