import { setTimeout as sleep } from 'node:timers/promises'
import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import type { Reach } from '../../src/core/url/scope.ts'
import type { SiteHeaders } from '../../src/crawl/ports.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { fetchUrl } from '../../src/library/crawl/fetch-url.ts'
import { prepareSource } from '../../src/library/crawl/prepare-source.ts'
import { createSiteHeaderLookup } from '../../src/settings/site-headers.ts'
import { connect } from '../mcp/connect.ts'
import { openTestLibrary, openTestSite, runCrawl, withNames } from './crawl.ts'
import { type Answer, page, redirect, type Site, text } from './site.ts'

const COOKIE = 'session=s3cret'

/** A site behind a cookie: without it, every address leads to a page that demands a login. */
async function openClosedSite(pages: Readonly<Record<string, Answer>>): Promise<Site> {
  const site = await openTestSite({ '/login': page('Log in', [], '<p>Please log in to continue.</p>') })
  for (const [path, given] of Object.entries(pages)) {
    site.pages.set(path, (request) => {
      if (request.headers.cookie !== COOKIE) return redirect('/login')
      return typeof given === 'function' ? given(request) : given
    })
  }
  return site
}

function siteHeadersFor(site: Site, environment: Record<string, string> = { DOCS_COOKIE: COOKIE }): SiteHeaders {
  return createSiteHeaderLookup([`${site.origin} Cookie=DOCS_COOKIE`], environment)
}

test('an archive is downloaded with the headers of its origin, and a redirect to another origin gets none', async () => {
  const content = zipSync({ 'guide.md': new TextEncoder().encode('# Guide\n\nThe lamp is lit at dusk.\n') })
  const archive = { headers: { 'content-type': 'application/zip' }, body: content }
  const elsewhere = await openTestSite({ '/moved.zip': archive })
  const site = await openClosedSite({
    '/docs.zip': archive,
    '/away.zip': redirect(`${elsewhere.origin}/moved.zip`),
  })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site) }
  for (const path of ['/docs.zip', '/away.zip']) {
    const { source } = await prepareSource(library, { url: `${site.origin}${path}`, name: path.slice(1, 5) })
    const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin)
    expect(summary).toMatchObject({ end: 'completed', indexed: 1 })
  }
  expect(site.requests.map(({ headers }) => headers['cookie'])).toEqual([COOKIE, COOKIE])
  expect(elsewhere.requests.map(({ headers }) => headers['cookie'])).toEqual([undefined])
})

test('an agent adds a site behind a cookie without seeing the cookie', async () => {
  const site = await openClosedSite({
    '/robots.txt': text('User-agent: *\n'),
    '/': page('Lamps', ['/a']),
    '/a': page('Wicks'),
  })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site) }
  const { call } = await connect({ openLibrary: async () => library })
  const answers = [await call('add_source', { url: `${site.origin}/`, name: 'lamps' })]
  const isRunning = async () => {
    const status = await call('crawl_status', { source: 'lamps' })
    answers.push(status)
    return JSON.stringify(status.structuredContent).includes('"isRunning":true')
  }
  for (let left = 600; left > 0 && (await isRunning()); left--) await sleep(50)
  expect(site.requestedPaths()).toContain('/a')
  expect(site.requestedPaths()).not.toContain('/login')
  answers.push(await call('search_docs', { query: 'wicks' }), await call('list_sources', {}))
  expect(JSON.stringify(answers)).not.toContain('s3cret')
  expect(JSON.stringify(answers)).toContain('Wicks')
})

test('an agent is told the name of a missing variable, and no source stays behind', async () => {
  const site = await openClosedSite({ '/': page('Lamps') })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site, {}) }
  const { call } = await connect({ openLibrary: async () => library })
  const answer = await call('add_source', { url: `${site.origin}/`, name: 'lamps' })
  expect(answer.isError).toBe(true)
  expect(JSON.stringify(answer.content)).toContain('DOCS_COOKIE, which should hold the cookie header')
  expect(await library.store.listSources()).toEqual([])
  expect(site.requests).toEqual([])
})

test('the browser sends the headers for requests to their origin only', async () => {
  const elsewhere = await openTestSite({ '/other.json': text('{}', 'application/json') })
  const shell = `<!doctype html><title>Lamps</title><div id="root"></div><script src="/app.js"></script>`
  const app = `fetch('${elsewhere.origin}/other.json', { mode: 'no-cors' }); fetch('/away', { mode: 'no-cors' })
    fetch('/data.json').then((answer) => answer.json()).then(({ words }) => {
      document.getElementById('root').innerHTML = '<main><h1>Lamps</h1><p>' + words + '</p></main>'
    })`
  const site = await openClosedSite({
    '/robots.txt': text('User-agent: *\n'),
    '/': shell,
    '/app.js': text(app, 'text/javascript'),
    '/away': redirect(`${elsewhere.origin}/other.json`),
    '/data.json': text(JSON.stringify({ words: 'A wick is trimmed each evening before dusk.' }), 'application/json'),
  })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site) }
  const { source } = await prepareSource(library, { url: `${site.origin}/`, settings: { render: 'chromium' } })
  const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin)
  expect(summary).toMatchObject({ end: 'completed', indexed: 1 })
  const cookiesOf = (path: string) =>
    site.requests.filter((request) => request.path === path).map(({ headers }) => headers['cookie'])
  for (const path of ['/', '/app.js', '/data.json', '/away']) {
    expect([path, new Set(cookiesOf(path))]).toEqual([path, new Set([COOKIE])])
  }
  expect(elsewhere.requests.length).toBeGreaterThan(0)
  expect(elsewhere.requests.every(({ headers }) => headers['cookie'] === undefined)).toBe(true)
})

