import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import { type Chunk, PAGE_CLASSES, type Page } from '../../src/core/model.ts'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { DEFAULT_SCOPE } from '../../src/core/url/scope.ts'
import { CRAWL_ENDS, type CrawlEnd, type CrawlSummary } from '../../src/crawl/events.ts'
import {
  backOffClock,
  easeClock,
  type HostClock,
  openClock,
  recoverClock,
  slowClock,
} from '../../src/crawl/hosts/host-clock.ts'
import type { FoundAddress, LedgerCounts, RequeueSelection, Visit } from '../../src/crawl/ledger.ts'
import { type Discovery, LEDGER_STATES, type Reason } from '../../src/crawl/ledger-reasons.ts'
import type { Alias, PageRecord, Settlement } from '../../src/crawl/settlement.ts'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import type { Crawl, Store } from '../../src/library/ports/store.ts'
import { searchHits } from '../../src/library/search/hits.ts'
import { DEFAULT_SETTINGS, type Source } from '../../src/library/source.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { classificationOf } from './classifications.ts'
import { reserveSlot, setPause } from './host-clocks.ts'

const LONG = process.env['TEST_LONG'] !== undefined
const SOURCES = ['one', 'two']
const LIST = 'https://a.test/llms-full.txt'
const HOSTS = ['a.test', 'b.test', 'c.test']
const ADDRESSES = [
  { key: 'https://a.test/', host: 'a.test' },
  { key: 'https://a.test/x', host: 'a.test' },
  { key: 'https://a.test/x?q=1', host: 'a.test' },
  { key: 'http://b.test/y', host: 'b.test' },
  { key: 'https://b.test/y/z', host: 'b.test' },
  { key: 'https://c.test/', host: 'c.test' },
]
const HASHES = ['a'.repeat(64), 'b'.repeat(64), 'no-sha-256']
/** Row limit of the source `two`, low enough to be reached sometimes. */
const MAX_ROWS = 4
/** A run without a heartbeat for this long counts as interrupted. */
const STALE_MS = 10
const KEYS = ADDRESSES.map(({ key }) => key)

test('the memory store and the SQLite store give the same answers to the same calls', async () => {
  const steps = fc.array(stepArbitrary(), { minLength: 1, maxLength: 80, size: 'max' })
  await fc.assert(fc.asyncProperty(steps, compareStores), { numRuns: LONG ? 5000 : 25 })
})

/** A call to both stores, as plain data, so that a failure is readable. */
type Step = { readonly waitMs: number; readonly source: string; readonly crawl: string } & (
  | { readonly type: 'offer'; readonly finds: readonly FoundAddress[]; readonly aliases: readonly Alias[] }
  | { readonly type: 'checkAliases' }
  | {
      readonly type: 'lease'
      readonly limit: number
      readonly lastsMs: number
      readonly aheadMs: number
      readonly isBreadthFirst: boolean
    }
  /** `visit` counts back from the newest one under way, or with `isLate` from the newest that was settled before. */
  | {
      readonly type: 'settle'
      readonly visit: number
      readonly isLate: boolean
      readonly outcome: Outcome
      readonly dueMs: number | null
    }
  /** Leases visits and settles them immediately. */
  | { readonly type: 'work'; readonly outcomes: readonly Outcome[] }
  | { readonly type: 'release'; readonly visits: readonly number[] }
  | {
      readonly type: 'adopt'
      readonly find: FoundAddress
      readonly record: PageRecord
      readonly finds: readonly FoundAddress[]
    }
  | { readonly type: 'skipPending'; readonly reason: Reason; readonly pattern: string | null }
  | { readonly type: 'requeue'; readonly which: RequeueSelection; readonly maxDepth: number | null }
  | { readonly type: 'requeueOrphanedAliases' }
  | { readonly type: 'removeProven'; readonly withUnseen: boolean }
  | { readonly type: 'setPause'; readonly host: string; readonly intervalMs: number }
  | { readonly type: 'reserveSlot'; readonly host: string }
  | { readonly type: 'changeClock'; readonly host: string; readonly change: keyof typeof CLOCK_CHANGES }
  | { readonly type: 'failPending'; readonly host: string; readonly pattern: string | null }
  /** `resume` counts back from the newest run of the source. */
  | { readonly type: 'beginCrawl'; readonly resume: number | null }
  | { readonly type: 'touchCrawl'; readonly run: number }
  | { readonly type: 'endCrawl'; readonly run: number; readonly end: CrawlEnd }
)

