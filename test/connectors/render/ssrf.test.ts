import { createSocket } from 'node:dgram'
import type { Page } from 'playwright-core'
import { afterAll, expect, test, vi } from 'vitest'
import type { HostResolver } from '../../../src/fetch/address-check.ts'
import type { Allowance } from '../../../src/fetch/addresses.ts'
import type { ChromiumRenderer } from '../../../src/fetch/chromium/renderer.ts'
import { locateChromium, locateFullChromium, openChromium } from '../../browser/chromium.ts'
import { closeLater } from '../../close-later.ts'
import { type Canary, openCanary } from '../../sites/canary.ts'
import { redirect, type Site, text } from '../../sites/site.ts'
import { openTunnelProxy } from '../../sites/tunnel-proxy.ts'
import { allow, openRenderer, openTestRenderer, openTestSite, SITE_ADDRESS, snapshotOf } from './fixture.ts'

/** Ways by which a page requests an address without leaving. `$@` stands for the address, whose path names the way. */
const WAYS: Readonly<Record<string, string>> = {
  image: '<img src="$@">',
  srcset: '<img srcset="$@ 2x, $@ 1x">',
  background: '<div style="width:9px;height:9px;background:url($@)">x</div>',
  font: '<style>@font-face{font-family:f;src:url($@)} body{font-family:f}</style>',
  style: '<link rel="stylesheet" href="$@">',
  script: '<script src="$@"></script>',
  video: '<video src="$@" autoplay muted preload="auto"></video>',
  audio: '<audio src="$@" preload="auto"></audio>',
  object: '<object data="$@"></object>',
  frame: '<iframe src="$@"></iframe>',
  'frame-redirect': '<iframe src="/moved?$@"></iframe>',
  prefetch: '<link rel="prefetch" href="$@">',
  preload: '<link rel="preload" as="script" href="$@">',
  modulepreload: '<link rel="modulepreload" href="$@">',
  fetch: '<script>fetch("$@", { mode: "no-cors" }).catch(() => {})</script>',
  'fetch-redirect': '<script>fetch("/moved?$@", { mode: "no-cors" }).catch(() => {})</script>',
  keepalive: '<script>fetch("$@", { mode: "no-cors", keepalive: true }).catch(() => {})</script>',
  xhr: '<script>{ const x = new XMLHttpRequest(); x.open("GET", "$@"); x.send() }</script>',
  events: '<script>new EventSource("$@")</script>',
  socket: '<script>new WebSocket("$@".replace("http", "ws"))</script>',
  beacon: '<script>navigator.sendBeacon("$@", "x")</script>',
  import: '<script>import("$@").catch(() => {})</script>',
  worker: '<script>new Worker("/worker.js?$@")</script>',
  'shared-worker': '<script>new SharedWorker("/worker.js?$@")</script>',
  'service-worker': '<script>navigator.serviceWorker?.register("/service.js?$@")</script>',
  open: '<script>window.open("$@")</script>',
  blank: '<a href="$@" target="_blank" id="blank">x</a><script>document.getElementById("blank").click()</script>',
  // This entry comes last because it ends the page, and workers must have started by then.
  download:
    '<a href="$@" download id="download">x</a><script>fetch("/held").then(() => document.getElementById("download").click())</script>',
}

/** Ways that lead the page itself away; each needs a page of its own. */
const LEAVING: Readonly<Record<string, string>> = {
  refresh: '<meta http-equiv="refresh" content="0; url=$@">',
  location: '<script>location.href = "$@"</script>',
  'location-redirect': '<script>location.href = "/moved?$@"</script>',
  form: '<form method="post" action="$@" id="form"></form><script>document.getElementById("form").submit()</script>',
}

/** Attacks that send no path: a connection, a DNS lookup, packets. */
const PATHLESS = `<link rel="preconnect" href="$"><link rel="dns-prefetch" href="$">
<script>
  const reach = (url, port) => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:' + url + ':' + port }] })
    peer.createDataChannel('x')
    peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  }
  try { reach('127.0.0.1', PORT) } catch {}
  try { new WebTransport('https://127.0.0.1:PORT/').ready.catch(() => {}) } catch {}
</script>`

/** Ways that the renderer blocks for every address, even an allowed one. */
const ALWAYS_BLOCKED: readonly string[] = [
  ...['image', 'srcset', 'background', 'font', 'video', 'audio', 'object', 'frame', 'frame-redirect'],
  ...['service-worker', 'open', 'blank', 'download', 'refresh', 'location', 'location-redirect', 'form'],
]

const LONG = process.env['TEST_LONG'] !== undefined

