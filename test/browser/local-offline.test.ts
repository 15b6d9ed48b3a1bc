import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLazyAssets, pageFolder } from '../../src/cli/serve/assets.ts'
import { writeContentSecurityPolicy } from '../../src/core/content-security-policy.ts'
import { openTestServer } from '../http/server.ts'
import { openChromium } from './chromium.ts'
import { readUploaded } from './local-fixture.ts'

/* Tests which of its own files the local page caches, and which hosts it can reach, in a real Chromium. */

let browser: Browser

// Takes long when Chromium must be installed first.
beforeAll(async () => {
  browser = await openChromium()
})

afterAll(() => browser?.close())

const GRAMMAR_COUNT = 12
const MODEL_FILE_COUNT = 5

/** Opens the page in a new browser context, or in the context of `sibling`. */
async function openPage(address: string, sibling?: Page): Promise<Page> {
  const context = sibling?.context() ?? (await browser.newContext())
  if (sibling === undefined) onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('heading').first().waitFor()
  return page
}

/** The number of files in each cache, by the name of the cache. */
function countCachedFiles(page: Page): Promise<Record<string, number>> {
  return page.evaluate(`(async () => {
    const kept = {}
    for (const name of await caches.keys()) kept[name] = (await (await caches.open(name)).keys()).length
    return kept
  })()`)
}

/** Waits until all files are cached, and returns the names of the caches. */
async function waitForCaches(page: Page): Promise<string[]> {
  await expect
    .poll(async () => Object.values(await countCachedFiles(page)))
    .toEqual(expect.arrayContaining([GRAMMAR_COUNT, MODEL_FILE_COUNT]))
  return Object.keys(await countCachedFiles(page))
}

/** The status of the response for an address, or `nothing` when the request fails. */
function reach(page: Page, address: string): Promise<number | string> {
  return page.evaluate(`fetch(${JSON.stringify(address)}).then(({ status }) => status, () => 'nothing')`)
}

/** Every way in which a page or a worker can send data to another host without navigating. */
const WAYS = `(address) => {
  const ended = (thing) => new Promise((resolve) => {
    for (const name of ['load', 'open', 'message', 'error']) thing.addEventListener(name, resolve)
  })
  const ways = {
    fetch: () => fetch(address + 'fetch', { method: 'POST', mode: 'no-cors', body: 'words' }),
    import: () => import(address + 'import'),
    request: () => {
      const request = new XMLHttpRequest()
      request.open('GET', address + 'request')
      request.send()
      return ended(request)
    },
    socket: () => ended(new WebSocket(address.replace('http', 'ws') + 'socket')),
    events: () => {
      const source = new EventSource(address + 'events')
      return ended(source).then(() => source.close())
    },
    worker: () => {
      const script = \`fetch('\${address}worker', { mode: 'no-cors' }).catch(() => 0).then(() => postMessage(0))\`
      return ended(new Worker(URL.createObjectURL(new Blob([script]))))
    },
    script: () => importScripts(address + 'script'),
    beacon: () => navigator.sendBeacon(address + 'beacon', 'words'),
    image: () => {
      const image = new Image()
      image.src = address + 'image'
      return ended(image)
    },
  }
  return Promise.all(Object.values(ways).map(async (go) => go()).map((way) => way.catch(() => undefined)))
}`

/** Lets the page and its worker try every way to reach another host, and returns the ways that succeeded. */
async function tryAllWays(page: Page): Promise<ReadonlySet<string>> {
  await expect.poll(() => page.workers().length).toBe(1)
  const other = await openOther()
  await Promise.all([
    page.evaluate(`(${WAYS})('${other.address}page/')`),
    page.workers()[0]?.evaluate(`(${WAYS})('${other.address}worker/')`),
  ])
  // The end of a beacon cannot be observed, so this waits for a fixed time.
  await new Promise((resolve) => setTimeout(resolve, 200))
  return new Set(other.requestedPaths)
}

const NO_WAY: ReadonlySet<string> = new Set()

test('without the policy, a page and its worker reach another host in every way', async () => {
  const host = await openHost()
  const page = await openPage(`${host.address}free.html`)
  const ways = ['events', 'fetch', 'import', 'request', 'socket', 'worker']
  expect(await tryAllWays(page)).toEqual(
    new Set([
      ...[...ways, 'beacon', 'image'].map((way) => `/page/${way}`),
      ...[...ways, 'script'].map((way) => `/worker/${way}`),
    ]),
  )
})

