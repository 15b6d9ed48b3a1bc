import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import type { HttpApp } from '../../src/http/ports.ts'
import { jobOf, openPageFixture, type PageFixture } from '../http/page-fixture.ts'
import { page as pageOf } from '../sites/site.ts'
import { listViolations } from './axe.ts'
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
  ['/queues/ssr', 'All crawls'],
  [`/queues/${JOB}/ssr`, 'Crawl of'],
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

test('axe-core finds nothing on any page, wide and narrow, light and dark', async () => {
  const page = await browser.newPage()
  const found: Record<string, string[]> = {}
  for (const [path, heading] of PAGES) {
    await page.goto('about:blank')
    await page.goto(origin + path)
    await page.getByRole('heading', { name: heading }).first().waitFor()
    const problems = await listViolations(page)
    if (problems.length > 0) found[path] = problems
  }
  await page.close()
  expect(found).toEqual({})
})
