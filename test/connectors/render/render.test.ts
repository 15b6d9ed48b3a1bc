import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChromiumRenderer } from '../../../src/fetch/chromium/renderer.ts'
import { READ_ACTIVITY_SCRIPT } from '../../../src/fetch/chromium/scripts.ts'
import { closeLater } from '../../close-later.ts'
import { openSite, redirect, type Site, text } from '../../sites/site.ts'
import { allow, htmlOf, openRenderer, openTestRenderer, SITE_ADDRESS, snapshotOf } from './fixture.ts'

/** The script of an application: it requests data, waits, and shows the data. */
const APP = `
const draw = async () => {
  const { title } = await fetch('/data.json').then((answer) => answer.json())
  setTimeout(() => {
    const before = [localStorage.visits, sessionStorage.seen, window.name, document.cookie].join()
    document.querySelector('#app').innerHTML = '<h1>' + title + '</h1><a href="/next">Next</a>'
    setTimeout(() => document.querySelector('#app').append(' before: ' + before), 150)
    localStorage.visits = 1
    sessionStorage.seen = 1
    window.name = 'used'
    document.cookie = 'session=1'
  }, 200)
}
draw()`

const SHELL = '<div id="app"></div><noscript>You need JavaScript.</noscript><script src="/app.js"></script>'

const pages = {
  '/app.js': {
    headers: { 'content-type': 'text/javascript', 'cache-control': 'max-age=600' },
    body: APP,
  },
  '/data.json': text('{"title":"Guide"}', 'application/json'),
}

/** Number of concurrent pages. Each needs a window, and opening a window costs more than rendering a page. */
const CONCURRENCY = 2

let site: Site
let renderer: ChromiumRenderer

beforeAll(async () => {
  site = await openSite(pages, { address: SITE_ADDRESS })
  renderer = await openRenderer({
    allowance: allow(SITE_ADDRESS, '127.0.0.3'),
    concurrency: CONCURRENCY,
    // Longer than the test timeout, so a test fails if a page is only returned at the timeout of the renderer.
    timeoutMs: 120_000,
  })
})

afterAll(async () => {
  await renderer.close()
  await site.close()
})

const render = async (body: string, head = ''): Promise<string> =>
  htmlOf(await renderer.render(snapshotOf(`${site.origin}/page`, body, head)))

test('the renderer returns a static page unchanged, with its status and relevant headers', async () => {
  const outcome = await renderer.render({
    url: `${site.origin}/static`,
    body: new TextEncoder().encode(
      '<!DOCTYPE html><html lang="en"><head><base href="/b/"><title>T</title></head><body><p>é</p></body></html>',
    ),
    status: 203,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'x-robots-tag': 'nofollow',
      'set-cookie': 'a=1',
      'content-disposition': 'attachment',
      etag: '"1"',
    },
  })
  expect(outcome).toEqual({
    type: 'rendered',
    snapshot: {
      url: `${site.origin}/static`,
      body: '<!DOCTYPE html>\n<html lang="en"><head><base href="/b/"><title>T</title></head><body><p>é</p></body></html>',
      status: 203,
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-robots-tag': 'nofollow' },
    },
  })
})

test('the renderer waits for data, timers and their results every time, and loads scripts once per window', async () => {
  site.clearRequests()
  const seen = new Set<string>()
  for (let i = 0; i < 4; i++) seen.add(await render(SHELL))
  expect([...seen].map((html) => /<div id="app">(.*?)<\/div>/.exec(html)?.[1])).toEqual([
    '<h1>Guide</h1><a href="/next">Next</a> before: ,,,',
  ])
  expect([...seen].join()).not.toContain('You need JavaScript')
  const requested = site.requestedPaths()
  expect(requested.filter((path) => path === '/data.json').length).toBe(4)
  // Neither the document nor an icon is requested, and each window has its own cache.
  expect(requested.filter((path) => path !== '/data.json' && path !== '/app.js')).toEqual([])
  expect(requested.filter((path) => path === '/app.js').length).toBeLessThanOrEqual(2)
  expect(site.requests[0]?.headers['user-agent']).toBe('Pharos/0.0.0 (+test)')
})