test('the page of a server can reach only its own folder, and needs no server after the first load', async () => {
  const server = await openTestServer()
  const page = await openPage(`${server.origin}/local/`)
  expect(await reach(page, './grammars/go.wasm')).toBe(200)
  const others = ['/health', '/api/crawls', '/', '/locals', 'http://localhost:1/', 'https://docs.example/']
  for (const address of others) expect([address, await reach(page, address)]).toEqual([address, 'nothing'])
  expect(await tryAllWays(page)).toEqual(NO_WAY)
  const [worker] = page.workers()
  expect(await worker?.evaluate(`fetch('/health').then(() => 'reached', () => 'nothing')`)).toBe('nothing')

  await waitForCaches(page)
  await server.close()
  expect(await reach(page, './grammars/ruby.wasm')).toBe(200)
  await page.reload()
  await page.getByRole('heading').first().waitFor()
  expect(await tryAllWays(page)).toEqual(NO_WAY)
  const other = await openPage(`${server.origin}/local/index.html?a=b#c`, page)
  expect(await reach(other, './grammars/cpp.wasm')).toBe(200)
  expect(await reach(other, './other.txt')).toBe('nothing')
})

describe('the page on a static file host', () => {
  test('keeps itself and its worker inside its folder from the first load on, and uses no changed file', async () => {
    const host = await openHost({ vary: '*' })
    const page = await openPage(host.address)
    expect(await tryAllWays(page)).toEqual(NO_WAY)
    await waitForCaches(page)
    host.requestedPaths.length = 0
    expect(await reach(page, './grammars/go.wasm')).toBe(200)
    expect(await reach(page, './other.txt')).toBe(200)
    expect(await reach(page, './nothing.txt')).toBe(404)
    expect(host.requestedPaths).toEqual(['/a/page/other.txt', '/a/page/nothing.txt'])
    await page.reload()
    // From here on the service worker adds the policy, and the page can reach only its folder.
    expect(await reach(page, '../beside.txt')).toBe('nothing')
    expect(await tryAllWays(page)).toEqual(NO_WAY)
    // A file that is missing from the cache and has changed on the host is not used with this build, and the policy still applies.
    for (const path of ['grammars/go.wasm', 'grammars/ruby.wasm', 'index.html']) await forget(page, host.address + path)
    host.change('grammars/go.wasm')
    host.change('index.html')
    expect(await reach(page, './grammars/ruby.wasm')).toBe(200)
    expect(await reach(page, './grammars/go.wasm')).toBe('nothing')
    expect(await reach(page, './')).toBe(200)
    const policy = page.evaluate(`fetch('./').then(({ headers }) => headers.get('content-security-policy'))`)
    expect(await policy).toBe(writeContentSecurityPolicy(host.address))
    // Reloads without the cache, as a user can do by hand.
    const session = await page.context().newCDPSession(page)
    await Promise.all([page.waitForEvent('load'), session.send('Page.reload', { ignoreCache: true })])
    expect(await tryAllWays(page)).toEqual(NO_WAY)
  })

  test('changes to a later build when no other tab has the earlier one open', async () => {
    const host = await openHost()
    const first = await openPage(host.address)
    const [earlier = ''] = (await waitForCaches(first)).filter((name) => name.includes(' page '))
    host.renew()
    await first.evaluate('navigator.serviceWorker.getRegistration().then((one) => one.update())')
    const isWaiting = () =>
      first.evaluate('navigator.serviceWorker.getRegistration().then((one) => one.waiting !== null)')
    await expect.poll(isWaiting).toBe(true)
    const second = await openPage(host.address, first)
    const languages = await Promise.all([first, second].map((page) => page.evaluate('document.documentElement.lang')))
    expect(languages).toEqual(['en', 'en'])
    expect(Object.keys(await countCachedFiles(second))).toContain(earlier)
    await second.close()
    await first.reload()
    await expect.poll(() => first.evaluate('document.documentElement.lang').catch(() => '')).toBe('en-later')
    const kept = await countCachedFiles(first)
    expect(Object.keys(kept)).not.toContain(earlier)
    // Unchanged files need not be fetched again.
    expect(Object.values(kept)).toContain(GRAMMAR_COUNT)
    expect(host.requestedPaths.filter((path) => path.endsWith('/cpp.wasm'))).toHaveLength(1)
  })

  test.each([
    ['the browser allows no service worker', 'block', undefined],
    ['the host changes one of its files', 'allow', 'icon-'],
  ] as const)('works without a web worker, so that the policy holds, where %s', async (_, serviceWorkers, changed) => {
    const host = await openHost()
    if (changed !== undefined) host.change(`assets/${findAsset(changed)}`)
    const context = await browser.newContext({ serviceWorkers })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', ({ message }) => problems.push(message))
    page.on('worker', (worker) => problems.push(worker.url()))
    await page.goto(host.address)
    const folder = mkdtempSync(join(tmpdir(), 'pharos-folder-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'kiln.go'), 'package kiln\n\nfunc Fire() {}\n')
    await readUploaded(page, folder)
    await page.locator('#search-box').fill('fire')
    await page.getByRole('list', { name: 'Results' }).waitFor()
    if (changed === undefined) expect(await countCachedFiles(page)).toEqual({})
    expect(problems).toEqual([])
  })
})

/** The name of the page's file with this prefix. */
function findAsset(start: string): string | undefined {
  return readdirSync(join(pageFolder('local'), 'assets')).find((name) => name.startsWith(start))
}

/** Removes a file of the page from the browser's cache. */
async function forget(page: Page, address: string): Promise<void> {
  const remove = `async (name) => (await caches.open(name)).delete(${JSON.stringify(address)})`
  const removed = await page.evaluate<boolean[]>(`caches.keys().then((names) => Promise.all(names.map(${remove})))`)
  expect(removed).toContain(true)
}

/** A host that answers every request. */
async function openOther(): Promise<{ readonly address: string; readonly requestedPaths: string[] }> {
  const requestedPaths: string[] = []
  const server = createServer(({ url }, outgoing) => {
    requestedPaths.push(url ?? '')
    outgoing.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' }).end()
  })
  const origin = await listen(server)
  return { address: `${origin}/`, requestedPaths }
}

/** The address of a server that is closed after the test. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Host {
  /** Address of the page. */
  readonly address: string
  /** Paths of the requests. */
  readonly requestedPaths: string[]
  /** Replaces the build with a later one. */
  renew(): void
  /** Replaces the content of a file. */
  change(path: string): void
}

const PAGE_PATH = '/a/page/'

/** Other files on the host: the first shows what a page and its worker can do without a policy. */
const OTHER_FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  [`${PAGE_PATH}free.html`]: ['text/html', '<h1>Free</h1><script>new Worker("./free.js")</script>'],
  [`${PAGE_PATH}free.js`]: ['text/javascript', ''],
  [`${PAGE_PATH}other.txt`]: ['text/plain', 'other'],
  '/a/beside.txt': ['text/plain', 'beside'],
}

