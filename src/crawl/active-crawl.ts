import type { Snapshot } from '../core/model.ts'
import { dropSlash } from '../core/url/key.ts'
import { isBelowStart } from '../core/url/reach.ts'
import { type AddressDecision, type AddressFilter, createAddressFilter } from './addresses/address-filter.ts'
import { ContentTraps, type PageContent } from './addresses/content-traps.ts'
import { Spellings } from './addresses/spellings.ts'
import {
  type ListedAddressState,
  listSparedHosts,
  SpreadSample,
  StaleListDetector,
} from './addresses/stale-list-detector.ts'
import { walkRows } from './addresses/walk-rows.ts'
import { waitUntilResumed } from './control.ts'
import { readLists } from './discovery/discover.ts'
import { MarkdownVariants } from './discovery/markdown-variant.ts'
import { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress, CrawlSummary } from './events.ts'
import { isUnsent, Pacer, type SendPermit } from './hosts/pacer.ts'
import { RobotsRules } from './hosts/robots-rules.ts'
import {
  type Alias,
  type Discovery,
  type FoundAddress,
  isAbsent,
  isFilterReason,
  isListed,
  isRead,
  type LedgerRow,
  type LedgerState,
  type OfferResult,
  type Reason,
  type Refusal,
  type Settlement,
  type SettlementResult,
  type Visit,
} from './ledger.ts'
import { PageDefect } from './page-defect.ts'
import { Planning } from './planning.ts'
import type { Fetcher, FetchOutcome, FetchRequest, PageReading, ReadOptions, Renderer, RenderOutcome } from './ports.ts'
import { ProgressMilestones } from './progress-milestones.ts'
import { createResourceFetcher, type ResourceFetcher } from './resource.ts'
import { type CrawlPorts, type CrawlRun, EXTRA_PAGE_REQUESTS, REQUESTS_PER_PAGE } from './run.ts'
import { countState, countVisit, type RunCounts } from './run-counts.ts'
import { Semaphore } from './semaphore.ts'
import { addCounts, NO_COUNTS, type ProcessCounts, type SharedCrawl } from './sharing.ts'

/** Number of offered addresses that are cached in memory. A full cache is cleared; the ledger then recognizes repeated addresses. */
const MAX_CACHED = 500_000
/** Sitemap addresses accepted when pages are capped, unless the cap allows more requests. */
const MAX_LISTED_WHEN_CAPPED = 10_000
/** Number of listed, and of linked, addresses in the first turn. Each later turn has as many as all turns before it together. */
const FIRST_TURN = 8
/** States of rows whose stored links are offered again; a page that failed now has links from an earlier crawl. */
const LINKING_STATES: readonly LedgerState[] = ['indexed', 'unchanged', 'skipped', 'failed']
/** Depth of an address known only from lists, so that any link to it counts as shorter. */
const LISTED_DEPTH = Infinity
/** Maximum age of the cached counts of other processes. */
const COUNTS_MAX_AGE_MS = 1000
/** Milestones are recounted after this many visits by other processes, and again each time that number grows by the factor below. */
const FIRST_RECOUNT = 10
const RECOUNT_FACTOR = 4

/** Where addresses were found. */
export interface DiscoveryContext {
  readonly depth: number
  readonly foundOn: string | null
  readonly discovery: Discovery
  /** Refuses addresses that the address filter would admit. */
  readonly refusal?: Refusal
}

/** Finds for the ledger, and the aliases that were learned from them. */
export interface FoundAddresses {
  readonly finds: readonly FoundAddress[]
  readonly aliases: readonly Alias[]
}

