import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import { PageDefect } from '../../src/crawl/page-defect.ts'
import type { RenderOutcome } from '../../src/crawl/ports.ts'
import { systemClock } from '../../src/fetch/clock.ts'
import type { Library } from '../../src/library/library.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { documentId } from '../../src/readers/document.ts'
import {
  loadSource,
  openPharosReader,
  type PharosReader,
  type PharosReaderOptions,
} from '../../src/readers/pharos-reader.ts'
import { createCrawlFixture, openTestLibrary, openTestSite } from '../sites/crawl.ts'
import { type Answer, markdown, page, redirect, type Site, text } from '../sites/site.ts'
import { listAll } from './list-all.ts'

const NOW = Date.UTC(2026, 1, 20, 10, 30)

/** Shared by all readers, because reading stores nothing except for facts about hosts. */
let shared: OpenLibrary
let siteCount = 0
const readers: PharosReader[] = []

beforeAll(async () => {
  shared = await openLibrary({ path: ':memory:', version: '0.0.0', allowPrivate: ['127.0.0.0/8'] })
})

afterAll(() => shared.close())

afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close()
})

/** A reader over a library that may reach this machine. */
async function openReader(options: PharosReaderOptions = {}, parts: Partial<Library> = {}): Promise<PharosReader> {
  const reader = await openPharosReader({ library: { ...shared, ...parts }, ...options })
  readers.push(reader)
  return reader
}

/** A site at an IP address of its own, so that it counts as a separate host. */
function stageOwnSite(pages: Readonly<Record<string, Answer>>): Promise<Site> {
  return openTestSite(pages, { address: `127.0.1.${++siteCount}` })
}

async function stageReader(
  pages: Readonly<Record<string, Answer>>,
  options: PharosReaderOptions = {},
  parts: Partial<Library> = {},
) {
  return { site: await stageOwnSite(pages), reader: await openReader(options, parts) }
}

const pathsOf = (site: Site): string[] => site.requestedPaths().filter((path) => path !== '/robots.txt')