/** The first steps of every run. Without them, many later steps would find nothing to do. */
const ALL_FOUND: readonly Step[] = SOURCES.map((source) => ({
  type: 'offer',
  waitMs: 0,
  source,
  crawl: 'first',
  aliases: [],
  finds: ADDRESSES.map(({ key, host }, depth) => {
    return { key, host, url: key, depth: depth % 3, foundOn: null, discovery: 'link', refusal: null }
  }),
}))

/** Changes of the clock of a host. The last one simulates a process with a wrong clock. */
const CLOCK_CHANGES = {
  open: (clock, now) => openClock(clock, 1, 10, now),
  slow: (clock, now) => slowClock(clock, now, now, { factor: 2 }),
  hold: (clock, now) => backOffClock(clock, now, now, { holdMsOf: (strikes) => strikes * 20.5, factor: 4 }),
  holdForLong: (clock, now) => backOffClock(clock, now, now, { holdMsOf: () => 1e12 }),
  ease: (clock) => easeClock(clock),
  recover: (clock, now) => recoverClock(clock, now, now, { fromMs: 10, toMs: 1000 }),
  astray: (clock, now) => ({ ...clock, nextAt: now + 1e9, heldUntil: now + 1e9 }),
} as const satisfies Record<string, (clock: HostClock, now: number) => HostClock>

/** The outcome part of a settlement. */
type Outcome = Omit<Settlement, 'visit' | 'crawlId' | 'now' | 'dueAt'>

async function compareStores(steps: readonly Step[]): Promise<void> {
  const memory: Client = { store: createMemoryStore(), leased: [], settled: [] }
  const sqlite: Client = { store: await openSqliteStore(':memory:'), leased: [], settled: [] }
  try {
    for (const id of SOURCES) for (const { store } of [memory, sqlite]) await store.addSource(sourceOf(id))
    let now = 1000
    let hasLeftoverPages = false
    for (const step of [...ALL_FOUND, ...steps]) {
      now += step.waitMs
      const expected = await takeStep(memory, step, now)
      expect(await takeStep(sqlite, step, now)).toEqual(expected)
      const state = await readState(memory.store, step.source, now)
      expect(await readState(sqlite.store, step.source, now)).toEqual(state)
      expectBalance(state)
      hasLeftoverPages ||= state.rows.some(
        ({ reason, hasPage }) => (reason === 'duplicate' || reason === 'unlinked') && hasPage,
      )
    }
    for (const source of SOURCES) {
      const [expected, actual] = await Promise.all([memory, sqlite].map(({ store }) => readContent(store, source)))
      expect(actual).toEqual(expected)
      // Pages that are proven gone, unlinked or duplicates keep their content until they are removed, and another address may already hold
      // the same content.
      if (!JSON.stringify(steps).includes('"isProvenGone":true') && !hasLeftoverPages) {
        expect(actual?.hashes, 'each content is stored once').toBe(actual?.pages.length)
      }
    }
  } finally {
    await sqlite.store.close()
  }
}

/** A store with its visits: those under way, and those that were settled. */
interface Client {
  readonly store: LibraryStore
  readonly leased: Visit[]
  readonly settled: Visit[]
}

