import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CrawlEvent } from '../../src/crawl/events.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import { type CrawlInput, crawlSource } from '../../src/library/crawl/crawl-source.ts'
import type { Source } from '../../src/library/source.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { type CrawlCommands, createCrawlCommands } from '../../src/processes/crawl-commands.ts'
import { createCrawlFixture, openTestLibrary, openTestSite } from '../sites/crawl.ts'
import { page, type SeenRequest, type Site } from '../sites/site.ts'

const SIZE = 40
const PATHS = Array.from({ length: SIZE }, (_, n) => `/page-${n}`)

/** A site whose start page links to many slow pages. */
function slowSite(delayMs: number): Record<string, { body: string; delayMs: number }> {
  return Object.fromEntries(
    ['/', ...PATHS].map((path) => [path, { body: page(`Page ${path}`, path === '/' ? PATHS : []), delayMs }]),
  )
}

/** Resolves when a site has received the given number of requests. */
function waitForRequests(site: Site, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the site received fewer than ${count} requests`)), 120_000)
    onTestFinished(() => clearTimeout(timer))
    Object.assign(site.requests, {
      push(...seen: SeenRequest[]) {
        const length = Array.prototype.push.apply(site.requests, seen)
        if (length >= count) resolve()
        return length
      },
    })
  })
}

/** Resolves when a number has not changed for the given time. */
async function waitUntilStable(read: () => number, stableMs: number): Promise<number> {
  const deadline = Date.now() + 30_000
  for (let before = -1; ; ) {
    if (Date.now() > deadline) throw new Error(`the number still changes; it is ${before} now`)
    const now = read()
    if (now === before) return now
    before = now
    await sleep(stableMs)
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

async function collect(events: AsyncIterable<CrawlEvent>): Promise<CrawlEvent[]> {
  const all: CrawlEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

function crawlWith(library: OpenLibrary, source: Source, commands: CrawlCommands, overrides: Partial<CrawlInput> = {}) {
  const input: CrawlInput = { kind: 'add', control: commands.control, ...overrides }
  return collect(crawlSource(library, source, input, new AbortController().signal))
}

describe('a paused crawl', () => {
  test('sends no request, does not count as stalled, and continues when it is resumed', async () => {
    const { site, library, source } = await createCrawlFixture(slowSite(20), {
      limits: { concurrency: 4, stallMs: 600, aliveMs: 600 },
    })
    const commands = createCrawlCommands()
    const reached = waitForRequests(site, 8)
    const crawling = crawlWith(library, source, commands)
    await reached
    commands.execute('PAUSE')
    const pausedAt = Date.now()
    // Waits longer than the stall limit and the heartbeat limit.
    const requestCount = await waitUntilStable(() => site.requests.length, 400)
    await sleep(900)
    expect(site.requests.length).toBe(requestCount)
    const [running] = await library.store.listCrawls(source.id, 1)
    expect(running).toMatchObject({ state: 'running' })
    expect(running?.heartbeatAt).toBeGreaterThan(pausedAt + 600)
    expect((await library.store.countLedger(source.id)).states).toMatchObject({ leased: 0 })
    commands.execute('RESUME')
    const events = await crawling
    expect(events.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', indexed: SIZE + 1 } })
    const pauses = events.filter(({ type }) => type === 'paused' || type === 'resumed')
    expect(pauses).toMatchObject([
      { type: 'paused', cause: 'requested' },
      { type: 'resumed', cause: 'requested' },
    ])
    expect(pauses[1]?.type === 'resumed' && pauses[1].pausedMs).toBeGreaterThanOrEqual(900)
    const pausedFlags = events.flatMap((event) => (event.type === 'progress' ? [event.isPaused] : []))
    expect(pausedFlags).toContain(true)
    expect(pausedFlags.at(-1)).toBe(false)
  })

  test('sends no request if it is paused from the beginning, and can be stopped', async () => {
    const { site, library, source } = await createCrawlFixture(slowSite(0))
    const commands = createCrawlCommands()
    commands.execute('PAUSE')
    const stop = new AbortController()
    const input: CrawlInput = { kind: 'add', control: commands.control }
    const crawling = collect(crawlSource(library, source, input, stop.signal))
    await sleep(300)
    expect(site.requests).toEqual([])
    stop.abort()
    expect((await crawling).at(-1)).toMatchObject({ type: 'ended', summary: { end: 'cancelled' } })
  })

  test('reads no further file of a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-paused-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const path of PATHS) writeFileSync(join(folder, `${path}.md`), `# About ${path}\n\nSome words on ${path}.\n`)
    const library = await openTestLibrary()
    const url = (await library.trees?.open(pathToFileURL(`${folder}/`).href))?.url ?? ''
    const source = await addSource(library, { url, isOwnFolder: true })
    const commands = createCrawlCommands()
    commands.execute('CONCURRENCY 2')
    let settled = 0
    let maxActive = 0
    let active = 0
    const events: CrawlEvent[] = []
    const paused = Promise.withResolvers<void>()
    const input: CrawlInput = { kind: 'add', control: commands.control }
    const crawling = (async () => {
      for await (const event of crawlSource(library, source, input, new AbortController().signal)) {
        events.push(event)
        if (event.type === 'begun') maxActive = Math.max(maxActive, ++active)
        if (event.type !== 'settled') continue
        active--
        if (++settled !== 5) continue
        commands.execute('PAUSE')
        paused.resolve()
      }
    })()
    await Promise.race([paused.promise, crawling])
    const settledCount = await waitUntilStable(() => settled, 200)
    expect(settledCount).toBeGreaterThanOrEqual(5)
    expect(settledCount).toBeLessThan(SIZE)
    commands.execute('RESUME')
    await crawling
    expect(events.at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', indexed: SIZE } })
    expect(maxActive).toBeLessThanOrEqual(2)
  })
})

test('the concurrency can be lower than the limit, and change while a crawl runs', async () => {
  const delayMs = 40
  let active = 0
  let maxActive = 0
  const site = await openTestSite({})
  const answer = (body: string) => () => {
    maxActive = Math.max(maxActive, ++active)
    setTimeout(() => active--, delayMs)
    return { body, delayMs }
  }
  for (const path of PATHS) site.pages.set(path, answer(page(`Page ${path}`)))
  site.pages.set('/', page('Start', PATHS))
  const library = await openTestLibrary(':memory:', { concurrency: 8 })
  const source = await addSource(library, { url: `${site.origin}/` })
  const commands = createCrawlCommands()
  commands.execute('CONCURRENCY 1')
  const halfRequested = waitForRequests(site, SIZE / 2)
  const crawling = crawlWith(library, source, commands)
  await halfRequested
  expect(maxActive).toBe(1)
  commands.execute('CONCURRENCY 4')
  expect((await crawling).at(-1)).toMatchObject({ type: 'ended', summary: { end: 'completed', indexed: SIZE + 1 } })
  expect(maxActive).toBeGreaterThan(1)
  expect(maxActive).toBeLessThanOrEqual(4)
})

test('lines that are not commands change nothing', () => {
  const { control, execute } = createCrawlCommands()
  for (const line of [
    '',
    'pause',
    'PAUSE now',
    'CONCURRENCY 0',
    'CONCURRENCY -1',
    'CONCURRENCY 1.5',
    'CONCURRENCY x',
  ]) {
    execute(line)
  }
  expect({ isPaused: control.isPaused, maxVisits: control.maxVisits }).toEqual({ isPaused: false, maxVisits: Infinity })
})