describe('a document', () => {
  test('has the text of the page, an id derived from its address, and nine flat metadata fields', async () => {
    const more = '<meta name="description" content="How tides are told.">'
    const links = ['/a', '/a#part', '/b', 'https://other.example/', 'https://other.example/x', 'mailto:a@b.example']
    const clock = { now: () => NOW, sleep: systemClock.sleep }
    const { site, reader } = await stageReader({ '/tides': page('Tides', links, more) }, {}, { clock })
    const url = `${site.origin}/tides`
    const [document] = await reader.loadData([url])
    expect(document).toEqual({
      id: documentId(url),
      text: expect.stringMatching(/^# Tides\n\nThis page is about Tides/),
      metadata: {
        source: url,
        source_url: url,
        title: 'Tides',
        description: 'How tides are told.',
        status_code: 200,
        crawl_timestamp: '2026-02-20T10:30:00.000Z',
        internal_links_count: 2,
        external_links_count: 2,
        source_type: 'web_crawl',
      },
    })
  })

  test('has an empty description if the page has none', async () => {
    const { site, reader } = await stageReader({ '/': page('Home') })
    const [document] = await reader.loadData([`${site.origin}/`])
    expect(document?.metadata.description).toBe('')
  })

  test('has the requested address as its source, also after a redirect', async () => {
    const { site, reader } = await stageReader({ '/old': redirect('/new'), '/new': page('New') })
    const [document] = await reader.loadData([`${site.origin}/old`])
    expect(document?.metadata).toMatchObject({ source_url: `${site.origin}/old`, title: 'New', status_code: 200 })
    expect(document?.id).toBe(documentId(`${site.origin}/old`))
  })

  test('can come from Markdown and plain text', async () => {
    const { site, reader } = await stageReader({
      '/guide.md': text(markdown('Guide'), 'text/markdown'),
      '/notes.txt': text('Notes that are long enough to be read as a page of their own.\n'),
    })
    const documents = await reader.loadData([`${site.origin}/guide.md`, `${site.origin}/notes.txt`])
    expect(documents.map(({ text: body }) => body.split('\n')[0])).toEqual([
      '# Guide',
      'Notes that are long enough to be read as a page of their own.',
    ])
  })
})

describe('a batch', () => {
  test('keeps a slot for each address, in order, with null for failures', async () => {
    const { site, reader } = await stageReader({ '/a': { body: page('A'), delayMs: 60 }, '/c': page('C') })
    const urls = ['/a', '/b', '/c'].map((path) => site.origin + path)
    const slots = await reader.loadAll(urls)
    expect(slots.map((slot) => slot?.metadata.title ?? null)).toEqual(['A', null, 'C'])
    expect(reader.lastFailures.map(({ url }) => url)).toEqual([urls[1]])
    expect((await reader.loadData(urls)).map(({ metadata }) => metadata.title)).toEqual(['A', 'C'])
  })

  test('clears the failures of the previous batch', async () => {
    const { site, reader } = await stageReader({ '/a': page('A') })
    await reader.loadData([`${site.origin}/missing`])
    expect(reader.lastFailures).toHaveLength(1)
    await reader.loadData([`${site.origin}/a`])
    expect(reader.lastFailures).toEqual([])
  })

  test('sends no request if it has no addresses', async () => {
    const { site, reader } = await stageReader({})
    expect(await reader.loadAll([])).toEqual([])
    expect(await reader.loadData([])).toEqual([])
    expect(site.requests).toEqual([])
  })

  test('requests an address twice if it is listed twice', async () => {
    const { site, reader } = await stageReader({ '/a': page('A') })
    const documents = await reader.loadData([`${site.origin}/a`, `${site.origin}/a`])
    expect(documents.map(({ id }) => id)).toEqual([documentId(`${site.origin}/a`), documentId(`${site.origin}/a`)])
    expect(pathsOf(site)).toEqual(['/a', '/a'])
  })

  test('stays within the concurrency limit', async () => {
    let [running, maxRunning] = [0, 0]
    const slow: Answer = () => {
      maxRunning = Math.max(maxRunning, ++running)
      setTimeout(() => running--, 30)
      return { body: page('Slow'), delayMs: 40 }
    }
    const paths = Array.from({ length: 9 }, (_, i) => `/${i}`)
    const { site, reader } = await stageReader(Object.fromEntries(paths.map((path) => [path, slow])), {
      maxConcurrentRequests: 3,
    })
    expect(await reader.loadData(paths.map((path) => site.origin + path))).toHaveLength(9)
    expect(maxRunning).toBe(3)
  })

  test('requests the robots.txt of a host once', async () => {
    const { site, reader } = await stageReader({ '/robots.txt': text('User-agent: *\n'), '/a': page('A') })
    await reader.loadData(Array<string>(6).fill(`${site.origin}/a`))
    expect(site.requests.filter(({ path }) => path === '/robots.txt')).toHaveLength(1)
  })

  test('rejects at the first failure and sends no further request if failOnError is set', async () => {
    const { site, reader } = await stageReader(
      { '/a': page('A'), '/z': page('Z') },
      { failOnError: true, maxConcurrentRequests: 1 },
    )
    const reading = reader.loadData(['/a', '/missing', '/z'].map((path) => site.origin + path))
    await expect(reading).rejects.toMatchObject({ code: 'READ_FAILED' })
    expect(reader.lastFailures.map(({ url }) => url)).toEqual([`${site.origin}/missing`])
    expect(reader.failOnError).toBe(true)
    expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/a', '/missing'])
  })

  test('aborts all other reads at the first failure if failOnError is set', async () => {
    const { site, reader } = await stageReader(
      { '/slow': { body: page('Slow'), delayMs: 5000 } },
      { failOnError: true },
    )
    const urls = [`${site.origin}/slow`, `${site.origin}/missing`]
    await expect(reader.loadAll(urls)).rejects.toThrow(`${urls[1]} could not be read`)
    expect(reader.lastFailures.map(({ url }) => url)).toEqual([urls[1]])
  })

  test('rejects when it is aborted, whether during a request or before it', async () => {
    const { site, reader } = await stageReader({ '/slow': { body: page('Slow'), delayMs: 5000 } })
    const controller = new AbortController()
    const reading = reader.loadData([`${site.origin}/slow`], controller.signal)
    await expect.poll(() => site.requests.length).toBe(2)
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    await expect(reader.loadData([`${site.origin}/slow`], controller.signal)).rejects.toThrow('enough')
    expect(site.requests).toHaveLength(2)
  })
})

describe('unreadable pages', () => {
  /** Message and advice of the failure to read one address. */
  async function failureOf(reader: PharosReader, url: string): Promise<[message: string, advice: string]> {
    await reader.loadAll([url])
    const [failure] = reader.lastFailures
    if (!(failure?.error instanceof PharosError)) throw new TypeError('Expected a failure with a code')
    expect(failure.error.code).toBe('READ_FAILED')
    return [failure.error.message.replace(url, '…'), failure.error.entry.advice]
  }

  const PDF = text('%PDF-1.7 and so on', 'application/pdf')
  const ARCHIVE = text('PK\x03\x04 and so on', 'application/zip')
  const CASES: Record<string, readonly [pages: Readonly<Record<string, Answer>>, message: string, advice: string]> = {
    'a page that is missing': [{}, 'not-found, answered 404', 'check the address'],
    'a page behind a login': [
      { '/x': { status: 401 } },
      'http-client-error, the server answered 401',
      'if it needs a login, give one in headers',
    ],
    'a page that robots.txt forbids': [
      { '/robots.txt': text('User-agent: *\nDisallow: /x'), '/x': page('X') },
      'robots-disallow, robots.txt (read just now) disallows it: Disallow: /x',
      'if you have permission to read it, set obeysRobots to false',
    ],
    'a binary file': [{ '/x': ARCHIVE }, 'not-text, application/zip', 'open it in a browser to see what it shows'],
    'a damaged document': [{ '/x': PDF }, 'damaged, it is not a readable PDF', 'open it in the program'],
    'an endless redirect': [
      { '/x': redirect('/y'), '/y': redirect('/x') },
      'redirect-loop, more than 10 redirects',
      'try again later',
    ],
    'a redirect to another scheme': [
      { '/x': redirect('ftp://files.example/x') },
      'scheme, it redirects to an address that is not http or https',
      'try again later',
    ],
  }

  test.each(Object.entries(CASES))('%s is reported as a failure', async (_what, [pages, message, advice]) => {
    const { site, reader } = await stageReader(pages)
    const [actualMessage, actualAdvice] = await failureOf(reader, `${site.origin}/x`)
    expect(actualMessage).toContain(`… could not be read: ${message}`)
    expect(actualAdvice).toContain(advice)
  })

  test('a page that robots.txt disallows is read if robots.txt is ignored', async () => {
    const pages = { '/robots.txt': text('User-agent: *\nDisallow: /'), '/x': page('X') }
    const { site, reader } = await stageReader(pages, { obeysRobots: false })
    expect(await reader.loadData([`${site.origin}/x`])).toHaveLength(1)
    expect(site.requestedPaths()).toEqual(['/x'])
  })

  test.each(['', 'guide', 'file:///etc/passwd', 'data:text/html,x', 'javascript:0'])('%j is refused', async (url) => {
    const reader = await openReader()
    expect(await reader.loadAll([url])).toEqual([null])
    expect(reader.lastFailures[0]?.error).toMatchObject({ code: 'READ_FAILED' })
  })

  test('a defective page is reported with its defect', async () => {
    const readPage = () => Promise.reject(new PageDefect('needs more memory than allowed'))
    const { site, reader } = await stageReader({ '/x': page('X') }, {}, { readPage })
    const [actualMessage] = await failureOf(reader, `${site.origin}/x`)
    expect(actualMessage).toContain('page-defect, the page needs more memory than allowed')
  })

  test('an internal error rejects the whole batch', async () => {
    const readPage = () => Promise.reject(new TypeError('a fault'))
    const { site, reader } = await stageReader({ '/x': page('X') }, {}, { readPage })
    await expect(reader.loadAll([`${site.origin}/x`])).rejects.toThrow('a fault')
  })

  test('a failure message leaves out the password of the address', async () => {
    const reader = await openReader()
    const [actualMessage] = await failureOf(reader, 'http://me:secret@docs.example/')
    expect(actualMessage).not.toContain('secret')
  })
})

describe('a failing server', () => {
  test('is retried, and read when it has recovered', async () => {
    let requestCount = 0
    const shaky: Answer = () => (++requestCount < 3 ? { status: 500 } : page('Back'))
    const { site, reader } = await stageReader({ '/x': shaky })
    expect((await reader.loadData([`${site.origin}/x`]))[0]?.metadata.title).toBe('Back')
    expect(pathsOf(site)).toHaveLength(3)
  })

  test('gets three requests at most', async () => {
    const { site, reader } = await stageReader({ '/x': { status: 500 } })
    expect(await reader.loadAll([`${site.origin}/x`])).toEqual([null])
    expect(pathsOf(site)).toHaveLength(3)
  })

  test('gets no further requests while it asks to wait', async () => {
    const { site, reader } = await stageReader({ '/x': { status: 429, headers: { 'retry-after': '3600' } } })
    expect(await reader.loadAll([`${site.origin}/x`, `${site.origin}/x`])).toEqual([null, null])
    expect(pathsOf(site).length).toBeLessThan(3)
    await reader.loadAll([`${site.origin}/y`])
    expect(reader.lastFailures[0]?.error.message).toContain('host-parked')
    expect(pathsOf(site)).not.toContain('/y')
  })

  test('is not retried after a 404 response', async () => {
    const { site, reader } = await stageReader({})
    await reader.loadAll([`${site.origin}/x`])
    expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/x'])
  })
})

test('headers are sent to the requested origin, and not to a redirect target', async () => {
  const other = await stageOwnSite({ '/there': page('There') })
  const headers = { authorization: 'Bearer of news' }
  const { site, reader } = await stageReader({ '/here': redirect(`${other.origin}/there`) }, { headers })
  expect(await reader.loadData([`${site.origin}/here`])).toHaveLength(1)
  const authorizedRequests = (to: Site) =>
    to.requests.filter(({ headers: { authorization } }) => authorization !== undefined)
  expect(authorizedRequests(site).map(({ path }) => path)).toEqual(['/here'])
  expect(authorizedRequests(other)).toEqual([])
})

describe('a page that is empty until its scripts have run', () => {
  const SHELL = '<!doctype html><title>App</title><div id="root"></div><script src="/app.js"></script>'
  const renderShown = (url: string): RenderOutcome => ({ type: 'rendered', snapshot: { url, body: page('Shown') } })

  /** A reader with a fake browser that returns this outcome for every page, and the requests of that browser. */
  async function openRendering(render: 'auto' | 'chromium', outcome: (url: string) => RenderOutcome = renderShown) {
    const rendered: string[] = []
    const renderer = {
      prepare: async () => {},
      render: async ({ url }: { url: string }) => {
        rendered.push(new URL(url).pathname)
        return outcome(url)
      },
    }
    const reader = await openReader({ render }, { openRenderer: async () => renderer })
    const site = await stageOwnSite({ '/app': SHELL, '/plain': page('Plain'), '/notes.md': text(markdown('Notes')) })
    const urls = ['/app', '/plain', '/notes.md'].map((path) => site.origin + path)
    return { rendered, reader, urls, site }
  }

  const titlesOf = (slots: readonly ({ metadata: { title: string } } | null)[]) =>
    slots.map((slot) => slot?.metadata.title ?? null)

  test('is rendered with auto, and other pages are not', async () => {
    const { reader, urls, rendered, site } = await openRendering('auto')
    expect(titlesOf(await reader.loadAll(urls))).toEqual(['Shown', 'Plain', 'Notes'])
    expect(rendered).toEqual(['/app'])
    expect(pathsOf(site)).toEqual(['/app', '/notes.md', '/plain'])
  })

  test('is rendered with chromium, like every HTML page', async () => {
    const { reader, urls, rendered } = await openRendering('chromium')
    expect(titlesOf(await reader.loadAll(urls))).toEqual(['Shown', 'Shown', 'Notes'])
    expect(new Set(rendered)).toEqual(new Set(['/app', '/plain']))
  })

  test('fails if the browser fails', async () => {
    const { reader, urls } = await openRendering('auto', () => ({
      type: 'failed',
      reason: 'timeout',
      detail: 'it never came to rest',
      isTransient: true,
    }))
    expect(titlesOf(await reader.loadAll(urls))).toEqual([null, 'Plain', 'Notes'])
    expect(reader.lastFailures[0]?.error.message).toContain('timeout, it never came to rest')
  })

  test('is replaced by the page that its scripts navigate to', async () => {
    const { reader, urls, site } = await openRendering('auto', (url) => ({
      type: 'rendered',
      snapshot: { url: new URL('/plain', url).href, body: SHELL },
    }))
    expect(titlesOf(await reader.loadAll(urls.slice(0, 1)))).toEqual(['Plain'])
    expect(pathsOf(site)).toEqual(['/app', '/plain'])
  })

  test('is read as the installed browser renders it', async () => {
    const script = `document.getElementById('root').innerHTML = ${JSON.stringify(page('Tides'))}`
    const { site, reader } = await stageReader(
      { '/app': SHELL, '/app.js': text(script, 'text/javascript') },
      { render: 'auto' },
    )
    const [document] = await reader.loadData([`${site.origin}/app`])
    expect(document?.text).toContain('This page is about Tides')
    expect(document?.metadata).toMatchObject({ source_url: `${site.origin}/app`, status_code: 200 })
    expect(pathsOf(site)).toEqual(['/app', '/app.js'])
  })

  test('fails without rendering, and the error advises to set render to auto', async () => {
    const { site, reader } = await stageReader({ '/app': SHELL })
    expect(await reader.loadAll([`${site.origin}/app`])).toEqual([null])
    const [failure] = reader.lastFailures
    expect(failure?.error.message).toContain('needs-rendering')
    expect(failure?.error).toMatchObject({ entry: { advice: expect.stringContaining('set render to auto') } })
  })
})

describe('a reader', () => {
  test('has a class name and default options', async () => {
    const reader = await openReader()
    expect([reader.className, reader.isRemote, reader.failOnError]).toEqual(['PharosReader', true, false])
    expect(reader.maxConcurrentRequests).toBe(5)
  })

  test.each([0, 21, 1.5, Number.NaN])('refuses a concurrency of %s', async (maxConcurrentRequests) => {
    await expect(openPharosReader({ maxConcurrentRequests })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining(`from 1 to 20, got ${maxConcurrentRequests}`),
    })
  })

  test('opens a library of its own if none is given, and identifies itself in the user agent', async () => {
    const site = await openTestSite({ '/a': page('A') })
    const reader = await openPharosReader({ allowPrivate: ['127.0.0.1'] })
    try {
      expect(await reader.loadData([`${site.origin}/a`])).toHaveLength(1)
      expect(site.requests[0]?.headers['user-agent']).toMatch(/^Pharos\/\d+\.\d+\.\d+/)
    } finally {
      await reader.close()
    }
    await expect(reader.loadData([`${site.origin}/a`])).rejects.toThrow('the reader is closed')
  })

  test('does not close a library that was passed to it', async () => {
    const library = await openTestLibrary()
    const reader = await openPharosReader({ library })
    await reader.close()
    expect(await library.store.listSources()).toEqual([])
  })

  test('aborts reads in progress when it is closed', async () => {
    const { site, reader } = await stageReader({ '/slow': { body: page('Slow'), delayMs: 5000 } })
    const reading = reader.loadData([`${site.origin}/slow`])
    await expect.poll(() => site.requests.length).toBe(2)
    await Promise.all([reader.close(), expect(reading).rejects.toThrow('the reader is closed')])
  })
})