/** Makes a call to one store. The result leaves out lease tokens. */
async function takeStep({ store, leased, settled }: Client, step: Step, now: number): Promise<unknown> {
  const { source } = step
  const crawlId = `${source}-${step.crawl}`
  const maxRows = source === 'two' ? MAX_ROWS : Infinity
  switch (step.type) {
    case 'offer':
      return store.offer(source, crawlId, step.finds, now, step.aliases, maxRows)
    case 'checkAliases':
      return store.checkAliases(source, now)
    case 'lease': {
      const { limit, lastsMs, aheadMs, isBreadthFirst } = step
      const request = {
        sourceId: source,
        crawlId,
        limit,
        now,
        until: now + lastsMs,
        horizon: now + aheadMs,
        isBreadthFirst,
      }
      const visits = await store.lease(request)
      leased.push(...visits)
      return visits.map(({ lease, ...visit }) => visit)
    }
    case 'settle': {
      const visit = pick(step.isLate ? settled : leased, source, step.visit)
      if (!visit) return undefined
      if (!step.isLate) settled.push(...leased.splice(leased.indexOf(visit), 1))
      const dueAt = step.dueMs === null ? null : now + step.dueMs
      return store.settle({ ...step.outcome, visit, crawlId, now, dueAt, maxRows })
    }
    case 'work': {
      const { length: limit } = step.outcomes
      const wide = { until: now + 1000, horizon: now + 1000, isBreadthFirst: false }
      const visits = await store.lease({ sourceId: source, limit, now, ...wide })
      const answers: unknown[] = []
      for (const [i, visit] of visits.entries()) {
        const { lease, ...known } = visit
        answers.push(known, await store.settle({ state: 'failed', ...step.outcomes[i], visit, crawlId, now, maxRows }))
      }
      settled.push(...visits)
      return answers
    }
    case 'release':
      return store.release(step.visits.flatMap((visit) => pick(leased, source, visit) ?? []))
    case 'adopt': {
      const { find, record, finds } = step
      return store.adopt({ sourceId: source, crawlId, now, find, record, finds, maxRows })
    }
    case 'skipPending':
      return store.skipPending(source, step.reason, step.pattern, now, crawlId)
    case 'requeue':
      return store.requeue(source, crawlId, step.which, now, step.maxDepth)
    case 'requeueOrphanedAliases':
      return store.requeueOrphanedAliases(source, crawlId, now)
    case 'removeProven': {
      const before = await store.countRemovable(source, crawlId, step.withUnseen)
      return [before, await store.removeProven(source, crawlId, step.withUnseen, now)]
    }
    case 'setPause':
      return setPause(store, step.host, step.intervalMs, now)
    case 'reserveSlot':
      return reserveSlot(store, step.host, now)
    case 'changeClock':
      return store.changeClock(step.host, now, (clock) => CLOCK_CHANGES[step.change](clock, now))
    case 'failPending':
      return store.failPending(source, crawlId, step.host, 'host-parked', step.pattern)
    case 'beginCrawl': {
      const runs = await store.listCrawls(source, 100)
      const resume = step.resume === null ? undefined : runs.at(step.resume)?.id
      return store.beginCrawl(crawlOf(source, runs.length, now), STALE_MS, resume).catch(errorName)
    }
    case 'touchCrawl':
      return store.touchCrawl(await runOf(store, source, step.run), now)
    case 'endCrawl': {
      const id = await runOf(store, source, step.run)
      return store.endCrawl(id, summaryOf(id, step.end, await store.countLedger(source)), now)
    }
  }
}

/** The id of a run of a source, counted back from the newest. */
async function runOf(store: Store, source: string, back: number): Promise<string> {
  const run = (await store.listCrawls(source, 100)).at(back)
  return run?.id ?? 'unknown'
}

/** The name by which an error is compared. */
function errorName(error: unknown): string {
  return error instanceof PharosError ? error.code : String(error instanceof Error ? error.name : error)
}

/** A visit of a source, counted back from the newest. */
function pick(visits: readonly Visit[], source: string, back: number): Visit | undefined {
  return visits.filter(({ sourceId }) => sourceId === source).at(-1 - back)
}

