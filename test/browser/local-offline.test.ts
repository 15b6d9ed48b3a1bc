import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLazyAssets, pageFolder } from '../../src/cli/assets.ts'
import { openTestServer } from '../http/server.ts'
import { openChromium } from './chromium.ts'

/* What the page that works on one machine keeps of itself, and whom it can reach, in a real Chromium. */

let browser: Browser

// Chromium may have to be installed first.
beforeAll(async () => {
  browser = await openChromium()
}, 300_000)

afterAll(() => browser?.close())

const GRAMMARS = 12

/** Opens the page; `again` opens it once more in the same browser. */
async function openPage(address: string, again?: Page): Promise<Page> {
  const context = again?.context() ?? (await browser.newContext())
  if (again === undefined) onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('heading').first().waitFor()
  return page
}

/** How many files the browser keeps of each kind and build. */
function readKept(page: Page): Promise<Record<string, number>> {
  return page.evaluate(`(async () => {
    const kept = {}
    for (const name of await caches.keys()) kept[name] = (await (await caches.open(name)).keys()).length
    return kept
  })()`)
}

/** Waits until all is kept; the names it is kept under. */
async function untilKept(page: Page): Promise<string[]> {
  await expect.poll(async () => Object.values(await readKept(page)), { timeout: 20_000 }).toContain(GRAMMARS)
  return Object.keys(await readKept(page))
}

/** What comes back for an address: its status, or that nothing does. */
function reach(page: Page, address: string): Promise<number | string> {
  return page.evaluate(`fetch(${JSON.stringify(address)}).then(({ status }) => status, () => 'nothing')`)
}

describe('the page of a server', () => {
  test('can reach its own folder, and nothing else', async () => {
    const server = await openTestServer()
    const page = await openPage(`${server.origin}/local/`)
    expect(await reach(page, './grammars/go.wasm')).toBe(200)
    for (const address of ['/health', '/api/crawls', '/', '/locals', 'http://localhost:1/', 'https://docs.example/']) {
      expect([address, await reach(page, address)]).toEqual([address, 'nothing'])
    }
    // Its workers have no more than it has itself.
    const script = `fetch('/health').then(() => 'reached', () => 'nothing').then(postMessage)`
    const fromWorker = `new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(script)}])))
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = () => resolve('no worker')
    })`
    expect(await page.evaluate(fromWorker).catch(() => 'no worker')).toBe('no worker')
  })

  test('needs no server after the first load', async () => {
    const server = await openTestServer()
    const page = await openPage(`${server.origin}/local/`)
    await untilKept(page)
    await server.close()
    expect(await reach(page, './grammars/ruby.wasm')).toBe(200)
    await page.reload()
    await page.getByRole('heading').first().waitFor()
    const other = await openPage(`${server.origin}/local/index.html?a=b#c`, page)
    expect(await reach(other, './grammars/cpp.wasm')).toBe(200)
    expect(await reach(other, './other.txt')).toBe('nothing')
  })
})

describe('the page on a host of plain files', () => {
  test('leaves whatever else is there alone', async () => {
    const host = await openHost()
    const page = await openPage(host.address)
    await untilKept(page)
    host.asked.length = 0
    expect(await reach(page, './grammars/go.wasm')).toBe(200)
    expect(await reach(page, './other.txt')).toBe(200)
    expect(await reach(page, './nothing.txt')).toBe(404)
    expect(host.asked).toEqual(['/a/page/other.txt', '/a/page/nothing.txt'])
    await page.reload()
    // From here on it brings its policy itself, and its folder is all it can reach.
    expect(await reach(page, '../beside.txt')).toBe('nothing')
  })

  test('changes to a later build when no other tab has the earlier one open', async () => {
    const host = await openHost()
    const first = await openPage(host.address)
    const [earlier = ''] = (await untilKept(first)).filter((name) => name.includes(' page '))
    host.renew()
    await first.evaluate('navigator.serviceWorker.getRegistration().then((one) => one.update())')
    const waits = () => first.evaluate('navigator.serviceWorker.getRegistration().then((one) => one.waiting !== null)')
    await expect.poll(waits, { timeout: 10_000 }).toBe(true)
    const second = await openPage(host.address, first)
    const languages = await Promise.all([first, second].map((page) => page.evaluate('document.documentElement.lang')))
    expect(languages).toEqual(['en', 'en'])
    expect(Object.keys(await readKept(second))).toContain(earlier)
    await second.close()
    await first.reload()
    await expect
      .poll(() => first.evaluate('document.documentElement.lang').catch(() => ''), { timeout: 10_000 })
      .toBe('en-later')
    const kept = await readKept(first)
    expect(Object.keys(kept)).not.toContain(earlier)
    // They are the same, and need not be fetched again.
    expect(Object.values(kept)).toContain(GRAMMARS)
    expect(host.asked.filter((path) => path.endsWith('/cpp.wasm'))).toHaveLength(1)
  })

  test('works where nothing can be kept', async () => {
    const host = await openHost()
    const context = await browser.newContext({ serviceWorkers: 'block' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', ({ message }) => problems.push(message))
    await page.goto(host.address)
    await page.getByRole('heading').first().waitFor()
    expect(await readKept(page)).toEqual({})
    expect(problems).toEqual([])
  })
})

interface Host {
  /** Where the page is. */
  readonly address: string
  /** Paths that were asked for. */
  readonly asked: string[]
  /** Puts a later build in the place of the one that is there. */
  renew(): void
}

/** A host that hands out files and adds nothing to them, with the page in one of its folders. */
async function openHost(): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-host-'))
  const place = join(folder, 'a/page')
  cpSync(pageFolder('local'), place, { recursive: true })
  writeFileSync(join(place, 'other.txt'), 'other')
  writeFileSync(join(folder, 'a/beside.txt'), 'beside')
  const read = createLazyAssets(folder)
  const asked: string[] = []
  const server = createServer((incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?')
    asked.push(path)
    void read(path.replace(/\/$/, '/index.html')).then((file) => {
      if (file === undefined) outgoing.writeHead(404).end()
      else outgoing.writeHead(200, { 'content-type': file.type, 'cache-control': 'max-age=600' }).end(file.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true })
  })
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a/page/`,
    asked,
    renew() {
      const [page, worker] = [join(place, 'index.html'), join(place, 'service-worker.js')]
      const before = readFileSync(page, 'utf8')
      const after = before.replace('lang="en"', 'lang="en-later"')
      writeFileSync(page, after)
      const text = readFileSync(worker, 'utf8').replace(digestOf(before), digestOf(after))
      const [, , build = ''] = /digest:(["'`])([^"'`]+)\1/.exec(text) ?? []
      writeFileSync(worker, text.replaceAll(build, 'later'))
    },
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