/** One way of each kind is tried in a short run, and all in a long one. */
const TRIED = new Set(
  LONG
    ? [...Object.keys(WAYS), ...Object.keys(LEAVING)]
    : [
        ...['image', 'style', 'script', 'frame-redirect', 'prefetch', 'fetch', 'fetch-redirect', 'socket', 'beacon'],
        ...['import', 'worker', 'shared-worker', 'service-worker', 'open', 'download'],
        ...['refresh', 'location-redirect', 'form'],
      ],
)
const TRIED_IN_ORDER = [...Object.keys(WAYS), ...Object.keys(LEAVING)].filter((way) => TRIED.has(way))

/** Time for which the page with all ways is kept busy, because a shared worker needs time to start in its own process. */
const HELD_MS = 5000

/** The full browser has more ways out, and takes three times as long to start. */
const BROWSER = LONG ? locateFullChromium() : locateChromium()

/** An address and a name. Only long runs try more, because the same code checks them all. */
const HOSTS = ['127.0.0.1', 'inside.example', ...(LONG ? ['[::1]', 'localhost'] : [])]

test('a browser without a guard reaches internal addresses in all ways', async () => {
  const { site, canary, packets } = await setUp()
  const browser = await openChromium(BROWSER)
  closeLater(() => browser.close())
  const pages = attackPages(site, packets.port, [`http://127.0.0.1:${canary.port}`])
  for (const { url, body } of pages) {
    site.pages.set(new URL(url).pathname, text(String(body), 'text/html'))
    const page: Page = await browser.newPage()
    await page.goto(url, { waitUntil: 'commit' }).catch(() => {})
  }
  await vi.waitFor(() => expect(waysSeen(canary)).toEqual(TRIED_IN_ORDER), { timeout: 20_000 })
  await vi.waitFor(() => expect(packets.count()).toBeGreaterThan(0), { timeout: 20_000 })
})

test('an allowance opens internal addresses to all ways, except those that the renderer always blocks', async () => {
  const { site, canary, packets } = await setUp()
  const renderer = await shareRenderer({ resolve, allowance: allow('127.0.0.0/8', '::1') })
  const pages = attackPages(site, packets.port, [`http://127.0.0.1:${canary.port}`])
  await Promise.all(pages.map((page) => renderer.render(page)))
  const expected = TRIED_IN_ORDER.filter((way) => !ALWAYS_BLOCKED.includes(way))
  await vi.waitFor(() => expect(waysSeen(canary)).toEqual(expected), { timeout: 10_000 })
  expect(packets.count()).toBe(0)
})

test.each([
  ['does not lead to an internal address', [SITE_ADDRESS], 0],
  ['leads to an internal address if that is allowed', ['127.0.0.0/8'], 1],
] as const)('DNS rebinding: a name that changes its address %s', async (_what, rules, connections) => {
  const site = await openTestSite({
    '/one': { headers: { connection: 'close' }, body: 'one' },
    '/two': { headers: { connection: 'close' }, body: 'two' },
  })
  const { port } = new URL(site.origin)
  const canary = await openCanary('127.0.0.1', Number(port))
  closeLater(() => canary.close())
  let times = 0
  const renderer = await shareRenderer({
    allowance: allow(...rules),
    resolve: async () => (times++ === 0 ? [SITE_ADDRESS] : ['127.0.0.1']),
  })
  const script = `<script type="module">for (const path of ['/one', '/two']) document.body.append(await fetch(path).then((it) => it.status))</script>`
  await renderer.render(snapshotOf(`http://rebind.example:${port}/`, script))
  expect(site.requestedPaths()).toEqual(['/one'])
  expect([times, canary.connections]).toEqual([2, connections])
})

// This must be the last test with the shared browser, because it closes the browser together with all requests under way.
test('no way leads from a page to internal addresses or names', async () => {
  const { site, canary, packets } = await setUp()
  const targets = HOSTS.map((host) => `http://${host}:${canary.port}`)
  const renderer = await shareRenderer({ resolve, allowance: allow(SITE_ADDRESS) })
  await Promise.all(attackPages(site, packets.port, targets).map((page) => renderer.render(page)))
  await closeShared()
  expect([canary.connections, canary.paths, packets.count()]).toEqual([0, [], 0])
  // The pages did run.
  expect(site.requestedPaths().filter((path) => /^\/(moved|worker)/.test(path)).length).toBe(4 * targets.length)
})