/** The visible state of the ledger of a source. */
async function readState(store: Store, source: string, now: number) {
  return {
    rows: await store.listRows(source, { limit: 100 }),
    counts: await store.countLedger(source),
    open: await store.countOpen(source, now),
    held: await store.listHeldHosts(source, now, now + 15),
    clocks: await Promise.all(HOSTS.map((host) => store.readClock(host, now))),
    content: await store.countContent(source),
    crawls: (await store.listCrawls(source, 100)).sort(byBeginning),
    settledByFirstCrawl: await store.countSettled(source, `${source}-first`),
  }
}

/** The order of crawls with the same start time is undefined, so the id decides here. */
function byBeginning(a: Crawl, b: Crawl): number {
  return b.startedAt - a.startedAt || compareUtf8(a.id, b.id)
}

/**
 * A chunk with all fields, because stores read them lazily. The path is left out, because it is the key of the page, which these
 * generated records do not know.
 */
function readAll(chunk: Chunk): Omit<Chunk, 'path'> {
  const { id, shortId, contentHash, slug, kind, headingPath, symbol, address, assetPath, content } = chunk
  const { chunkIndex, startLine, endLine, tokenEstimate } = chunk
  return {
    ...{ id, shortId, contentHash, slug, kind, headingPath, symbol, address, assetPath, content },
    ...{ chunkIndex, startLine, endLine, tokenEstimate },
  }
}

/** The content of a source, independent of its history. */
async function readContent(store: LibraryStore, source: string) {
  const hits = await searchHits(store, { query: 'word', limit: 100, filter: { sourceIds: [source] }, explain: true })
  const pages = await collect(store.listPages(source))
  return {
    pages,
    hits: hits.map(({ number: _, page: __, ...hit }) => ({ ...hit, chunk: readAll(hit.chunk) })),
    texts: await Promise.all(KEYS.map((key) => store.readPageText(source, key))),
    links: await Promise.all(KEYS.map((key) => store.readLinks(source, key))),
    aliases: await Promise.all(KEYS.map((key) => store.listAliases(source, key))),
    addresses: (await store.addresses.list({ sourceId: source, limit: 100 })).map(({ id: _, ...entry }) => entry),
    kinds: await Promise.all(
      PAGE_CLASSES.map((classification) => store.addresses.count({ sourceId: source, classification }, 100)),
    ),
    hashes: new Set(pages.map(({ page }) => page.contentHash)).size,
  }
}

/** Expects that every address is in exactly one state, and that every page has its address. */
function expectBalance({ rows, counts, content }: Awaited<ReturnType<typeof readState>>): void {
  const sum = LEDGER_STATES.reduce((sum, state) => sum + counts.states[state], 0)
  expect([counts.total, sum]).toEqual([rows.length, rows.length])
  expect(rows.filter((row) => row.hasPage).length).toBe(content.pages)
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

function stepArbitrary(): fc.Arbitrary<Step> {
  const finds = fc.array(findArbitrary(), { maxLength: 4 })
  const record = recordArbitrary()
  const visit = fc.nat(3)
  const moment = fc.record({
    waitMs: fc.constantFrom(0, 0, 1, 10, 50),
    source: fc.constantFrom('one', 'one', 'one', 'one', 'one', 'one', 'one', 'one', 'one', 'two'),
    crawl: fc.constantFrom('first', 'first', 'first', 'second', 'run-0', 'run-1'),
  })
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('offer'),
        finds,
        aliases: fc.array(aliasArbitrary(), { maxLength: 1 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('checkAliases') }) },
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant('lease'),
        limit: fc.integer({ min: 1, max: 4 }),
        lastsMs: fc.constantFrom(10, 1000, 1000),
        aheadMs: fc.constantFrom(0, 20, 1000, 1000),
        isBreadthFirst: fc.boolean(),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('settle'),
        visit,
        isLate: fc.constantFrom(false, false, false, false, false, true),
        outcome: outcomeArbitrary(),
        dueMs: fc.option(fc.constantFrom(1, 50)),
      }),
    },
    {
      weight: 14,
      arbitrary: fc.record({
        type: fc.constant('work'),
        outcomes: fc.array(outcomeArbitrary(), { minLength: 1, maxLength: 4, size: 'max' }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('release'), visits: fc.array(visit, { maxLength: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('adopt'), find: findArbitrary(), record, finds }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('skipPending'),
        reason: fc.constantFrom('page-cap', 'new-in-refresh'),
        pattern: fc.option(fc.constant('100')),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('requeue'),
        which: fc.constantFrom('pages', 'unlinked', 'failed'),
        maxDepth: fc.constantFrom(null, 1),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('requeueOrphanedAliases') }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('removeProven'), withUnseen: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('setPause'),
        host: fc.constantFrom(...HOSTS),
        intervalMs: fc.constantFrom(0, 1, 10),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('reserveSlot'), host: fc.constantFrom(...HOSTS) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('changeClock'),
        host: fc.constantFrom(...HOSTS),
        change: fc.constantFrom('open', 'slow', 'hold', 'holdForLong', 'ease', 'ease', 'recover', 'astray'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('failPending'),
        host: fc.constantFrom(...HOSTS),
        pattern: fc.option(fc.constant('Retry-After 900')),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('beginCrawl'), resume: fc.option(fc.nat(2), { freq: 1 }) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('touchCrawl'), run: fc.nat(1) }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('endCrawl'), run: fc.nat(1), end: fc.constantFrom(...CRAWL_ENDS) }),
    },
  )
  return fc.tuple(moment, step).map(([moment, step]) => ({ ...moment, ...step }))
}