test('a missing variable stops a crawl before anything is requested or stored, and is named', async () => {
  const site = await openClosedSite({ '/': page('Lamps') })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site, {}) }
  const message = `DOCS_COOKIE, which should hold the cookie header for ${site.origin}, is not set`
  await expect(prepareSource(library, { url: `${site.origin}/` })).rejects.toThrow(message)
  await expect(fetchUrl(library, `${site.origin}/`, { signal: new AbortController().signal })).rejects.toThrow(message)
  expect(await library.store.listSources()).toEqual([])
  expect(site.requests).toEqual([])
})

test('a crawl continues without the headers of another origin whose variable is missing', async () => {
  const other = await openTestSite({ '/robots.txt': text('User-agent: *\n') })
  const site = await openTestSite({ '/robots.txt': redirect(`${other.origin}/robots.txt`), '/': page('Open') })
  const entries = [
    `${site.origin} Cookie=DOCS_COOKIE`,
    `${other.origin} Cookie=DOCS_COOKIE`,
    `${other.origin} X-Key=DOCS_KEY`,
  ]
  const siteHeaders = createSiteHeaderLookup(entries, { DOCS_COOKIE: COOKIE })
  const library = { ...(await openTestLibrary()), siteHeaders }
  const { source } = await prepareSource(library, { url: `${site.origin}/` })
  const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin)
  expect(summary).toMatchObject({ end: 'completed', indexed: 1 })
  expect(new Set(site.requests.map(({ headers }) => headers['cookie']))).toEqual(new Set([COOKIE]))
  expect(other.requestedPaths()).toContain('/robots.txt')
  for (const { headers } of other.requests) expect(headers).not.toHaveProperty('x-key')
  for (const { headers } of other.requests) expect(headers).not.toHaveProperty('cookie')
})

test('a crawl continues without the headers of another origin whose variable is missing, and names the variable once', async () => {
  const other = await openClosedSite({ '/': page('Closed'), '/a': page('Closed too') })
  const site = await openTestSite({ '/': page('Open', ['http://b.docs.localhost/', 'http://b.docs.localhost/a']) })
  const entries = ['http://b.docs.localhost Cookie=DOCS_COOKIE', 'http://elsewhere.localhost Cookie=OTHER_COOKIE']
  const library = {
    ...withNames(await openTestLibrary(), { 'a.docs.localhost': site, 'b.docs.localhost': other }),
    siteHeaders: createSiteHeaderLookup(entries, {}),
  }
  const { source } = await prepareSource(library, { url: 'http://a.docs.localhost/', scope: { reach: 'domain' } })
  const { summary, events } = await runCrawl(library, source, { kind: 'add' }, site.origin)
  expect(summary.end).toBe('completed')
  expect(other.requestedPaths()).toContain('/a')
  expect(other.requests.every(({ headers }) => headers['cookie'] === undefined)).toBe(true)
  expect(events.filter(({ type }) => type === 'problem')).toEqual([
    {
      ...{ type: 'problem', kind: 'missing-header', target: 'http://b.docs.localhost', details: {} },
      message:
        'DOCS_COOKIE, which should hold the cookie header for http://b.docs.localhost, is not set; its pages are requested without it',
    },
  ])
})

test('a page that demands a login is not stored when the cookie is refused', async () => {
  const site = await openClosedSite({ '/': page('Lamps') })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site, { DOCS_COOKIE: 'session=old' }) }
  const { source } = await prepareSource(library, { url: `${site.origin}/` })
  const { summary } = await runCrawl(library, source, { kind: 'add' }, site.origin)
  expect(summary.indexed).toBe(0)
})

test('Crawl4AI is refused for a site with configured headers, because it sends its own requests', async () => {
  const site = await openClosedSite({ '/': page('Lamps') })
  const library = { ...(await openTestLibrary()), siteHeaders: siteHeadersFor(site) }
  const add = prepareSource(library, { url: `${site.origin}/`, settings: { render: 'crawl4ai' } })
  await expect(add).rejects.toThrow('headers cannot be used with render crawl4ai')
})

test('Crawl4AI is refused if a crawl can reach another origin with configured headers', async () => {
  const siteHeaders = createSiteHeaderLookup(['api.example.com Cookie=DOCS_COOKIE'], { DOCS_COOKIE: COOKIE })
  const library = { ...(await openTestLibrary()), siteHeaders }
  const refusal = 'headers cannot be used with render crawl4ai'
  const add = (url: string, reach: Reach) =>
    prepareSource(library, { url, scope: { reach }, settings: { render: 'crawl4ai' } })
  await expect(add('https://docs.example.com/', 'domain')).rejects.toThrow(refusal)
  // Without a service, a crawl that is not refused for its headers is refused for that.
  await expect(add('https://docs.example.com/', 'hostname')).rejects.not.toThrow(refusal)
  await expect(add('https://docs.example.org/', 'domain')).rejects.not.toThrow(refusal)
  const input = { url: 'https://docs.example.org/', settings: { render: 'crawl4ai' as const } }
  const source = { ...(await addSource(library, input)), siteUrl: 'https://api.example.com/' }
  await expect(runCrawl(library, source, { kind: 'add' }, '')).rejects.toThrow(refusal)
  expect(await library.store.listCrawls(source.id, 1)).toEqual([])
})