test('the renderer waits for XMLHttpRequest', async () => {
  const html = await render(`<script>
    const request = new XMLHttpRequest()
    request.open('GET', '/data.json')
    request.onload = () => document.body.append(JSON.parse(request.responseText).title)
    request.send()
  </script>`)
  expect(html).toContain('Guide')
})

test('the renderer does not wait for a request that could not be sent', async () => {
  const html = await render(`<p></p><script>
    try { new XMLHttpRequest().send() } catch {}
    setTimeout(() => ${READ_ACTIVITY_SCRIPT}.then(({ due }) => { document.querySelector('p').textContent = 'due ' + due }), 100)
  </script>`)
  expect(html).toContain('<p>due 0</p>')
})

/** Ways to read the body of a response, most of them in parts. */
const READS: Readonly<Record<string, string>> = {
  bytes: 'decode(await it.bytes())',
  reader: 'await gather(it.body.getReader())',
  'byte reader': `await gather(it.body.getReader({ mode: 'byob' }), () => [new Uint8Array(99)])`,
  tee: 'await gather(it.body.tee()[1].getReader())',
  clone: 'await gather(it.clone().body.getReader())',
  iterator: 'await (async () => { let all = ""; for await (const part of it.body) all += decode(part); return all })()',
  pipeThrough: 'await (async () => { let all = ""; for await (const part of pipe(it)) all += part; return all })()',
  pipeTo: 'await (async () => { let all = ""; await pipe(it).pipeTo(sink((part) => { all += part })); return all })()',
  wasm: '((await WebAssembly.compileStreaming(it)) && "first last")',
}

test('the renderer waits for the end of a streamed response, however the page reads it', async () => {
  const origin = await stageSlow()
  const steps = Object.entries(READS).map(
    ([way, read]) => `it = await fetch('${origin}/${way}'); show('${way}: ' + ${read})`,
  )
  const body = `<ul></ul><script type="module">
    const show = (text) => document.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: text }))
    const decode = (bytes) => new TextDecoder().decode(bytes)
    const pipe = ({ body }) => body.pipeThrough(new TextDecoderStream())
    const sink = (write) => new WritableStream({ write })
    const gather = async (reader, given = () => []) => {
      for (let all = ''; ; ) {
        const { value, done } = await reader.read(...given())
        if (done) return all
        all += decode(value)
      }
    }
    let it
    ${steps.join('\n')}
  </script>`
  const all = await Promise.all([render(body), render(body)])
  const read = Object.keys(READS).map((way) => `${way}: first last`)
  for (const html of all) expect([...html.matchAll(/<li>(.*?)<\/li>/g)].map(([, shown]) => shown)).toEqual(read)
})

/** A server that ends each response after 400 ms, too late for a renderer that does not wait for the end. */
async function stageSlow(): Promise<string> {
  const EMPTY_MODULE = ['\0asm', '\u0001\0\0\0']
  const server = createServer(({ url }, response) => {
    const isModule = url === '/wasm'
    const [first, last] = isModule ? EMPTY_MODULE : ['first ', 'last']
    const type = isModule ? 'application/wasm' : 'text/plain'
    response.writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' }).write(first)
    setTimeout(() => response.end(last), 400)
  })
  await new Promise<void>((resolve) => server.listen(0, SITE_ADDRESS, resolve))
  closeLater(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  return `http://${SITE_ADDRESS}:${(server.address() as AddressInfo).port}`
}

test('the renderer renders several pages concurrently and independently', async () => {
  const all = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      render(`<p id="p"></p><script>document.cookie = 'n=${i}'
      setTimeout(() => { document.getElementById('p').textContent = document.cookie }, 100)</script>`),
    ),
  )
  expect(all.map((html) => /n=\d/.exec(html.split('<p id="p">')[1] ?? '')?.[0])).toEqual(
    Array.from({ length: 6 }, (_, i) => `n=${i}`),
  )
})

