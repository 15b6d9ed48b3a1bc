import type { Snapshot } from '../core/model.ts'
import { isBelowStart } from '../core/url/reach.ts'
import { readLists } from './discover.ts'
import { MarkdownVariants } from './discovery/markdown-variant.ts'
import { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress, HostProgress } from './events.ts'
import { createGate, type Gate } from './gate.ts'
import {
  type Alias,
  type Discovery,
  type Find,
  type FindResult,
  isRead,
  type Reason,
  type Refusal,
  type Settled,
  type Settlement,
} from './ledger.ts'
import type { FetchOutcome, FetchRequest, PageReading } from './ports.ts'
import { createResourceFetcher, type FetchResource } from './resource.ts'
import { RobotsRules } from './robots-rules.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'

/** Addresses remembered as already offered; beyond that the ledger is asked again. */
const MAX_REMEMBERED = 500_000

/** The longest pause between two requests that a robots.txt is granted. */
const MOST_DELAY_MS = 60_000

/** Where addresses were found. */
export interface Finding {
  readonly depth: number
  readonly foundOn: string | null
  readonly discovery: Discovery
  /** A reason not to fetch what the gate would let through. */
  readonly refusal?: Refusal
}

/** Finds for the ledger, and what they taught about equal addresses. */
export interface Finds {
  readonly finds: readonly Find[]
  readonly aliases: readonly Alias[]
}

/** A crawl while it runs: what it knows, counts and says. */
export class ActiveCrawl {
  readonly run: CrawlRun
  readonly ports: CrawlPorts
  readonly robots: RobotsRules
  /** Fetches files that are not pages, as robots.txt allows. */
  readonly fetchResource: FetchResource
  readonly variants: MarkdownVariants = new MarkdownVariants()
  readonly events: EventQueue<CrawlEvent> = new EventQueue()
  readonly startedAt: number
  readonly signal: AbortSignal
  /** Addresses being fetched. */
  readonly current: Set<string> = new Set()
  gate: Gate
  siteUrl: string
  /** Pages that count towards the cap. */
  pagesTaken = 0
  visited = 0
  indexed = 0
  unchanged = 0
  skipped = 0
  failed = 0
  newInRefresh = 0
  bytes = 0
  requests = 0
  /** Why it cannot even begin. */
  refusal: Reason | null = null
  /** Set when the cap left something out. */
  cappedAt: number | null = null
  /** Whether it is known which pages llms-full.txt holds now. */
  isFullKnown = false
  /** Why nothing may be concluded from what was not found, in words; null while everything could be looked at. */
  incomplete: string | null = null
  /** Where the site is from now on. */
  #keptSite: string
  readonly #startOrigin: string
  /** Keys of the start and of every address it led to, and whether only permanent redirects lead there. */
  readonly #startKeys = new Map<string, boolean>()
  /** How many redirects in a row led to a key. */
  readonly #hops = new Map<string, number>()
  /** Key of a start that was settled before the crawl was interrupted. */
  #settledStart: string | undefined
  #discovery: Promise<void> | undefined
  readonly #offered = new Map<string, number>()
  readonly #stripped = new Set<string>()
  readonly #hostRequests = new Map<string, number>()
  readonly #paces = new Map<string, { readonly intervalMs: number; readonly since: number }>()

  constructor(run: CrawlRun, ports: CrawlPorts, signal: AbortSignal) {
    this.run = run
    this.ports = ports
    this.signal = signal
    this.siteUrl = run.siteUrl
    this.#keptSite = run.siteUrl
    this.#startOrigin = new URL(run.startUrl).origin
    this.gate = createGate({ startUrl: run.startUrl, siteUrl: run.siteUrl, scope: run.scope })
    this.#startKeys.set(this.gate.keyOf(run.startUrl) ?? run.startUrl, true)
    const { ledger, clock } = ports
    const fetchBare = createResourceFetcher({ fetcher: this, ledger, clock })
    this.robots = new RobotsRules({ fetchResource: fetchBare, ledger, clock })
    const judgeRobots = (url: string, signal?: AbortSignal) => this.robots.judge(url, signal)
    this.fetchResource = createResourceFetcher({ fetcher: this, ledger, clock, judgeRobots })
    this.startedAt = ports.clock.now()
  }

