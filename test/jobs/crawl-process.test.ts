import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { prepareStart } from '../../src/library/crawl/prepare-start.ts'
import { parseFrame } from '../../src/library/jobs/events/frames.ts'
import type { Crawl } from '../../src/library/ports/store.ts'
import { openLibrary } from '../../src/open-library.ts'
import { runCrawlProcess } from '../../src/processes/crawl-process.ts'
import { openTestLibrary, openTestSite, runCrawl } from '../sites/crawl.ts'
import { createLibraryPath, readSourceContent, toComparable } from '../sites/file-fixture.ts'
import { messySite, sitemapOf } from '../sites/messy-site.ts'
import { type Answer, page, type Site, sitemap } from '../sites/site.ts'
import { CRAWL_JOB, startProcess } from './processes.ts'

const PATHS = Array.from({ length: 60 }, (_, n) => `/page-${n}`)

/** A site whose crawl causes every action of the queue. */
const PLAIN_SITE: Readonly<Record<string, Answer>> = {
  '/': page('Start', [
    '/a',
    '/b',
    '/shaky',
    '/missing',
    '/closed',
    '/a?utm_source=x',
    'https://other.example/',
    'tel:1',
  ]),
  '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /closed\n' },
  '/a': page('A', ['/old', '/deep/1']),
  '/b': page('B', ['/deep/2']),
  '/mapped': page('Mapped'),
  '/old': { status: 301, headers: { location: '/b' } },
  '/deep/1': page('Deep', ['/deeper']),
  // The content of /mapped, which is found earlier.
  '/deep/2': page('Mapped'),
  '/deeper': page('Deeper', ['/deepest']),
}