test('the renderer inlines open shadow trees at their hosts', async () => {
  const html = await render(
    `<my-box><b slot="named">Named</b>Rest <x-inner></x-inner></my-box><template><i>kept</i></template><script>
      customElements.define('my-box', class extends HTMLElement {
        constructor() {
          super()
          this.attachShadow({ mode: 'open' }).innerHTML =
            '<style>p { display: none }</style><link rel="stylesheet" href="/x.css"><p>In shadow <a href="/deep">deep</a></p><slot name="named"></slot><slot></slot><slot name="none">Fallback</slot>'
        }
      })
      customElements.define('x-inner', class extends HTMLElement {
        connectedCallback() {
          setTimeout(() => { this.attachShadow({ mode: 'open' }).innerHTML = 'inner' }, 100)
        }
      })
    </script>`,
  )
  expect(/<my-box>.*<\/template>/.exec(html)?.[0]).toBe(
    '<my-box><p>In shadow <a href="/deep">deep</a></p><b slot="named">Named</b>Rest <x-inner>inner</x-inner>Fallback</my-box><template><i>kept</i></template>',
  )
})

test('the renderer is not delayed by dialogs, windows, downloads, permissions or a service worker', async () => {
  site.clearRequests()
  const html = await render(`<p id="p"></p><a target="_blank" id="blank" href="/data.json">x</a>
  <form target="_blank" action="/data.json"></form><script>
    alert('hello')
    const answers = [confirm('sure?'), prompt('who?'), window.open('/data.json')]
    document.getElementById('blank').click()
    document.forms[0].submit()
    const link = document.createElement('a')
    link.href = 'data:text/plain,x'
    link.download = 'x.txt'
    link.click()
    navigator.geolocation.getCurrentPosition(() => {}, () => {})
    const show = (...words) => document.getElementById('p').append(words.join(' '))
    show(...answers, typeof RTCPeerConnection, Notification.permission, '')
    new Notification('x').close()
    navigator.serviceWorker.register('/data.json').then(show, ({ name }) => show(name, ''))
      .then(() => Notification.requestPermission()).then(show)
  </script>`)
  expect(html).toContain('<p id="p">false   undefined denied SecurityError denied</p>')
  expect(site.requestedPaths()).toEqual([])
})

const BLOB = `URL.createObjectURL(new Blob(['onmessage = ({ data }) => postMessage("heard " + data)']))`

/** Scripts with workers, by the text that each must show in the end. */
const WORKERS: Readonly<Record<string, string>> = {
  'Guide 7': `new Worker('/worker.js').onmessage = show`,
  shared: `new SharedWorker('/shared.js').port.onmessage = show`,
  'heard 1': `const w = new Worker(${BLOB}); w.onmessage = show; setTimeout(() => w.postMessage(1), 200)`,
  silent: `new Worker('/silent.js'); show({ data: 'silent' })`,
  missing: `new Worker('/missing.js').onerror = () => show({ data: 'missing' })`,
  ended: `const w = new Worker('/silent.js'); setTimeout(() => w.terminate(), 50); show({ data: 'ended' })`,
}

test('the renderer waits for workers, but not forever for silent ones', async () => {
  const script = (body: string) => text(body, 'text/javascript')
  const worker = `importScripts('/lib.js')
    fetch('/data.json').then((it) => it.json()).then(({ title }) => setTimeout(() => postMessage(title + ' ' + number), 300))`
  site.pages.set('/worker.js', script(worker))
  site.pages.set('/lib.js', script('const number = 7'))
  site.pages.set('/silent.js', script('onmessage = () => {}'))
  const shared = `onconnect = ({ ports }) => setTimeout(() => ports[0].postMessage('shared'), 300)`
  site.pages.set('/shared.js', script(shared))
  const show = `const show = ({ data }) => { document.querySelector('p').textContent = data }`
  const all = Object.values(WORKERS).map((body) => render(`<p>empty</p><script>${show}\n${body}</script>`))
  expect((await Promise.all(all)).map((html) => /<p>(.*?)<\/p>/.exec(html)?.[1])).toEqual(Object.keys(WORKERS))
})

/** Scripts that show something later. */
const LATE: readonly string[] = [
  'let k = 0; const i = setInterval(() => { if (++k === 6) { clearInterval(i); show() } }, 100)',
  'setTimeout("show()", 300)',
  'setTimeout(show, 1500)',
  'let k = 0; const f = () => (++k === 40 ? show() : requestAnimationFrame(f)); requestAnimationFrame(f)',
  'clearTimeout(setTimeout(show, 400)); cancelAnimationFrame(requestAnimationFrame(show)); setTimeout(show, 100)',
  'if (sessionStorage.again) show(); else { sessionStorage.again = 1; location.reload() }',
]