  /** Fetches through the one fetcher, counted. */
  async fetch(request: FetchRequest): Promise<FetchOutcome> {
    const { host, origin } = new URL(request.url)
    this.requests++
    this.#hostRequests.set(host, (this.#hostRequests.get(host) ?? 0) + 1)
    // What was given for one origin is nobody else's business, even where the site has moved.
    const headers = origin === this.#startOrigin ? { ...this.run.headers, ...request.headers } : (request.headers ?? {})
    const outcome = await this.ports.fetcher.fetch({ ...request, headers, signal: request.signal ?? this.signal })
    if (outcome.type === 'fetched') this.bytes += outcome.snapshot.body.length
    return outcome
  }

  /** Reads a page; undefined for one that brings the reader down, which must not bring the crawl down. */
  async read(snapshot: Snapshot, key: string): Promise<PageReading | undefined> {
    try {
      return await this.ports.readPage(snapshot, key)
    } catch (error) {
      if (this.signal.aborted) throw error
      return undefined
    }
  }

  /**
   * Sets how often a host may be asked, once it is known what it wants. Answers since when it has been known: a slot from
   * before does not keep the pace.
   */
  async setPace(host: string, crawlDelayMs: number | null): Promise<number> {
    const own = isLoopback(host) ? 0 : this.run.limits.intervalMs
    const intervalMs = Math.max(own, Math.min(crawlDelayMs ?? 0, MOST_DELAY_MS))
    const known = this.#paces.get(host)
    if (known?.intervalMs === intervalMs) return known.since
    const since = intervalMs === 0 ? 0 : this.ports.clock.now()
    this.#paces.set(host, { intervalMs, since })
    if (crawlDelayMs !== null && crawlDelayMs > MOST_DELAY_MS) {
      this.events.push({ type: 'paced', host, intervalMs, askedMs: crawlDelayMs })
    }
    await this.ports.ledger.setInterval(host, intervalMs, this.ports.clock.now())
    return since
  }