/** The state of a running crawl: settings, counters, and the events it emits. */
export class ActiveCrawl implements RunCounts {
  readonly run: CrawlRun
  readonly ports: CrawlPorts
  readonly pacer: Pacer
  readonly robots: RobotsRules
  /** Fetches files that are not pages, as robots.txt allows. */
  readonly fetchResource: ResourceFetcher
  readonly variants: MarkdownVariants = new MarkdownVariants()
  readonly events: EventQueue<CrawlEvent> = new EventQueue()
  readonly startedAt: number
  readonly signal: AbortSignal
  /** Addresses being visited (waiting, fetching or reading), and since when. */
  readonly visiting: Map<string, number> = new Map()
  /** Keys of visits whose `begun` event was emitted and that are not settled yet. */
  readonly #begun = new Set<string>()
  /** Requests in progress by address, and when each began. */
  readonly #fetching = new Map<string, number>()
  /** Limits visits with large responses: pages are parsed one at a time, so more of them would only wait in memory. */
  readonly largeVisits: Semaphore<Visit> = new Semaphore(3)
  /** Present only if the crawl has a planner. */
  readonly planning: Planning | undefined
  readonly milestones: ProgressMilestones
  addressFilter: AddressFilter
  siteUrl: string
  /** Pages that count towards the cap. */
  pagesTaken = 0
  visited = 0
  indexed = 0
  unchanged = 0
  skipped = 0
  failed = 0
  provenGone = 0
  newInRefresh = 0
  /** Addresses for which the ledger had no room. */
  overflow = 0
  bytes = 0
  requests = 0
  /** Requests of visits. */
  pageRequests = 0
  /** Whether lists are being read; links of pages wait until that is done. */
  isReadingLists = false
  /** Reason why the crawl cannot start. */
  refusal: Reason | null = null
  /** Explains `refusal` as text. */
  refusalDetail: string | null = null
  /** The page cap, once it has left something out. */
  cappedAt: number | null = null
  /** Set when the cap was reached because its page requests were used up. */
  spent: CrawlSummary['spent']
  /** Pages of earlier runs that stay unchanged because the cap was reached before their turn. */
  keptByCap = 0
  /** Whether the current pages of llms-full.txt are known. */
  isLlmsFullKnown = false
  /** Whether llms-full.txt was to be the only content but holds no page. */
  isLlmsFullMissing = false
  /** Why a missing address proves nothing in this run, as text; null while everything could be checked. */
  incomplete: string | null = null
  /** Whether another process started the crawl; this process then only makes visits. */
  readonly isJoined: boolean
  /** Whether the start has responded, so that the location of the site is known. */
  #hasStartResponded: boolean
  /** The state last shared with other processes, as JSON. */
  #sharedJson: string | undefined
  /** Requests that `takeRequests` has already reported. */
  #reportedRequests = 0
  /** Cached counts of other processes, and when they were read. */
  #joinedCounts: { readonly ownCounts: ProcessCounts; readonly at: number } = {
    ownCounts: NO_COUNTS,
    at: Number.NEGATIVE_INFINITY,
  }
  /** Number of visits by other processes at which milestones are recounted. */
  #recountAt = FIRST_RECOUNT
  /** Site address to store at the end of the crawl. */
  #siteToStore: string
  readonly #startOrigin: string
  /** Keys of the start and of its redirect targets, and whether only permanent redirects lead there. */
  readonly #startKeys = new Map<string, boolean>()
  /** Number of consecutive redirects that led to a key. */
  readonly #hops = new Map<string, number>()
  /** Key of a start that was settled before the crawl was interrupted. */
  #settledStart: string | undefined
  #discovery: Promise<void> | undefined
  readonly #offered = new Map<string, number>()
  readonly #stripped = new Set<string>()
  /** Keys that only the planner has named so far. */
  readonly #guesses = new Set<string>()
  /** Keys of planner guesses that this run requested and did not find. */
  readonly #missed = new Set<string>()
  /** Hosts of the site: the given one, and those it redirected to. */
  readonly #hosts = new Set<string>()
  /** Whether the crawl now requests stored pages that it did not find; those outside the scope are removed. */
  isCheckingUnlinked = false
  readonly #traps = new ContentTraps(this.#hosts)
  readonly #spellings = new Spellings()
  /** Keys of pages that llms-full.txt holds, indexed by the key without its trailing slash. */
  readonly #covered = new Map<string, string>()
  readonly #lists = new StaleListDetector()
  /** The last sample of each list. */
  readonly #samples = new Map<string, readonly FoundAddress[]>()
  /** Finds so far, by kind. */
  readonly #counts = { listed: 0, linked: 0 }

  constructor(run: CrawlRun, ports: CrawlPorts, signal: AbortSignal, shared?: SharedCrawl) {
    this.run = run
    this.isJoined = shared !== undefined
    this.isLlmsFullKnown = shared?.isFullKnown === true
    this.ports = ports
    this.signal = signal
    this.startedAt = ports.clock.now()
    this.siteUrl = run.siteUrl
    this.#siteToStore = run.siteUrl
    this.#startOrigin = new URL(run.startUrl).origin
    for (const url of [run.startUrl, run.siteUrl]) this.#hosts.add(new URL(url).host)
    this.addressFilter = this.#createAddressFilter(run.siteUrl)
    this.#hasStartResponded = !this.#readsLists
    this.#startKeys.set(this.addressFilter.keyOf(run.startUrl) ?? run.startUrl, true)
    const { ledger, clock, random } = ports
    const tell = (event: CrawlEvent) => this.events.push(event)
    const { planner } = ports
    const offer = (urls: readonly string[]) => this.#offerSeeds(urls)
    const prioritize = (urls: readonly string[]) => this.#prioritize(urls)
    const { startUrl } = run
    this.planning = planner === undefined ? undefined : new Planning({ planner, startUrl, offer, prioritize, tell })
    this.milestones = new ProgressMilestones(run.startUrl)
    const probe = (url: string, permit: SendPermit) => this.#probe(url, permit)
    const pacer = new Pacer({ ledger, clock, random, limits: run.limits, probe, signal, tell })
    this.pacer = pacer
    const fetchBare = createResourceFetcher({ fetcher: this, pacer })
    const { startedAt: since } = this
    // Every run reads robots.txt again, so that a changed rule applies from the next run.
    this.robots = new RobotsRules({ fetchResource: fetchBare, ledger, clock, setDelay: pacer.setDelay, since })
    const judgeRobots = (url: string, signal?: AbortSignal) => this.robots.judge(url, signal)
    const fetchResource = createResourceFetcher({ fetcher: this, pacer, judgeRobots })
    this.fetchResource = async (url, options) => {
      await waitUntilResumed(ports.control, signal)
      return fetchResource(url, options)
    }
  }

  /** Sends a request and counts it; the response adjusts the pace of the host. */
  async fetch(
    request: FetchRequest,
    permit: SendPermit,
    visit?: Visit,
    fetcher: Fetcher = this.ports.fetcher,
  ): Promise<FetchOutcome> {
    const { origin } = new URL(request.url)
    const isPageRequest = visit !== undefined
    this.requests++
    if (isPageRequest) this.pageRequests++
    let sentAt = this.ports.clock.now()
    const headers = { ...this.#headersFor(origin), ...request.headers }
    const visitOptions =
      visit === undefined
        ? {}
        : { admitLarge: () => this.largeVisits.acquire(visit), isBrief: await this.wasUnresponsive(visit) }
    const signal = request.signal ?? this.signal
    this.#fetching.set(request.url, sentAt)
    const send = (isInTime: () => boolean): Promise<FetchOutcome> => {
      sentAt = this.ports.clock.now()
      return fetcher.fetch({ ...request, headers, ...visitOptions, isInTime, signal })
    }
    const outcome = await this.pacer.send(permit, send, signal).finally(() => this.#fetching.delete(request.url))
    if (outcome.type === 'fetched') this.bytes += outcome.snapshot.body.length
    // The network guard refuses a request before it is sent, so it does not count.
    if (isUnsent(outcome) || (outcome.type === 'failed' && outcome.reason === 'address-refused')) {
      this.requests--
      if (isPageRequest) this.pageRequests--
    }
    if (!isUnsent(outcome)) await this.pacer.noteOutcome(request.url, outcome, sentAt, isPageRequest)
    return outcome
  }

  /** Whether the last request for an address timed out before the server began to respond. */
  async wasUnresponsive({ attempts, sourceId, key }: Visit): Promise<boolean> {
    const row = attempts > 0 ? await this.ports.ledger.findRow(sourceId, key) : undefined
    return row?.reason === 'timeout' && row.status === null
  }

  /** Runs the scripts of a fetched page. */
  render(renderer: Renderer, snapshot: Snapshot): Promise<RenderOutcome> {
    const { url } = snapshot
    this.#fetching.set(url, this.ports.clock.now())
    const headers = this.#headersFor(new URL(url).origin)
    return renderer.render(snapshot, { headers, signal: this.signal }).finally(() => this.#fetching.delete(url))
  }

  /** Reads a page. A page that crashes the reader must not crash the crawl, so a text that describes the problem is returned. */
  async read(snapshot: Snapshot, key: string, options?: ReadOptions): Promise<PageReading | string> {
    try {
      return await this.ports.readPage(snapshot, key, options)
    } catch (error) {
      if (this.signal.aborted) throw error
      return error instanceof PageDefect ? `the page ${error.message}` : 'could not be read'
    }
  }

  /** Judges found addresses. Leaves out those that this crawl already offered at the same or a smaller depth. */
  judge(urls: Iterable<string>, context: DiscoveryContext): FoundAddresses {
    const finds: FoundAddress[] = []
    const aliases: Alias[] = []
    for (const url of urls) this.#judgeOne(url, context, finds, aliases)
    return { finds, aliases }
  }

  /** Remembers the finds that the ledger has taken, and emits their events. */
  noteOffered(finds: readonly FoundAddress[], results: readonly OfferResult[]): void {
    if (this.#offered.size + finds.length > MAX_CACHED) this.#offered.clear()
    finds.forEach((find, i) => {
      const { url, depth, discovery, refusal } = find
      if (results[i] === 'overflow') {
        this.#noteOverflow(find)
        return
      }
      if (refusal === null) this.#spellings.offer(find.key)
      const isLinked = refusal === null && !isListed(discovery)
      this.#offered.set(find.key, isLinked ? depth : (this.#offered.get(find.key) ?? LISTED_DEPTH))
      if (results[i] === 'named') this.#countNamed(find.key)
      if (results[i] === 'admitted') this.events.push({ type: 'enqueued', url, depth, discovery })
      if (results[i] !== 'refused' || refusal === null) return
      if (refusal.reason === 'new-in-refresh') this.newInRefresh++
      this.#noteRepetition(refusal.reason, refusal.pattern)
      this.events.push({ type: 'dropped', url, depth, ...refusal })
    })
  }

  /** Offers addresses to the ledger. Returns how many were admitted. */
  async offer(urls: Iterable<string>, context: DiscoveryContext): Promise<number> {
    const { finds, aliases } = this.judge(urls, context)
    if (finds.length === 0 && aliases.length === 0) return 0
    const results = await this.record(finds, aliases)
    await this.events.waitForRoom()
    return results.filter((result) => result === 'admitted').length
  }

  /** Writes finds to the ledger and returns its results. */
  async record(finds: readonly FoundAddress[], aliases: readonly Alias[] = []): Promise<readonly OfferResult[]> {
    const { crawlId, sourceId, limits } = this.run
    const { ledger, clock } = this.ports
    const results = await ledger.offer(sourceId, crawlId, finds, clock.now(), aliases, limits.ledgerRows)
    this.noteOffered(finds, results)
    return results
  }

  /** Whether only the planner has named an address. */
  isGuess({ key, discovery }: Pick<Visit, 'key' | 'discovery'>): boolean {
    return discovery === 'planner' && (this.#guesses.has(key) || !this.#offered.has(key))
  }

  /** Passes content to the trap detection. Second readings and listed addresses are left out: neither is evidence of a trap. */
  noteContent({ url, depth, discovery, isFinal, isConfirmation }: Visit, content: PageContent): void {
    const isEvidence = !isFinal && !isConfirmation && !isListed(discovery)
    if (this.run.scope.trapGuards && isEvidence) this.#traps.note(url, depth, content)
  }

  /** Judges an address by how it was found. A list is finite, so content traps do not apply to its addresses. */
  judgeFound(url: string, depth: number, discovery: Discovery, isNoTrap = false): AddressDecision {
    const verdict = this.addressFilter.judge(url, depth, isNoTrap)
    const isSpared = isListed(discovery) && verdict.refusal?.reason === 'same-content'
    return isSpared ? { ...verdict, refusal: null } : verdict
  }

  /**
   * Reads the lists of the site once. The visit of the start waits for it, so that listed addresses are recorded as listed, not as links.
   */
  readListsOnce(startKey?: string): Promise<void> {
    if (this.#discovery === undefined) {
      this.isReadingLists = true
      this.#discovery = readLists(this, startKey).finally(() => {
        this.isReadingLists = false
      })
    }
    return this.#discovery
  }

  /** Whether the page cap, or the requests that it allows, are used up. */
  get isCapped(): boolean {
    return this.pagesTaken >= (this.run.scope.maxPages ?? Infinity) || this.pageRequests >= this.#maxPageRequests
  }

  /** Maximum number of sitemap addresses: far more than a page cap allows would only cost time. */
  get maxListed(): number {
    return Math.min(this.run.limits.sitemapEntries, Math.max(this.#maxPageRequests, MAX_LISTED_WHEN_CAPPED))
  }

  get #maxPageRequests(): number {
    return (this.run.scope.maxPages ?? Infinity) * REQUESTS_PER_PAGE + EXTRA_PAGE_REQUESTS
  }

  /** Page limit for now: lists may use half of the cap before links are known. */
  get maxPagesNow(): number {
    const maxPages = this.run.scope.maxPages ?? Infinity
    return this.isReadingLists ? Math.ceil(maxPages / 2) : maxPages
  }

  /**
   * Depth up to which addresses are visited in any order, so that lists and links take turns. It is 0 while lists are being read, because
   * an address one link away may still turn out to be listed.
   */
  get firstLevel(): number {
    return this.isReadingLists || this.isJoined ? 0 : 1
  }

  /** Depth of a redirect target: at least 1 except for the start, so that a listed redirect and a link give the same depth in any order. */
  redirectDepth({ key, depth }: Pick<Visit, 'key' | 'depth'>): number {
    return this.#startKeys.has(key) ? depth : Math.max(depth, Math.min(1, this.run.scope.maxDepth ?? 1))
  }

  /** Records whether a listed address exists, and samples or sets aside its list. */
  async noteListed({ foundOn, discovery }: Visit, settled: SettlementResult, status: number | null): Promise<void> {
    if (foundOn === null || !isListed(discovery)) return
    const answer = judgeListed({ ...settled, status })
    // While the list is being read, a sample would cover its beginning only.
    if (this.isReadingLists || answer === undefined) return
    const next = this.#lists.note(foundOn, answer === 'missing')
    if (next === 'sample') await this.#sampleList(foundOn)
    if (next === 'set-aside') await this.#setAside(foundOn, discovery)
  }

  /** Moves a sample of a list to the front of the frontier. */
  async #sampleList(list: string): Promise<void> {
    const { run, ports } = this
    const sample = new SpreadSample<FoundAddress>()
    for await (const rows of walkRows(ports.ledger, run.sourceId, { state: 'pending' })) {
      for (const { key, url, host, depth, foundOn, discovery } of rows) {
        if (foundOn === list && isListed(discovery))
          sample.add({ key, url, host, depth, foundOn, discovery, refusal: null, weight: -1 })
      }
    }
    this.#samples.set(list, sample.items)
    if (sample.items.length > 0) await this.record(sample.items)
  }

  /** Returns the host of each address in the last sample of a list, and whether the address exists. Any process may have visited it. */
  async #readSample(list: string): Promise<(readonly [host: string, answer: ListedAddressState | undefined])[]> {
    const answers: (readonly [string, ListedAddressState | undefined])[] = []
    for (const { key, host } of this.#samples.get(list) ?? []) {
      const row = await this.ports.ledger.findRow(this.run.sourceId, key)
      answers.push([host, row && judgeListed(row)])
    }
    return answers
  }

  /**
   * Skips the pending addresses of a stale list, except on hosts where they may still exist according to the sample. Then offers links
   * again, because pages may link to some of the skipped addresses.
   */
  async #setAside(list: string, discovery: Discovery): Promise<void> {
    const { run, ports } = this
    const now = ports.clock.now()
    const listed = { list, exceptHosts: listSparedHosts(await this.#readSample(list)) }
    const count = await ports.ledger.skipPending(run.sourceId, 'stale-list', list, now, run.crawlId, listed)
    this.incomplete ??= `${list} was set aside: a sample of its addresses is gone`
    const detail = `${count} addresses set aside: those that were requested are gone`
    this.events.push({ type: 'discovery', discovery, url: list, found: 0, detail })
    if (count > 0 && run.followsLinks) await this.#offerLinksAgain()
  }

  /** Offers all links of this crawl again. Reads them from the ledger, because an interrupted run may have fetched some of the pages. */
  async #offerLinksAgain(): Promise<void> {
    const { run, ports } = this
    this.#offered.clear()
    for (const state of LINKING_STATES) {
      for await (const rows of walkRows(ports.ledger, run.sourceId, { state })) {
        const linking = rows.filter((row) => row.crawlId === run.crawlId && (isRead(row) || row.hasPage))
        for (const { key, url, depth } of linking) {
          const links = await ports.ledger.readLinks(run.sourceId, key)
          await this.offer(links, { depth: depth + 1, foundOn: url, discovery: 'link' })
        }
      }
    }
  }

  /** Reads the lists if no visit of the start did. Returns whether it read them. */
  async readListsIfNeeded(): Promise<boolean> {
    if (this.#discovery !== undefined || !this.#readsLists) return false
    await this.readListsOnce(this.#settledStart)
    await this.share()
    return true
  }

  /**
   * Follows the redirects of the start of a resumed crawl. Once the start is settled, its lists have been read too. A recrawl reads them
   * again, because only lists that can be read now prove that an address is missing.
   */
  async resumeStart(): Promise<void> {
    const { sourceId, crawlId, limits } = this.run
    for (const key of this.#startKeys.keys()) {
      const row = await this.ports.ledger.findRow(sourceId, key)
      if (row?.crawlId !== crawlId || row.state === 'pending' || row.state === 'leased') return
      const isRedirect = row.reason === 'redirect' && row.target !== null && this.#startKeys.size <= limits.redirects
      if (isRedirect) {
        const target = await this.ports.ledger.findRow(sourceId, row.target ?? '')
        this.noteStartRedirect(key, target?.url ?? row.target ?? '', row.status === 301 || row.status === 308)
        continue
      }
      if (isRead(row) && row.status !== null) this.noteStartPage(key)
      this.#hasStartResponded = true
      if (this.run.kind === 'recrawl') this.#settledStart = key
      else this.#discovery = Promise.resolve()
    }
  }

  /**
   * Records where an address redirects. If it is the start, the site moves there. The site keeps its folder if the target is inside that
   * folder. A temporary redirect counts for this crawl only.
   */
  noteStartRedirect(key: string, target: string, isPermanent: boolean): void {
    const isPermanentSoFar = this.#startKeys.get(key)
    const targetKey = this.addressFilter.keyOf(target)
    if (isPermanentSoFar === undefined || targetKey === undefined) return
    this.#startKeys.set(targetKey, isPermanentSoFar && isPermanent)
    const to = new URL(target)
    const site = new URL(this.siteUrl)
    const isInside = isBelowStart(to, site)
    if (to.origin === site.origin && isInside) return
    this.#moveSite(isInside ? new URL(site.pathname, to.origin).href : to.href, isPermanentSoFar && isPermanent)
  }

  /** Records that an address responded with its own page. If it is the start that the user gave, the site is located there again. */
  noteStartPage(key: string): void {
    if (key === this.addressFilter.keyOf(this.run.startUrl) && this.siteUrl !== this.run.startUrl)
      this.#moveSite(this.run.startUrl, true)
  }

  /** Number of consecutive redirects that led to a key. */
  countHops(key: string): number {
    return this.#hops.get(key) ?? 0
  }

  noteHops(key: string, hops: number): void {
    if (this.#hops.size >= MAX_CACHED) this.#hops.clear()
    this.#hops.set(key, hops)
  }

  /** Whether the lists must be read before links of this page count: true for the start and its redirect targets. */
  waitsForLists(key: string): boolean {
    return this.#readsLists && this.#startKeys.has(key)
  }

  /** Records the beginning of a visit. A visit that is repeated because it was too early for its host emits no second event. */
  begin({ key, url, depth }: Visit): void {
    this.visiting.set(url, this.ports.clock.now())
    if (this.#begun.has(key)) return
    this.#begun.add(key)
    this.events.push({ type: 'begun', url, depth })
  }

  /** Lets other processes join once the location of the site is known, and shares later changes. */
  async share(hasStartResponded = false): Promise<void> {
    this.#hasStartResponded ||= hasStartResponded
    const shared: SharedCrawl = { siteUrl: this.siteUrl, isFullKnown: this.isLlmsFullKnown }
    const text = JSON.stringify(shared)
    if (!this.#hasStartResponded || this.#sharedJson === text) return
    this.#sharedJson = text
    // A failed write is harmless: the next visit shares the state again.
    await this.ports.share?.(shared).catch(() => {
      this.#sharedJson = undefined
    })
  }

  /** Counts of other processes, at most `COUNTS_MAX_AGE_MS` old. */
  async readJoinedCounts(isNow = false): Promise<ProcessCounts> {
    const now = this.ports.clock.now()
    if (this.ports.readJoinedCounts !== undefined && (isNow || now - this.#joinedCounts.at >= COUNTS_MAX_AGE_MS)) {
      this.#joinedCounts = { ownCounts: await this.ports.readJoinedCounts(), at: now }
    }
    return this.#joinedCounts.ownCounts
  }

  /** Returns the number of requests since the last call. */
  takeRequests(): number {
    const unreported = this.requests - this.#reportedRequests
    this.#reportedRequests = this.requests
    return unreported
  }

  /** Counts a settled visit and emits its event. Returns whether it brought a page. */
  countSettled(settlement: Settlement, settled: SettlementResult, bytes: number): boolean {
    this.#begun.delete(settlement.visit.key)
    const { visit, status, detail, record, finds = [], aliases = [] } = settlement
    const { state, reason } = settled
    if (settled.type === 'lost') {
      // Nothing was written, so the process that repeats the visit must be able to record the aliases again.
      for (const { url, aliasUrl } of aliases) {
        this.#stripped.delete(url)
        this.#stripped.delete(aliasUrl)
      }
      return false
    }
    this.noteOffered(finds, settled.finds)
    if (state === 'pending') return false
    const contentHash = record?.page.contentHash ?? (status === 304 ? visit.contentHash : null)
    if (contentHash !== null) this.#spellings.note(visit.key, contentHash)
    this.#noteRepetition(reason, settlement.pattern)
    countVisit(this, settlement, settled)
    if (reason === 'guess-missed') this.#missed.add(visit.key)
    const chunks = state === 'indexed' ? (record?.chunks.length ?? 0) : 0
    const outcome = { state, reason, status: status ?? null, detail: detail ?? null, bytes, chunks }
    const isStored = state === 'unchanged' && record === undefined
    const stored = isStored ? { storedMs: Math.max(0, settlement.now - (visit.checkedAt ?? settlement.now)) } : {}
    this.events.push({ type: 'settled', url: visit.url, ...outcome, ...stored })
    return state === 'indexed' || state === 'unchanged'
  }

  /** Emits the milestones that a visit has reached. Each is stored before it is emitted: missing one is better than a duplicate. */
  async emitMilestones(visit: Parameters<ProgressMilestones['note']>[0]): Promise<void> {
    // A joined process sees only a part of the crawl.
    if (this.isJoined) return
    await this.#emitReached(this.milestones.note(visit))
    const { visited } = await this.readJoinedCounts()
    if (visited >= this.#recountAt) await this.#recount(visited)
  }

  /** Emits the milestones that all processes have reached together. */
  async emitSharedMilestones(): Promise<void> {
    await this.#recount((await this.readJoinedCounts(true)).visited)
  }

  /** Counts milestones from the ledger, because visits of other processes are not reported to this one. */
  async #recount(visited: number): Promise<void> {
    const { milestones } = this.ports
    if (visited === 0 || milestones === undefined || !this.milestones.isOpen) return
    // Set before the first await, so that only one of several concurrent visits recounts.
    this.#recountAt = Math.max(this.#recountAt, visited) * RECOUNT_FACTOR
    await this.#emitReached(this.milestones.take(await milestones.read()))
  }

  async #emitReached(reached: readonly Extract<CrawlEvent, { type: 'milestone' }>[]): Promise<void> {
    for (const event of reached) {
      await this.ports.milestones?.write(event.kind)
      this.events.push(event)
    }
  }

  /** Refuses an address that differs only by a trailing slash from a page in llms-full.txt; null for all others. */
  findCovering(key: string): Refusal | null {
    const target = this.#covered.get(dropSlash(key))
    if (target === undefined || target === key) return null
    return { reason: 'covered', pattern: 'llms-full.txt', target }
  }

  /** Counts a page taken from llms-full.txt without a visit, and emits its event. */
  countAdopted(url: string, settled: SettlementResult, chunks: number): void {
    const { state, reason } = settled
    countState(this, settled)
    const key = this.addressFilter.keyOf(url) ?? url
    if (reason !== 'overflow') this.#covered.set(dropSlash(key), key)
    if (state === 'indexed' || state === 'unchanged') this.pagesTaken++
    const detail = 'from llms-full.txt'
    this.events.push({ type: 'settled', url, state, reason, status: null, detail, bytes: 0, chunks })
  }

  /** Counts of this process. */
  get done(): ProcessCounts {
    const { visited, indexed, unchanged, skipped, failed, provenGone } = this
    const { newInRefresh, overflow, bytes, requests, pacer } = this
    const parked = [...pacer.parked].map(([host, detail]) => ({ host, detail }))
    const counts = { visited, indexed, unchanged, skipped, failed, provenGone }
    return { ...counts, newInRefresh, overflow, bytes, requests, parked }
  }

  /** Current progress of the crawl. */
  async progress(): Promise<CrawlProgress> {
    const now = this.ports.clock.now()
    // Progress is read often, so it leaves out the slower query for the next due time.
    const { states } = await this.ports.ledger.countLedger(this.run.sourceId)
    const own = { visited: this.visited, bytes: this.bytes }
    const { visited, indexed, unchanged, skipped, failed, bytes } = addCounts(this.done, await this.readJoinedCounts())
    const counts = { visited, indexed, unchanged, skipped, failed, bytes, own }
    const queued = states.pending + states.leased
    return {
      ...counts,
      queued,
      current: Array.from(this.#fetching, ([url, since]) => ({ url, ageMs: now - since })),
      isPaused: this.ports.control?.isPaused === true,
      hasRobots: this.robots.isKnown(this.siteUrl),
      hosts: this.pacer.progress(),
      latencies: this.pacer.latencies,
      elapsedMs: now - this.startedAt,
    }
  }

  /**
   * Stores the new address of a site that moved permanently. Only at the end, so that a resumed crawl detects the move again. Never in a
   * refresh, because the next crawl that discovers pages must notice the move.
   */
  async storeMovedSite(): Promise<void> {
    if (this.#readsLists && this.#siteToStore !== this.run.siteUrl) await this.ports.moveSite(this.#siteToStore)
  }

  /** Requests an address only to check whether its host responds; the response is not used. */
  async #probe(url: string, permit: SendPermit): Promise<FetchOutcome> {
    const { signal } = this
    const headers = this.#headersFor(new URL(url).origin)
    const request = { url, headers, isBrief: true, signal }
    const send = (isInTime: () => boolean) => this.ports.fetcher.fetch({ ...request, isInTime })
    const outcome = await this.pacer.send(permit, send, signal, false)
    if (!isUnsent(outcome)) this.requests++
    return outcome
  }

  /** Adds the seeds of the planner to the frontier. Returns which of them wait there now. */
  async #offerSeeds(urls: readonly string[]): Promise<{ waiting: readonly string[]; admitted: number }> {
    const depth = Math.max(1, this.run.scope.maxDepth ?? 1)
    // Guesses outside the scope are not recorded.
    const allowed = urls.filter((url) => this.addressFilter.judge(url, depth).refusal === null)
    const admitted = await this.offer(allowed, { depth, foundOn: null, discovery: 'planner' })
    const waiting: string[] = []
    for (const url of allowed) if ((await this.#findWaiting(url)) !== undefined) waiting.push(url)
    return { waiting, admitted }
  }

  /** Moves waiting addresses forward in the frontier; refused addresses stay refused. */
  async #prioritize(urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      const row = await this.#findWaiting(url)
      if (row !== undefined) await this.offer([row.url], { depth: row.depth, foundOn: null, discovery: 'planner' })
    }
  }

  async #findWaiting(url: string): Promise<LedgerRow | undefined> {
    const row = await this.ports.ledger.findRow(this.run.sourceId, this.addressFilter.keyOf(url) ?? url)
    const isWaiting = row?.crawlId === this.run.crawlId && (row.state === 'pending' || row.state === 'leased')
    return isWaiting ? row : undefined
  }

  #moveSite(siteUrl: string, isPermanent: boolean): void {
    this.siteUrl = siteUrl
    this.addressFilter = this.#createAddressFilter(siteUrl)
    this.#hosts.add(new URL(siteUrl).host)
    if (isPermanent) this.#siteToStore = siteUrl
    // Pages at the old address may still exist.
    this.incomplete ??= `the site has moved from ${this.run.siteUrl} to ${siteUrl}`
  }

  /** Configured headers may hold credentials, so they go to the origin of the start only, even if the site has moved. */
  #headersFor(origin: string): CrawlRun['headers'] {
    return origin === this.#startOrigin ? this.run.headers : {}
  }

  #createAddressFilter(siteUrl: string): AddressFilter {
    const { startUrl, scope } = this.run
    return createAddressFilter({
      startUrl,
      siteUrl,
      scope,
      now: this.startedAt,
      contentTraps: this.#traps,
      spellings: this.#spellings,
    })
  }

  get #readsLists(): boolean {
    return !this.isJoined && (this.run.kind === 'add' || this.run.kind === 'recrawl')
  }

  #judgeOne(text: string, context: DiscoveryContext, finds: FoundAddress[], aliases: Alias[]): void {
    const { kind, discover } = this.run
    const { depth, foundOn, discovery } = context
    const isGiven = discovery === 'manual'
    const { url, key, host, refusal: filterRefusal, stripped } = this.judgeFound(text, depth, discovery, isGiven)
    if (stripped !== null) {
      this.#noteStripped(url, stripped, filterRefusal, depth, aliases)
      this.#judgeOne(stripped, { ...context, discovery: 'query-strip' }, finds, aliases)
      return
    }
    const offeredDepth = this.#offered.get(key)
    const isNewOnly = kind === 'refresh' || kind === 'retry'
    const refreshRefusal: Refusal | null =
      kind === 'refresh' && !discover ? { reason: 'new-in-refresh', pattern: null, target: null } : null
    const refusal = filterRefusal ?? context.refusal ?? refreshRefusal ?? (isGiven ? null : this.findCovering(key))
    // The ledger must learn that the site itself names an address that was only a guess.
    const isNamed = discovery !== 'planner' && this.#guesses.delete(key)
    if (discovery === 'planner' && offeredDepth === undefined) this.#guesses.add(key)
    const find = { key, url, host, depth, foundOn, discovery, ...(isNewOnly ? { isNewOnly } : {}) }
    const isKnown =
      offeredDepth !== undefined && (refusal === null ? offeredDepth <= depth : refusal.reason !== 'covered')
    // The planner may offer a waiting address again to move it forward.
    if (isKnown && !isNamed && discovery !== 'planner') return
    if (refusal !== null) {
      finds.push({ ...find, refusal })
      return
    }
    if (this.planning === undefined) {
      finds.push({ ...find, refusal: null, weight: this.#weighTurn(discovery) })
      return
    }
    const planRefusal = this.planning.refuse(find)
    if (planRefusal !== null && offeredDepth !== undefined) return
    finds.push({ ...find, refusal: planRefusal, weight: planRefusal === null ? this.planning.weigh(find) : 0 })
  }

  /**
   * Lets listed addresses and links take turns: a few of each are visited first, and each later turn has as many as all before it together.
   * Neither a long list nor many links can delay the other for long.
   */
  #weighTurn(discovery: Discovery): number {
    if (discovery !== 'link' && !isListed(discovery)) return 0
    const count = discovery === 'link' ? this.#counts.linked++ : this.#counts.listed++
    return count < FIRST_TURN ? 0 : Math.floor(Math.log2(count / FIRST_TURN)) + 1
  }

  /**
   * Replaces an address that has a superfluous query or a session id with the address without it, and keeps the alias. Session ids are
   * unlimited, so only one alias per address is kept.
   */
  #noteStripped(url: string, stripped: string, refusal: Refusal | null, depth: number, aliases: Alias[]): void {
    const isSession = refusal?.reason === 'session-id'
    const aliasKey = isSession ? stripped : url
    if (this.#stripped.has(aliasKey)) return
    if (this.#stripped.size >= MAX_CACHED) this.#stripped.clear()
    this.#stripped.add(aliasKey)
    const reason = isSession ? 'session-id' : 'query-skip'
    const classification = isSession ? 'session-id' : 'superfluous-query'
    aliases.push({ url, aliasUrl: stripped, classification, reason })
    const pattern = isSession ? refusal.pattern : null
    this.events.push({
      type: 'dropped',
      url,
      depth,
      reason,
      pattern,
      target: this.addressFilter.keyOf(stripped) ?? null,
    })
  }

  /** Records that pages were left out as repetitions. They may have been different, so their absence proves nothing. */
  #noteRepetition(reason: Reason | null, pattern: string | null | undefined): void {
    if (reason === 'same-content') this.incomplete ??= `addresses like ${pattern} were left out as repetitions`
  }

  /** A missed guess becomes a failure once the site names it. Guesses of earlier runs do not change the counts of this run. */
  #countNamed(key: string): void {
    if (!this.#missed.delete(key)) return
    this.skipped--
    this.failed++
  }

  #noteOverflow({ key, url, depth }: FoundAddress): void {
    // Depth 0 keeps the address from being offered again: the ledger stays full.
    this.#offered.set(key, 0)
    this.overflow++
    const pattern = String(this.run.limits.ledgerRows)
    this.incomplete ??= `more addresses were found than the ${pattern} a source may have`
    this.events.push({ type: 'dropped', url, depth, reason: 'overflow', pattern, target: null })
  }
}

/** Whether a listed address exists; undefined if that is unknown. Redirects and pages that are not indexed count as found. */
function judgeListed({
  state,
  reason,
  status,
}: Pick<LedgerRow, 'state' | 'reason' | 'status'>): ListedAddressState | undefined {
  if (state === 'failed') return isAbsent(reason) ? 'missing' : undefined
  // A row that was refused without a request has the status of an earlier run.
  const hasResponded = state === 'skipped' && status !== null && !isFilterReason(reason)
  return state === 'indexed' || state === 'unchanged' || hasResponded ? 'found' : undefined
}