test('the renderer waits for intervals, timers, animation frames, and for the work of a page after it reloaded itself', async () => {
  const show = `const show = () => { document.querySelector('p').textContent = 'shown' }`
  // The last script runs twice, to prove that the second run does not find the state of the first.
  const all = [...LATE, ...LATE.slice(-1)].map((body) => render(`<p>empty</p><script>${show}\n${body}</script>`))
  expect((await Promise.all(all)).map((html) => /<p>(.*?)<\/p>/.exec(html)?.[1])).toEqual(all.map(() => 'shown'))
})

/** Pages with endless timers, animation frames or reads. */
const ENDLESS_PAGES: readonly string[] = [
  '<p>Done</p><script>const tick = () => setTimeout(tick, 100); tick()</script>',
  '<p>Done</p><i>0</i><script>setInterval(() => { document.querySelector("i").textContent++ }, 10)</script>',
  '<p>Done</p><script>const turn = () => requestAnimationFrame(turn); turn()</script>',
  '<p>Done</p><script>new Response(new ReadableStream()).body.getReader().read()</script>',
]

test('the renderer does not wait for the timeout if only endless timers, animation frames or reads are left', async () => {
  for (const html of await Promise.all(ENDLESS_PAGES.map((body) => render(body)))) expect(html).toContain('Done')
})

test('a page finds no state of an earlier page', async () => {
  const body = '<p></p><script>document.querySelector("p").textContent = history.length</script>'
  const [first, ...others] = [await render(body), await render(body), await render(body)]
  // The history of a window begins with an empty page, so its length is 2.
  expect(others.map((html) => /<p>(\d)<\/p>/.exec(html)?.[1])).toEqual(['2', '2'])
  expect(first).toBe(others[0])
})

test('the renderer returns a page that never settles at the timeout, and fails if the page shows nothing', async () => {
  const hasty = await openTestRenderer({ timeoutMs: 1500, concurrency: 1 })
  const more = 'setInterval(() => { document.body.append("", document.createElement("br")) }, 10)'
  const ask = `fetch('http://127.0.0.1:9999/').then((it) => it.text()).then((it) => document.append(it))`
  const bodies = [
    '<p>0</p><script>setInterval(() => { document.querySelector("p").textContent++ }, 10)</script>',
    `<script>${more}</script>`,
    `<script>${ask}\n${more}</script>`,
  ]
  const [ticker, empty, refused] = await Promise.all(
    bodies.map((body) => hasty.render(snapshotOf(`${site.origin}/ticker`, body))),
  )
  expect(ticker?.type === 'rendered' && Number(/<p>(\d+)<\/p>/.exec(htmlOf(ticker))?.[1])).toBeGreaterThan(1)
  const detail = 'the page showed no text within 1500 ms'
  expect(empty).toEqual({ type: 'failed', reason: 'timeout', detail, isTransient: true })
  // The message names refused connections, which may be the cause.
  const refusal = expect.stringContaining('1 connections were refused: 127.0.0.1')
  expect(refused).toMatchObject({ type: 'failed', detail: refusal })
})

test.each([
  ['a navigation by script', '<p>x</p><script>location.href = "/next?a=b#c"</script>', '', '/next?a=b'],
  ['a meta refresh', '<p>x</p>', '<meta http-equiv="refresh" content="0; url=/next">', '/next'],
  ['a change of the history', '<p>x</p><script>history.replaceState(null, "", "/home#top")</script>', '', '/home'],
  ['a reload', '<p>x</p><script>location.reload()</script>', '', '/page'],
  ['a POST', '<form method="post" action="/post"></form><script>document.forms[0].submit()</script><p>x', '', '/page'],
])('the renderer requests nothing after %s, and reports the resulting address', async (_what, body, head, path) => {
  site.clearRequests()
  const outcome = await renderer.render(snapshotOf(`${site.origin}/page`, body, head))
  expect(outcome.type === 'rendered' && outcome.snapshot.url).toBe(site.origin + path)
  expect(site.requestedPaths()).toEqual([])
})