/** A static file host that adds no policy, with the page in one of its folders. */
async function openHost(headers: Readonly<Record<string, string>> = {}): Promise<Host> {
  const readBuilt = createLazyAssets(pageFolder('local'))
  const changed = new Map<string, string>()
  const requestedPaths: string[] = []
  const server = createServer((incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?')
    requestedPaths.push(path)
    void read(path.replace(/\/$/, '/index.html')).then(([type, body]) => {
      if (body === undefined) outgoing.writeHead(404).end()
      else outgoing.writeHead(200, { 'content-type': type, 'cache-control': 'max-age=600', ...headers }).end(body)
    })
  })
  const origin = await listen(server)
  return {
    address: `${origin}${PAGE_PATH}`,
    requestedPaths,
    renew() {
      const [page, worker] = [readText('index.html'), readText('service-worker.js')]
      const later = page.replace('lang="en"', 'lang="en-later"')
      changed.set('index.html', later)
      const text = worker.replace(digestOf(page), digestOf(later))
      const [, , build = ''] = /digest:(["'`])([^"'`]+)\1/.exec(text) ?? []
      changed.set('service-worker.js', text.replaceAll(build, 'later'))
    },
    change: (path) => void changed.set(path, `${readText(path)}\n`),
  }

  async function read(path: string): Promise<readonly [type: string, body?: string | Uint8Array | undefined]> {
    if (!path.startsWith(PAGE_PATH) || path in OTHER_FILES) return OTHER_FILES[path] ?? ['']
    const name = path.slice(PAGE_PATH.length)
    const built = await readBuilt(`/${name}`)
    return [built?.type ?? '', changed.get(name) ?? built?.body]
  }
}

function readText(path: string): string {
  return readFileSync(join(pageFolder('local'), path), 'utf8')
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