describe('the pages of a source', () => {
  test('are documents like those of a reader', async () => {
    const { site, library, source, crawl } = await createCrawlFixture({
      '/': page('Home', ['/a', '/b']),
      '/a': page('A'),
    })
    await crawl()
    const documents = await listAll(loadSource(library, source.name))
    expect(documents.map(({ metadata: { title, status_code: status } }) => [title, status])).toEqual([
      ['Home', 200],
      ['A', 200],
    ])
    const reader = await openPharosReader({ library })
    const [read] = await reader.loadData([`${site.origin}/a`])
    expect(read && withoutTime(read)).toEqual(documents[1] && withoutTime(documents[1]))
  })

  test('keep their first status after a check found them unchanged', async () => {
    const { library, source, crawl } = await createCrawlFixture({ '/': page('Home') })
    await crawl()
    await crawl({ kind: 'recrawl' })
    const [home] = await listAll(loadSource(library, source.id))
    expect(home?.metadata.status_code).toBe(200)
  })

  test('require an existing source', async () => {
    const library = await openTestLibrary()
    await expect(listAll(loadSource(library, 'nothing'))).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
  })

  function withoutTime({ metadata, ...document }: Awaited<ReturnType<PharosReader['loadData']>>[number]) {
    return { ...document, metadata: { ...metadata, crawl_timestamp: '' } }
  }
})