test('the renderer loads only frames of the origin of the page, and no images or audio', async () => {
  site.pages.set('/frame', text('<script>parent.document.body.append("from the frame")</script>', 'text/html'))
  site.pages.set('/frame.js', text('x', 'text/javascript'))
  site.clearRequests()
  const other = site.origin.replace(SITE_ADDRESS, 'localhost')
  const html = await render(`<iframe src="/frame"></iframe><iframe src="${other}/frame"></iframe>
    <img src="/a.png"><audio src="/a.mp3" preload="auto"></audio>`)
  expect(html).toContain('from the frame')
  expect(site.requestedPaths()).toEqual(['/frame'])
})

test('the renderer obeys the content security policy of a page, and returns the page even if its scripts may not run', async () => {
  const snapshot = snapshotOf(`${site.origin}/csp`, '<p>Static</p><script>document.body.append("ran")</script>')
  const headers = { 'content-type': 'text/html', 'content-security-policy': "script-src 'none'; sandbox" }
  const outcome = await renderer.render({ ...snapshot, body: new TextEncoder().encode(String(snapshot.body)), headers })
  expect(htmlOf(outcome)).toContain('<p>Static</p>')
  expect(htmlOf(outcome)).not.toContain('</script>ran')
})

test('the renderer sends headers only to the origin of the page, and caches responses separately with and without them', async () => {
  const elsewhere = await openSite({ '/other.json': text('{}') }, { address: '127.0.0.3' })
  site.pages.set('/away', redirect(`${elsewhere.origin}/other.json`, 302))
  site.pages.set('/secret.js', {
    headers: { 'content-type': 'text/javascript', 'cache-control': 'max-age=600' },
    body: 'document.body.append("secret")',
  })
  site.clearRequests()
  const snapshot = snapshotOf(
    `${site.origin}/`,
    `<script src="/secret.js"></script><script>fetch('${elsewhere.origin}/other.json', { mode: 'no-cors' })
    fetch('/away', { mode: 'no-cors' })</script>`,
  )
  const headers = { authorization: 'Bearer abc', cookie: 'session=abc' }
  for (const request of [{ headers }, { headers }, {}])
    expect(htmlOf(await renderer.render(snapshot, request))).toContain('secret')
  const authorizationsOf = (path: string) =>
    site.requests.filter((request) => request.path === path).map(({ headers }) => headers['authorization'])
  expect(authorizationsOf('/secret.js')).toEqual(['Bearer abc', undefined])
  expect(authorizationsOf('/away')).toEqual(['Bearer abc', 'Bearer abc', undefined])
  const cookies = site.requests.filter(({ path }) => path === '/away').map(({ headers }) => headers['cookie'])
  expect(cookies).toEqual(['session=abc', 'session=abc', undefined])
  // A redirect to another origin does not forward the headers either.
  expect(elsewhere.requests.map(({ headers }) => headers['cookie'])).toEqual(Array(6).fill(undefined))
  expect(elsewhere.requests.map(({ headers }) => headers['authorization'])).toEqual(Array(6).fill(undefined))
  await elsewhere.close()
})

test('the renderer refuses a page that is too large, and renders the page with a higher limit', async () => {
  const body = `<script>document.body.append('é'.repeat(60000))</script>`
  const snapshot = snapshotOf(`${site.origin}/large`, body)
  const failed = { type: 'failed', reason: 'too-large', isTransient: false }
  expect(await renderer.render(snapshot, { maxBytes: 50_000 })).toMatchObject(failed)
  expect(await renderer.render(snapshot, { maxBytes: 100_000 })).toMatchObject(failed)
  expect((await renderer.render(snapshot, { maxBytes: 200_000 })).type).toBe('rendered')
})

test('rendering rejects when it is aborted before it starts, while it waits for a window, or while it runs', async () => {
  const endless = snapshotOf(`${site.origin}/`, '<p>x</p><script>fetch("/hang")</script>')
  site.pages.set('/hang', { delayMs: 60_000 })
  const [first, second] = [new AbortController(), new AbortController()]
  await expect(renderer.render(endless, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
  const rendering = Array.from({ length: CONCURRENCY }, () => renderer.render(endless, { signal: first.signal }))
  const waiting = renderer.render(endless, { signal: second.signal })
  second.abort(new Error('while waiting'))
  await expect(waiting).rejects.toThrow('while waiting')
  const next = render('<p>next</p>')
  first.abort(new Error('while rendering'))
  for (const one of rendering) await expect(one).rejects.toThrow('while rendering')
  expect(await next).toContain('next')
})