  /** How each host is treated. */
  hosts(): HostProgress[] {
    return [...this.#hostRequests].map(([host, requests]) => ({
      host,
      requests,
      intervalMs: this.#paces.get(host)?.intervalMs ?? 0,
      backoffMs: 0,
    }))
  }

  /** Judges addresses that were found. What this crawl has offered before, by no longer way, is left out. */
  judge(urls: Iterable<string>, finding: Finding): Finds {
    const finds: Find[] = []
    const aliases: Alias[] = []
    for (const url of urls) this.#judgeOne(url, finding, finds, aliases)
    return { finds, aliases }
  }

  /** Remembers what the ledger has taken, and says what it made of it. */
  note(finds: readonly Find[], results: readonly FindResult[]): void {
    if (this.#offered.size + finds.length > MAX_REMEMBERED) this.#offered.clear()
    finds.forEach((find, i) => {
      this.#offered.set(find.key, find.refusal === null ? find.depth : (this.#offered.get(find.key) ?? Infinity))
      const { url, depth, discovery, refusal } = find
      if (results[i] === 'admitted') this.events.push({ type: 'enqueued', url, depth, discovery })
      if (results[i] !== 'refused' || refusal === null) return
      if (refusal.reason === 'new-in-refresh') this.newInRefresh++
      this.events.push({ type: 'dropped', url, depth, ...refusal })
    })
  }

  /** Offers addresses that came from no page. */
  async offer(urls: Iterable<string>, finding: Finding): Promise<number> {
    const { finds, aliases } = this.judge(urls, finding)
    if (finds.length === 0 && aliases.length === 0) return 0
    const { crawlId, sourceId } = this.run
    const results = await this.ports.ledger.offer(sourceId, crawlId, finds, this.ports.clock.now(), aliases)
    this.note(finds, results)
    await this.events.hasRoom()
    return results.filter((result) => result === 'admitted').length
  }

  /** Reads the lists of the site, once. Whoever settles the start waits for it, so that what they name is theirs first. */
  discovered(startKey?: string): Promise<void> {
    const discovery = this.#discovery ?? readLists(this, startKey)
    this.#discovery = discovery
    return discovery
  }

  /** Reads the lists if no visit of the start came to it. Tells whether it did. */
  async discoverLate(): Promise<boolean> {
    if (this.#discovery !== undefined || !this.#readsLists) return false
    await this.discovered(this.#settledStart)
    return true
  }

  /**
   * Follows the start of an interrupted crawl; once that is settled, its lists have been read too. A recrawl reads them again,
   * because it has to know whether they can be read before it concludes from what was not found.
   */
  async resumeStart(): Promise<void> {
    const { sourceId, crawlId, limits } = this.run
    for (const key of this.#startKeys.keys()) {
      const row = await this.ports.ledger.findRow(sourceId, key)
      if (row?.crawlId !== crawlId || row.state === 'pending' || row.state === 'leased') return
      const isPassedOn = row.reason === 'redirect' && row.target !== null && this.#startKeys.size <= limits.redirects
      if (isPassedOn) {
        const target = await this.ports.ledger.findRow(sourceId, row.target ?? '')
        this.passStartOn(key, target?.url ?? row.target ?? '', row.status === 301 || row.status === 308)
        continue
      }
      if (isRead(row) && row.status !== null) this.answerStart(key)
      if (this.run.kind === 'recrawl') this.#settledStart = key
      else this.#discovery = Promise.resolve()
    }
  }

  /**
   * Says where an address leads. If that is the start, the site may be at another host than the one that was given; its folder
   * stays, unless the answer left it. What leads there for now only counts for this crawl.
   */
  passStartOn(key: string, target: string, isPermanent: boolean): void {
    const isKept = this.#startKeys.get(key)
    const targetKey = this.gate.keyOf(target)
    if (isKept === undefined || targetKey === undefined) return
    this.#startKeys.set(targetKey, isKept && isPermanent)
    const to = new URL(target)
    const site = new URL(this.siteUrl)
    const isInside = isBelowStart(to, site)
    if (to.origin === site.origin && isInside) return
    this.#moveSite(isInside ? new URL(site.pathname, to.origin).href : to.href, isKept && isPermanent)
  }

  /** Says that an address answered with a page of its own. If that is the start as it was given, the site is there (again). */
  answerStart(key: string): void {
    if (key === this.gate.keyOf(this.run.startUrl) && this.siteUrl !== this.run.startUrl)
      this.#moveSite(this.run.startUrl, true)
  }

  /** How many redirects in a row led to a key. */
  countHops(key: string): number {
    return this.#hops.get(key) ?? 0
  }

  noteHops(key: string, hops: number): void {
    if (this.#hops.size >= MAX_REMEMBERED) this.#hops.clear()
    this.#hops.set(key, hops)
  }

  /** Whether the lists have to be read before what a page links to counts: of the start, and of what the start led to. */
  waitsForLists(key: string): boolean {
    return this.#readsLists && this.#startKeys.has(key)
  }

  /** Counts what became of a visit and tells it. Answers whether it brought a page. */
  count(settlement: Settlement, settled: Settled, bytes: number): boolean {
    const { visit, status, detail, record, finds = [], aliases = [] } = settlement
    const { state, reason } = settled
    if (settled.type === 'lost') {
      // Nothing of it was written: whoever makes the visit again has to teach it again.
      for (const { url } of aliases) this.#stripped.delete(url)
      return false
    }
    this.note(finds, settled.finds)
    if (state === 'pending') return false
    this.visited++
    if (state === 'indexed' || state === 'unchanged' || state === 'skipped' || state === 'failed') this[state]++
    const chunks = state === 'indexed' ? (record?.chunks.length ?? 0) : 0
    const told = { state, reason, status: status ?? null, detail: detail ?? null, bytes, chunks }
    this.events.push({ type: 'settled', url: visit.url, ...told })
    return state === 'indexed' || state === 'unchanged'
  }

  /** Counts a page that came without a visit and tells it. */
  countAdopted(url: string, { state, reason }: Settled, chunks: number): void {
    if (state === 'indexed' || state === 'unchanged' || state === 'skipped') this[state]++
    if (state === 'indexed' || state === 'unchanged') this.pagesTaken++
    const detail = 'from llms-full.txt'
    this.events.push({ type: 'settled', url, state, reason, status: null, detail, bytes: 0, chunks })
  }

  /** Where the crawl stands. */
  async progress(): Promise<CrawlProgress> {
    const now = this.ports.clock.now()
    const open = await this.ports.ledger.countOpen(this.run.sourceId, now)
    const { visited, indexed, unchanged, skipped, failed, bytes } = this
    const counts = { visited, indexed, unchanged, skipped, failed, bytes }
    const queued = open.pending + open.leased
    return { ...counts, queued, current: [...this.current], hosts: this.hosts(), elapsedMs: now - this.startedAt }
  }

  /**
   * Keeps where the site turned out to be, if it is to stay there. Not before the end, so that a crawl that is resumed finds it
   * out again; and not in a refresh, because the next crawl that looks for pages has to know that they may be elsewhere.
   */
  async keepSite(): Promise<void> {
    if (this.#readsLists && this.#keptSite !== this.run.siteUrl) await this.ports.moveSite(this.#keptSite)
  }

  #moveSite(siteUrl: string, isKept: boolean): void {
    this.siteUrl = siteUrl
    this.gate = createGate({ startUrl: this.run.startUrl, siteUrl, scope: this.run.scope })
    if (isKept) this.#keptSite = siteUrl
    // What was at the old place may still be there.
    this.incomplete ??= `the site was looked for at ${this.run.siteUrl} and is at ${siteUrl}`
  }

  get #readsLists(): boolean {
    return this.run.kind === 'add' || this.run.kind === 'recrawl'
  }

  #judgeOne(text: string, finding: Finding, finds: Find[], aliases: Alias[]): void {
    const { kind, discover } = this.run
    const { depth, foundOn, discovery } = finding
    const { url, key, host, refusal: refused, stripped } = this.gate.judge(text, depth)
    if (stripped !== null) {
      this.#noteStripped(url, stripped, depth, aliases)
      this.#judgeOne(stripped, { ...finding, discovery: 'query-strip' }, finds, aliases)
      return
    }
    const known = this.#offered.get(key)
    const isNewOnly = kind === 'refresh' || kind === 'retry'
    const aside: Refusal | null =
      kind === 'refresh' && !discover ? { reason: 'new-in-refresh', pattern: null, target: null } : null
    const refusal = refused ?? finding.refusal ?? aside
    if (known !== undefined && (refusal === null ? known <= depth : refusal.reason !== 'covered')) return
    finds.push({ key, url, host, depth, foundOn, discovery, refusal, ...(isNewOnly ? { isNewOnly } : {}) })
  }

  /** An address whose query says nothing is known by the one without: that is offered instead, and the alias kept. */
  #noteStripped(url: string, stripped: string, depth: number, aliases: Alias[]): void {
    if (this.#stripped.has(url)) return
    if (this.#stripped.size >= MAX_REMEMBERED) this.#stripped.clear()
    this.#stripped.add(url)
    aliases.push({ url, aliasUrl: stripped, classification: 'superfluous-query', reason: 'query-skip' })
    const target = this.gate.keyOf(stripped) ?? null
    this.events.push({ type: 'dropped', url, depth, reason: 'query-skip', pattern: null, target })
  }
}

/** Whether a host is this machine, by its name. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host)
}
