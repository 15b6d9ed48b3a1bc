import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { isLong } from '../faults/bounded.ts'
import { jobOf, openPageFixture, type PageFixture } from '../http/page-fixture.ts'
import { page as pageOf } from '../sites/site.ts'
import { openChromium } from './chromium.ts'

/* Checks every kind of page with axe-core, on a wide screen and a phone, in both color schemes. */

const JOB = 'aaaaaaaa-0000-4000-8000-000000000001'

let browser: Browser
let fixture: PageFixture
let http: HttpApp
let server: Server
let origin: string

beforeAll(async () => {
  const links = Array.from({ length: 30 }, (_, i) => `/page/${i}`)
  fixture = await openPageFixture({
    pages: {
      '/': pageOf('Guide', [...links, '/missing', '/blocked/a']),
      ...Object.fromEntries(links.map((path) => [path, pageOf(`Page ${path}`)])),
    },
    block: ['/blocked/**'],
    jobs: [jobOf(JOB, { status: 'done' })],
  })
  http = createHttp(fixture.ports)
  server = createServer(getRequestListener((request) => http.fetch(request)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openChromium()
})

afterAll(async () => {
  await browser.close()
  http.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await fixture.close()
})

/** The path of a page, and the heading that it shows when it is complete. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ['/#/', 'Home'],
  ['/#/search?q=guide', 'Search'],
  ['/#/changes', 'Changes'],
  ['/#/changes?source=guide', 'Changes in guide'],
  ['/#/duplicates', 'Duplicates'],
  ['/#/nowhere', 'Not found'],
  ['/#/sources', 'Sources'],
  ['/#/sources/guide@2.0', 'guide'],
  ['/#/sources?add=1', 'Add a source'],
  ['/queues/ssr', 'Queues'],
  [`/queues/${JOB}/ssr`, 'Queue'],
  ['/problems/ssr', 'Problems'],
  ['/milestones/ssr', 'Milestones'],
  ['/errors', 'Errors'],
  ['/domains', 'Hosts'],
  ['/urls', 'URLs'],
  ['/gazetteer', 'Places'],
  ['/hubs', 'Hubs'],
  ['/analysis/ssr', 'Analysis'],
  ['/docs', 'HTTP API'],
  ['/local/', ''],
  ['/nothing', 'Not found'],
  ['/read?source=nowhere&url=x', 'This page cannot be shown'],
]

const SCREENS = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  ...(isLong
    ? ([
        { width: 1280, colorScheme: 'dark' },
        { width: 390, colorScheme: 'light' },
      ] as const)
    : []),
] as const

test('axe-core finds nothing on any page, wide and narrow, light and dark', async () => {
  const page = await browser.newPage()
  const found: Record<string, string[]> = {}
  for (const [path, heading] of PAGES) {
    await page.goto('about:blank')
    await page.goto(origin + path)
    await page.getByRole('heading', { name: heading }).first().waitFor()
    for (const { width, colorScheme } of SCREENS) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      const problems = await runAxe(page)
      if (problems.length > 0) found[`${path}, ${width}, ${colorScheme}`] = problems
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width)
    }
  }
  await page.close()
  expect(found).toEqual({})
})

/** Lists the violations. Folded parts are opened first, and the policy of the page does not apply to the debugger, which runs axe-core. */
async function runAxe(page: Page): Promise<string[]> {
  await page.evaluate("for (const part of document.querySelectorAll('details:not(.menu)')) part.open = true")
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
  )
}