/** A site whose start page links to many slow pages. */
async function openSlowSite(delayMs: number): Promise<Site> {
  const site = await openTestSite({ '/': page('Start', PATHS) })
  for (const path of PATHS) site.pages.set(path, { body: page(`Page ${path}`), delayMs })
  return site
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

/** Resolves when a site has received the given number of requests for its pages. */
async function waitForPageRequests(site: Site, pages: number): Promise<void> {
  const deadline = Date.now() + 30_000
  while (site.requests.filter(({ path }) => path.startsWith('/page-')).length < pages) {
    if (Date.now() > deadline) throw new Error(`the site received requests for fewer than ${pages} pages`)
    await sleep(5)
  }
}

/** The last crawl that a library knows. */
function readLastCrawl(path: string): Promise<Crawl | undefined> {
  return withLibrary(path, async ({ store }) => {
    const [source] = await store.listSources()
    return source === undefined ? undefined : (await store.listCrawls(source.id, 1))[0]
  })
}

async function withLibrary<T>(path: string, read: (library: Awaited<ReturnType<typeof openLibrary>>) => Promise<T>) {
  const library = await openLibrary({ path, version: '0.0.0' })
  try {
    return await read(library)
  } finally {
    await library.close()
  }
}

test('the frames of a crawl agree with its ledger', async () => {
  const site = await openTestSite(PLAIN_SITE)
  let failures = 0
  site.pages.set('/shaky', () => (failures++ === 0 ? { status: 500, body: 'no' } : page('Shaky')))
  site.pages.set('/sitemap.xml', sitemap(['/mapped', '/a'].map((path) => site.origin + path)))
  const path = await createLibraryPath()
  const child = startProcess([`${site.origin}/`, '--crawl-type=intelligent', '--int-max-seeds=7', `--library=${path}`])
  expect(await child.ended).toEqual({ code: 0, signal: null, problem: null })
  expect(child.errors).toEqual([])
  const { source, ledger, crawl } = await withLibrary(path, async ({ store }) => {
    const [stored] = await store.listSources()
    if (stored === undefined) throw new Error('the library has no source')
    const [lastCrawl] = await store.listCrawls(stored.id, 1)
    return { source: stored, ledger: await store.countLedger(stored.id), crawl: lastCrawl }
  })
  expect(source).toMatchObject({
    url: `${site.origin}/`,
    scope: { reach: 'hostname', maxDepth: null, maxPages: null },
    settings: { crawlType: 'intelligent' },
  })
  // The default limits hold for the crawl only.
  expect(crawl?.options.scope).toEqual({ maxDepth: 2 })
  const reports = child.all('PROGRESS')
  const [first, last] = [reports[0], reports.at(-1)]
  expect(first).toMatchObject({ visited: 0, crawlId: crawl?.id, sourceId: source.id, paused: false })
  expect(last).toMatchObject({
    saved: ledger.states.indexed,
    errors: ledger.states.failed,
    queueSize: 0,
    robotsLoaded: true,
    sitemapCount: 1,
    sitemapEnqueued: 2,
    currentDownloads: [],
    domain: new URL(site.origin).host,
  })
  expect(last?.perHost).toHaveProperty([new URL(site.origin).host, 'rpm'])
  const queue = child.all('QUEUE')
  const enqueued = queue.filter(({ action }) => action === 'enqueued')
  expect(last?.found).toBe(enqueued.length)
  // The last frame of an address matches its final state. An address that was dropped for its query has no row.
  const lastFrames = new Map(queue.map((frame) => [frame.url, frame]))
  const dropped = [...lastFrames.values()].filter(({ action, reason }) => action === 'drop' && reason !== 'query-skip')
  expect(dropped.length).toBe(ledger.states.skipped)
  expect(new Set(child.all('ERROR').map(({ url }) => url)).size).toBe(ledger.states.failed)
  const admitted = new Set(enqueued.map(({ url }) => url))
  const dequeued = new Set(queue.filter(({ action }) => action === 'dequeued').map(({ url }) => url))
  expect(dequeued).toEqual(admitted)
  const reasons = new Set(queue.filter(({ action }) => action === 'drop').map(({ reason }) => reason))
  for (const reason of ['max-depth', 'off-domain', 'robots-disallow', 'duplicate', 'query-skip', 'redirect']) {
    expect(reasons).toContain(reason)
  }
  expect(queue.find(({ reason }) => reason === 'query-skip')?.alias).toMatch(/^http:[^?]+$/)
  const retries = queue.filter(({ action }) => action === 'retry')
  expect(new Set(retries.map(({ url, reason }) => `${reason} ${url}`))).toEqual(
    new Set([`retriable-error ${site.origin}/shaky`]),
  )
  expect(child.all('MILESTONE').map(({ kind }) => kind)).toContain('patterns-learned')
  const [final, ...rest] = child.lines.toReversed()
  expect(final).toMatch(`Final stats: ${last?.visited} pages visited`)
  expect(rest.filter((line) => !line.startsWith('[plan] '))).toEqual([])
})

test('a crawl obeys PAUSE and RESUME', async () => {
  const site = await openSlowSite(5)
  const child = startProcess([`${site.origin}/`, '--concurrency=4', `--library=${await createLibraryPath()}`])
  await waitForPageRequests(site, 10)
  expect(child.process.send('PAUSE')).toBe(true)
  await child.waitForFrame((frame) => frame.type === 'PROGRESS' && frame.data.paused)
  await sleep(100)
  const requestCount = site.requests.length
  await sleep(400)
  expect(site.requests.length).toBe(requestCount)
  expect(child.process.send('RESUME')).toBe(true)
  expect((await child.ended).code).toBe(0)
  expect(child.all('PROGRESS').at(-1)).toMatchObject({ saved: PATHS.length + 1, paused: false })
  expect(child.process.send('PAUSE')).toBe(false)
})

test('a crawl stops at SIGTERM', async () => {
  const site = await openSlowSite(10)
  const path = await createLibraryPath()
  const child = startProcess([`${site.origin}/`, '--concurrency=2', `--library=${path}`])
  await waitForPageRequests(site, 6)
  const since = Date.now()
  child.process.kill('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 130, signal: null })
  // A stop usually takes half a second, and ten seconds if something cannot be stopped.
  expect(Date.now() - since).toBeLessThan(9000)
  expect(child.errors.at(-1)).toContain('nothing is lost')
  expect((await readLastCrawl(path))?.state).toBe('cancelled')
})

test.each(['stdin', 'stdout'] as const)('a crawl stops when its %s is closed', async (stream) => {
  const site = await openSlowSite(10)
  const path = await createLibraryPath()
  const { command, args, env } = CRAWL_JOB
  const child = spawn(command, [...args, `${site.origin}/`, '--concurrency=2', `--library=${path}`], { env })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdout.resume()
  await waitForPageRequests(site, 6)
  child[stream].destroy()
  const [code] = await once(child, 'exit')
  expect(code).toBe(130)
  expect((await readLastCrawl(path))?.state).toBe('cancelled')
})

test('the next process with the same library resumes and completes a killed crawl', async () => {
  const site = await openTestSite(messySite(12))
  site.pages.set('/sitemap.xml', sitemapOf(site.origin))
  // A temporary failure would be retried after a pause.
  site.pages.delete('/broken')
  for (const [key, answer] of site.pages)
    if (typeof answer === 'string') site.pages.set(key, { body: answer, delayMs: 10 })
  const path = await createLibraryPath()
  const args = [`${site.origin}/`, '--depth=6', '--max-age=1h', '--concurrency=4', `--library=${path}`]
  const child = startProcess(args)
  await child.waitForFrame(
    (frame) => frame.type === 'QUEUE' && frame.data.action === 'dequeued' && frame.data.depth === 2,
  )
  child.process.kill('SIGKILL')
  expect(await child.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  const next = startProcess(args)
  expect((await next.ended).code).toBe(0)
  expect(next.all('PROGRESS')[0]?.crawlId).toBe(child.all('PROGRESS')[0]?.crawlId)
  const uninterrupted = await openTestLibrary(await createLibraryPath())
  const wholeSource = await addSource(uninterrupted, {
    url: `${site.origin}/`,
    scope: { reach: 'hostname', maxDepth: 6 },
    settings: { crawlType: 'basic-with-sitemap' },
  })
  await runCrawl(uninterrupted, wholeSource, { kind: 'add' }, site.origin)
  const expected = await readSourceContent(uninterrupted.store.location, uninterrupted, wholeSource, site.origin)
  const found = await withLibrary(path, async (library) => {
    const [source] = await library.store.listSources()
    if (source === undefined) throw new Error('the library has no source')
    return readSourceContent(path, library, source, site.origin)
  })
  expect(toComparable(found, site.origin)).toEqual(toComparable(expected, site.origin))
})

test('a client that does not read output does not block a crawl', async () => {
  const links = (name: string) =>
    Array.from({ length: 400 }, (_, n) => `https://${name}.example/${'long-'.repeat(200)}${n}`)
  const site = await openTestSite({ '/': page('Start', ['/a', ...links('one')]), '/a': page('More', links('two')) })
  const library = await openTestLibrary()
  const stdout = new PassThrough()
  const stop = new AbortController()
  const { summary } = await runCrawlProcess({
    library,
    resolveCrawl: () => prepareStart(library, { url: `${site.origin}/`, scope: {} }),
    onEvent: () => undefined,
    stdin: new PassThrough(),
    stdout,
    signal: stop.signal,
  })
  expect(summary).toMatchObject({ end: 'completed', indexed: 2 })
  expect(summary.ledger.states.skipped).toBe(800)
  stdout.end()
  const lines = (await text(stdout)).trim().split('\n')
  const droppedCounts = lines
    .map((line) => /^(\d+) frames were dropped/.exec(line)?.[1])
    .filter((count) => count !== undefined)
  expect(droppedCounts).toHaveLength(1)
  const frames = lines.map(parseFrame).filter((frame) => frame !== undefined)
  const queueFrames = frames.filter(({ type }) => type === 'QUEUE').length
  expect(queueFrames + Number(droppedCounts[0])).toBe(800 + 4)
  expect(frames.findLast(({ type }) => type === 'PROGRESS')?.data).toMatchObject({ visited: 2, saved: 2, queueSize: 0 })
})

test('a crawl that cannot start reports why, once', async () => {
  const child = startProcess(['http://10.0.0.1/', `--library=${await createLibraryPath()}`])
  expect(await child.ended).toMatchObject({ code: 3, signal: null })
  expect(child.errors).toHaveLength(1)
  expect(child.errors[0]).toContain('nothing could be indexed')
  expect(child.all('PROBLEM').map(({ kind }) => kind)).toContain('start-failed')
  expect(child.all('ERROR')).toMatchObject([{ kind: 'network' }])
})