function findArbitrary(): fc.Arbitrary<FoundAddress> {
  const refusal = fc.record({
    reason: fc.constantFrom<Reason>('blocked', 'max-depth', 'robots-disallow', 'covered'),
    pattern: fc.option(fc.constant('/x/**')),
    target: fc.option(fc.constantFrom(...KEYS)),
  })
  return fc
    .record({
      address: fc.constantFrom(...ADDRESSES),
      spelling: fc.constantFrom('', '#top'),
      depth: fc.nat(3),
      isNewOnly: fc.constantFrom(false, false, false, true),
      foundOn: fc.constantFrom(null, LIST),
      discovery: fc.constantFrom<Discovery>('link', 'sitemap', 'llms-full'),
      weight: fc.constantFrom(0, 0, -2, 1, 5),
      // Three of four addresses are admitted.
      refusal: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: refusal }),
    })
    .map(({ address, spelling, ...rest }) => ({ ...rest, ...address, url: address.key + spelling }))
}

function aliasArbitrary(): fc.Arbitrary<Alias> {
  return fc.record({
    url: fc.constantFrom('https://a.test/x?s=1', ...KEYS),
    aliasUrl: fc.constantFrom('https://a.test/never', ...KEYS),
    classification: fc.constantFrom('superfluous-query', 'session-id'),
    reason: fc.option(fc.constant('s')),
  })
}