test('no way leads to internal addresses through a configured proxy', async () => {
  const { site, canary, packets } = await setUp()
  const proxy = await openTunnelProxy()
  closeLater(() => proxy.close())
  const renderer = await openTestRenderer({ executablePath: BROWSER, resolve, proxy: proxy.url, concurrency: 1 })
  const [all] = attackPages(site, packets.port, [`http://127.0.0.1:${canary.port}`])
  if (all !== undefined) await renderer.render(all)
  expect([canary.connections, packets.count()]).toEqual([0, 0])
  expect(new Set(proxy.targets)).toEqual(new Set([new URL(site.origin).host]))
})

/** The allowance and the DNS answers of a renderer. */
interface Reach {
  readonly allowance: Allowance
  readonly resolve: HostResolver
}

/** The reach of the current test. */
let reach: Reach
let shared: Promise<ChromiumRenderer> | undefined

/**
 * A renderer with the allowance and the resolver of the test. Tests share one browser, unless they need different launch options such as a
 * proxy.
 */
function shareRenderer(wanted: Reach): Promise<ChromiumRenderer> {
  reach = wanted
  shared ??= openRenderer({
    executablePath: BROWSER,
    allowance: {
      isNameAllowed: (...given) => reach.allowance.isNameAllowed(...given),
      isAllowed: (...given) => reach.allowance.isAllowed(...given),
    },
    resolve: (...given) => reach.resolve(...given),
    // One window, because opening another costs more than rendering the pages.
    concurrency: 1,
  })
  return shared
}

async function closeShared(): Promise<void> {
  const renderer = await shared
  shared = undefined
  await renderer?.close()
}

afterAll(closeShared)

interface SsrfFixture {
  readonly site: Site
  readonly canary: Canary
  readonly packets: { readonly port: number; readonly count: () => number }
}

/**
 * Opens a site that pages may reach, and two servers that they may not: a TCP server on all local addresses and a UDP server on 127.0.0.1.
 */
async function setUp(): Promise<SsrfFixture> {
  const site = await openTestSite()
  const canary = await openCanary()
  closeLater(() => canary.close())
  let count = 0
  const socket = createSocket('udp4', () => {
    count++
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  closeLater(async () => socket.close())
  return { site, canary, packets: { port: socket.address().port, count: () => count } }
}

/** One page with all ways, one for the pathless attacks on each target, and one for each way that leaves the page. */
function attackPages(site: Site, udpPort: number, targets: readonly string[]): ReturnType<typeof snapshotOf>[] {
  const all = tried(WAYS).map(([way, html]) => {
    return targets.map((target, i) => fill(html, `${target}/${way}`, `${way}-${i}`)).join('\n')
  })
  const pathless = targets.map((target) => PATHLESS.replaceAll('$', target).replaceAll('PORT', String(udpPort)))
  for (const target of targets) {
    for (const way of TRIED_IN_ORDER) {
      site.pages.set(`/moved?${target}/${way}`, redirect(`${target}/${way}`, 302))
      site.pages.set(`/worker.js?${target}/${way}`, text(`importScripts('${target}/${way}')`, 'text/javascript'))
      site.pages.set(`/service.js?${target}/${way}`, text(`fetch('${target}/${way}')`, 'text/javascript'))
    }
  }
  site.pages.set('/held', { body: '', delayMs: HELD_MS })
  return [
    snapshotOf(`${site.origin}/all`, all.join('\n')),
    ...pathless.map((html, i) => snapshotOf(`${site.origin}/pathless-${i}`, html)),
    ...targets.flatMap((target, i) =>
      tried(LEAVING).map(([way, html]) =>
        snapshotOf(`${site.origin}/leave-${way}-${i}`, fill(html, `${target}/${way}`, way)),
      ),
    ),
  ]
}

/** The ways that this run tries. */
function tried(ways: Readonly<Record<string, string>>): [way: string, html: string][] {
  return Object.entries(ways).filter(([way]) => TRIED.has(way))
}

/** Fills in the address, and makes the id of the element unique. */
function fill(html: string, address: string, id: string): string {
  const [, templateId] = /id="(\w+)"/.exec(html) ?? []
  const filled = html.replaceAll('$@', address)
  return templateId === undefined ? filled : filled.replaceAll(`"${templateId}"`, `"${id}"`)
}

function waysSeen(canary: Canary): string[] {
  const seen = new Set(canary.paths.map((path) => path.split('/')[1] ?? ''))
  return TRIED_IN_ORDER.filter((way) => seen.has(way))
}

/** DNS answers of the tests, given without a real lookup. */
const resolve: HostResolver = async (host) => (host === 'localhost' ? ['127.0.0.1', '::1'] : ['127.0.0.1'])
