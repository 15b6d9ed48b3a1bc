import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { extractPage } from '../../src/core/extract/extract-page.ts'
import { bundleForBrowser } from '../bundle.ts'
import { openChromium } from './chromium.ts'

/* The extraction of the whole corpus is the same in Node and in a real Chromium, byte for byte. */

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const corpus = join(root, 'test/pages')
const cases = readdirSync(corpus, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []))
const PAGE_URL = 'https://docs.example/page.html'
const SCRIPT = 'https://docs.example/pharos.js'
const HOST_PAGE = `<script type="module">import * as pharos from '${SCRIPT}'; globalThis.pharos = pharos</script>`

let browser: Browser
let page: Page

// Takes long when Chromium must be installed first.
beforeAll(async () => {
  const { code } = await bundleForBrowser(join(root, 'src/index.ts'))
  browser = await openChromium()
  page = await browser.newPage()
  // Every request of the browser is answered here, so that nothing reaches the network.
  await page.route('**/*', (route) => {
    const isScript = route.request().url() === SCRIPT
    return route.fulfill(
      isScript ? { body: code, contentType: 'text/javascript' } : { body: HOST_PAGE, contentType: 'text/html' },
    )
  })
  await page.goto(PAGE_URL)
  await page.waitForFunction(() => 'pharos' in globalThis)
})

afterAll(() => browser.close())

test('the corpus has pages', () => expect(cases.length).toBeGreaterThan(50))

test.each(cases)('%s is extracted the same as in Node', async (name) => {
  const bytes = readFileSync(join(corpus, name, 'input.html'))
  const inChromium = await page.evaluate(
    ({ base64, url }) => {
      const body = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      // The global that the script of the page sets.
      const { pharos } = globalThis as unknown as { pharos: { extractPage: typeof extractPage } }
      return JSON.stringify(pharos.extractPage({ url, body }, { debug: true }))
    },
    { base64: bytes.toString('base64'), url: PAGE_URL },
  )
  expect(inChromium).toBe(JSON.stringify(extractPage({ url: PAGE_URL, body: bytes }, { debug: true })))
})