function outcomeArbitrary(): fc.Arbitrary<Outcome> {
  const answer = {
    status: fc.option(fc.constantFrom(200, 304, 404)),
    detail: fc.option(fc.constantFrom('fine', 'odd')),
    etag: fc.option(fc.constantFrom('"1"', '"2"')),
    lastModified: fc.option(fc.constant('Mon, 01 Jan 2024 00:00:00 GMT')),
    isShell: fc.boolean(),
    finds: fc.array(findArbitrary(), { maxLength: 2 }),
  }
  const cause = { pattern: fc.option(fc.constant('5')), target: fc.option(fc.constantFrom(...KEYS)) }
  const withoutPage = {
    reason: fc.constantFrom<Reason>('redirect', 'canonical', 'canonical', 'noindex', 'not-found'),
    isProvenGone: fc.boolean(),
    contentHash: fc.constantFrom(...HASHES),
  }
  const stateOf = <T extends Outcome['state']>(state: T): { state: fc.Arbitrary<T> } => ({ state: fc.constant(state) })
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record(
        { ...stateOf('indexed'), record: recordArbitrary(), ...answer },
        { requiredKeys: ['state', 'record'] },
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record(
        { ...stateOf('unchanged'), links: fc.subarray(KEYS), record: recordArbitrary(), ...answer },
        { requiredKeys: ['state'] },
      ),
    },
    {
      weight: 3,
      arbitrary: fc.record(
        { ...stateOf('skipped'), links: fc.subarray(KEYS), ...withoutPage, ...cause, ...answer },
        { requiredKeys: ['state', 'reason'] },
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record(
        { ...stateOf('failed'), ...withoutPage, ...cause, ...answer },
        { requiredKeys: ['state', 'reason'] },
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record(
        {
          ...stateOf('pending'),
          reason: fc.constantFrom<Reason>('timeout'),
          awaitsConfirmation: fc.boolean(),
          ...answer,
        },
        { requiredKeys: ['state'] },
      ),
    },
  )
}

function recordArbitrary(): fc.Arbitrary<PageRecord> {
  return fc
    .record({
      hash: fc.constantFrom(...HASHES),
      title: fc.constantFrom('A word', 'A word', 'Another'),
      links: fc.subarray(KEYS),
      chunks: fc.nat(2),
      kind: fc.option(fc.constantFrom(...PAGE_CLASSES)),
    })
    .map(({ hash, title, links, chunks, kind }) => ({
      page: { ...pageOf(hash), title },
      links,
      ...(kind === null ? {} : { classification: classificationOf(kind) }),
      chunks: Array.from({ length: chunks }, (_, position) => chunkOf(hash, position)),
    }))
}

function sourceOf(id: string): Source {
  const url = 'https://a.test/'
  return {
    id,
    name: id,
    version: null,
    url,
    siteUrl: url,
    scope: DEFAULT_SCOPE,
    settings: DEFAULT_SETTINGS,
    createdAt: 0,
  }
}

function crawlOf(sourceId: string, position: number, now: number): Crawl {
  const options = {
    full: position % 2 === 1,
    acceptLoss: false,
    discover: false,
    maxAgeMs: 0,
    maxAgeMsOf: {},
    scope: {},
  }
  const common = { kind: 'add', state: 'running', endedAt: null, summary: null } as const
  return {
    ...common,
    id: `${sourceId}-run-${position}`,
    sourceId,
    options,
    runner: null,
    startedAt: now,
    heartbeatAt: now,
  }
}

function summaryOf(crawlId: string, end: CrawlEnd, ledger: LedgerCounts): CrawlSummary {
  const done = { visited: 1, indexed: 1, unchanged: 0, skipped: 0, failed: 0, removed: 0, withheld: 0 }
  const cost = {
    cappedAt: null,
    parked: [],
    incomplete: null,
    newInRefresh: 0,
    overflow: 0,
    bytes: 1,
    requests: 1,
    elapsedMs: 1,
    problem: null,
    uselessReason: null,
  }
  return { crawlId, kind: 'add', end, ledger, ...done, ...cost }
}

function pageOf(contentHash: string): Page {
  return {
    url: 'https://a.test/page',
    title: 'A word',
    description: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language: null,
    canonical: null,
    alternates: [],
    robots: { index: true, follow: true },
    generator: null,
    markdown: `word ${contentHash}`,
    sections: [],
    links: [],
    wordCount: 2,
    contentHash,
    hiddenChars: 0,
  }
}

function chunkOf(contentHash: string, chunkIndex: number): Chunk {
  const id = `${chunkIndex}${contentHash}`.padEnd(64, '0').slice(0, 64)
  return {
    id,
    shortId: id.slice(0, 12),
    slug: 'page',
    path: 'page.md',
    kind: 'markdown',
    chunkIndex,
    startLine: 1,
    endLine: 1,
    content: `word ${chunkIndex}`,
    contentHash,
    tokenEstimate: 2,
    headingPath: ['A word'],
    symbol: null,
    address: null,
    assetPath: null,
  }
}
