import type { Snapshot } from '../core/model.ts'
import { dropSlash } from '../core/url/key.ts'
import { isBelowStart } from '../core/url/reach.ts'
import { ContentTraps, type PageContent } from './content-traps.ts'
import { untilResumed } from './control.ts'
import { readLists } from './discover.ts'
import { MarkdownVariants } from './discovery/markdown-variant.ts'
import { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress, CrawlSummary } from './events.ts'
import { createGate, type Gate, type Verdict } from './gate.ts'
import {
  type Alias,
  type Discovery,
  type Find,
  type FindResult,
  isAbsent,
  isGateReason,
  isListed,
  isRead,
  type LedgerRow,
  type LedgerState,
  type Reason,
  type Refusal,
  type Settled,
  type Settlement,
  type Visit,
} from './ledger.ts'
import { ListTrials, SpreadSample } from './list-trials.ts'
import { isUnsent, type Leave, Pacer } from './pacer.ts'
import { PageDefect } from './page-defect.ts'
import { Planning } from './planning.ts'
import type { Fetcher, FetchOutcome, FetchRequest, PageReading, ReadOptions, Renderer, RenderOutcome } from './ports.ts'
import { ProgressMilestones } from './progress-milestones.ts'
import { createResourceFetcher, type FetchResource } from './resource.ts'
import { RobotsRules } from './robots-rules.ts'
import { Room } from './room.ts'
import { type CrawlPorts, type CrawlRun, FURTHER_REQUESTS, REQUESTS_PER_PAGE } from './run.ts'
import { countState, countVisit, type RunCounts } from './run-counts.ts'
import { addHelp, type Help, NO_HELP, type SharedCrawl } from './sharing.ts'
import { Spellings } from './spellings.ts'
import { walkRows } from './walk-rows.ts'

/** Addresses remembered as already offered; beyond that the ledger is asked again. */
const MAX_REMEMBERED = 500_000
/** Addresses of sitemaps that are taken where pages are capped, unless the cap allows more requests. */
const MOST_LISTED_CAPPED = 10_000
/** Finds of one kind that are visited first; each time as many again are visited later. */
const FIRST_TURN = 8
/** States of rows that may hold links of this crawl or, where the page failed now, of an earlier one. */
const LINKING_STATES: readonly LedgerState[] = ['indexed', 'unchanged', 'skipped', 'failed']
/** Stands for the depth of what is known from lists alone: a link to it is news. */
const LISTED_DEPTH = Infinity
/** How old what others have done may be when it is told. */
const HELP_AGE_MS = 1000
/** Visits of others after which it is counted anew what all have come to, and how many times more there are each time after that. */
const FIRST_RECOUNT = 10
const RECOUNT_FACTOR = 4

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
export class ActiveCrawl implements RunCounts {
  readonly run: CrawlRun
  readonly ports: CrawlPorts
  readonly pacer: Pacer
  readonly robots: RobotsRules
  /** Fetches files that are not pages, as robots.txt allows. */
  readonly fetchResource: FetchResource
  readonly variants: MarkdownVariants = new MarkdownVariants()
  readonly events: EventQueue<CrawlEvent> = new EventQueue()
  readonly startedAt: number
  readonly signal: AbortSignal
  /** Addresses being visited, that is waited for, fetched or read, and since when. */
  readonly visiting: Map<string, number> = new Map()
  /** Keys of visits that were told to have begun and have not come to an end. */
  readonly #begun = new Set<string>()
  /** Requests under way, by their address, and when each began. */
  readonly #fetching = new Map<string, number>()
  /** Visits whose answers are large. As they are read one after the other, more of them would only wait in memory. */
  readonly largeVisits: Room<Visit> = new Room(3)
  /** What a planner makes of it, where there is one. */
  readonly planning: Planning | undefined
  readonly milestones: ProgressMilestones
  gate: Gate
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
  /** Whether lists are being read: until then, what pages link to has to wait. */
  isReadingLists = false
  /** Why it cannot even begin. */
  refusal: Reason | null = null
  /** The same in words. */
  refusalDetail: string | null = null
  /** Set when the cap left something out. */
  cappedAt: number | null = null
  /** Set when the cap bit because its requests for pages were used up. */
  spent: CrawlSummary['spent']
  /** Pages of earlier runs that are kept as they are because the cap was reached before their turn. */
  keptByCap = 0
  /** Whether it is known which pages llms-full.txt holds now. */
  isFullKnown = false
  /** Why nothing may be concluded from what was not found, in words; null while everything could be looked at. */
  incomplete: string | null = null
  /** Whether it was begun by another process, which does all but visits. */
  readonly isJoined: boolean
  /** Whether the start has answered: then it is known where the site is. */
  #isAnswered: boolean
  /** What others were told who may take part. */
  #shared: string | undefined
  /** Requests that were told to whoever adds them up. */
  #toldRequests = 0
  /** What others have done, and when that was asked. */
  #help: { readonly done: Help; readonly at: number } = { done: NO_HELP, at: Number.NEGATIVE_INFINITY }
  /** Visits of others at which milestones are counted anew. */
  #recountAt = FIRST_RECOUNT
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
  /** Keys that only the plan has named so far. */
  readonly #guesses = new Set<string>()
  /** Keys of guesses that this run has tried in vain. */
  readonly #missed = new Set<string>()
  /** Hosts of the site: the one that was given, and those it turned out to be at. */
  readonly #hosts = new Set<string>()
  /** Whether the crawl visits pages that it did not find; those that the scope refuses are removed. */
  asksUnlinked = false
  readonly #traps = new ContentTraps(this.#hosts)
  readonly #spellings = new Spellings()
  /** Keys of pages that llms-full.txt holds, by the same without a slash at the end. */
  readonly #covered = new Map<string, string>()
  readonly #lists = new ListTrials()
  /** The last sample of each list. */
  readonly #samples = new Map<string, readonly Find[]>()
  /** Finds so far. */
  readonly #counts = { listed: 0, linked: 0 }

  constructor(run: CrawlRun, ports: CrawlPorts, signal: AbortSignal, shared?: SharedCrawl) {
    this.run = run
    this.isJoined = shared !== undefined
    this.isFullKnown = shared?.isFullKnown === true
    this.ports = ports
    this.signal = signal
    this.startedAt = ports.clock.now()
    this.siteUrl = run.siteUrl
    this.#keptSite = run.siteUrl
    this.#startOrigin = new URL(run.startUrl).origin
    for (const url of [run.startUrl, run.siteUrl]) this.#hosts.add(new URL(url).host)
    this.gate = this.#openGate(run.siteUrl)
    this.#isAnswered = !this.#readsLists
    this.#startKeys.set(this.gate.keyOf(run.startUrl) ?? run.startUrl, true)
    const { ledger, clock, random } = ports
    const tell = (event: CrawlEvent) => this.events.push(event)
    const { planner } = ports
    const offer = (urls: readonly string[]) => this.#offerSeeds(urls)
    const hasten = (urls: readonly string[]) => this.#hasten(urls)
    const { startUrl } = run
    this.planning = planner === undefined ? undefined : new Planning({ planner, startUrl, offer, hasten, tell })
    this.milestones = new ProgressMilestones(run.startUrl)
    const probe = (url: string, leave: Leave) => this.#probe(url, leave)
    const pacer = new Pacer({ ledger, clock, random, limits: run.limits, probe, signal, tell })
    this.pacer = pacer
    const fetchBare = createResourceFetcher({ fetcher: this, pacer })
    const { startedAt: since } = this
    // Every run reads robots.txt anew, so that a new rule holds from the next run on.
    this.robots = new RobotsRules({ fetchResource: fetchBare, ledger, clock, setDelay: pacer.setDelay, since })
    const judgeRobots = (url: string, signal?: AbortSignal) => this.robots.judge(url, signal)
    const fetchResource = createResourceFetcher({ fetcher: this, pacer, judgeRobots })
    this.fetchResource = async (url, options) => {
      await untilResumed(ports.control, signal)
      return fetchResource(url, options)
    }
  }

  /** Fetches, counted; what comes of it sets the pace of the host. */
  async fetch(
    request: FetchRequest,
    leave: Leave,
    visit?: Visit,
    fetcher: Fetcher = this.ports.fetcher,
  ): Promise<FetchOutcome> {
    const { origin } = new URL(request.url)
    const isOfPage = visit !== undefined
    this.requests++
    if (isOfPage) this.pageRequests++
    let askedAt = this.ports.clock.now()
    const headers = { ...this.#headersFor(origin), ...request.headers }
    const ofVisit =
      visit === undefined
        ? {}
        : { admitLarge: () => this.largeVisits.enter(visit), isBrief: await this.wasSilent(visit) }
    const signal = request.signal ?? this.signal
    this.#fetching.set(request.url, askedAt)
    const send = (isInTime: () => boolean): Promise<FetchOutcome> => {
      askedAt = this.ports.clock.now()
      return fetcher.fetch({ ...request, headers, ...ofVisit, isInTime, signal })
    }
    const outcome = await this.pacer.send(leave, send, signal).finally(() => this.#fetching.delete(request.url))
    if (outcome.type === 'fetched') this.bytes += outcome.snapshot.body.length
    // What the network guard refused was never sent.
    if (isUnsent(outcome) || (outcome.type === 'failed' && outcome.reason === 'address-refused')) {
      this.requests--
      if (isOfPage) this.pageRequests--
    }
    if (!isUnsent(outcome)) await this.pacer.note(request.url, outcome, askedAt, isOfPage)
    return outcome
  }

  /** Whether the server did not begin to answer the last time that an address was requested. */
  async wasSilent({ attempts, sourceId, key }: Visit): Promise<boolean> {
    const row = attempts > 0 ? await this.ports.ledger.findRow(sourceId, key) : undefined
    return row?.reason === 'timeout' && row.status === null
  }

  /** Has the scripts of a page run that was fetched. */
  render(renderer: Renderer, snapshot: Snapshot): Promise<RenderOutcome> {
    const { url } = snapshot
    this.#fetching.set(url, this.ports.clock.now())
    const headers = this.#headersFor(new URL(url).origin)
    return renderer.render(snapshot, { headers, signal: this.signal }).finally(() => this.#fetching.delete(url))
  }

  /** Reads a page. One that brings the reader down must not bring the crawl down: a text says what is wrong with it. */
  async read(snapshot: Snapshot, key: string, options?: ReadOptions): Promise<PageReading | string> {
    try {
      return await this.ports.readPage(snapshot, key, options)
    } catch (error) {
      if (this.signal.aborted) throw error
      return error instanceof PageDefect ? `the page ${error.message}` : 'could not be read'
    }
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
      const { url, depth, discovery, refusal } = find
      if (results[i] === 'overflow') {
        this.#noteOverflow(find)
        return
      }
      if (refusal === null) this.#spellings.offer(find.key)
      const isNews = refusal === null && !isListed(discovery)
      this.#offered.set(find.key, isNews ? depth : (this.#offered.get(find.key) ?? LISTED_DEPTH))
      if (results[i] === 'named') this.#countNamed(find.key)
      if (results[i] === 'admitted') this.events.push({ type: 'enqueued', url, depth, discovery })
      if (results[i] !== 'refused' || refusal === null) return
      if (refusal.reason === 'new-in-refresh') this.newInRefresh++
      this.#noteSame(refusal.reason, refusal.pattern)
      this.events.push({ type: 'dropped', url, depth, ...refusal })
    })
  }

  /** Offers addresses that came from no page. */
  async offer(urls: Iterable<string>, finding: Finding): Promise<number> {
    const { finds, aliases } = this.judge(urls, finding)
    if (finds.length === 0 && aliases.length === 0) return 0
    const results = await this.record(finds, aliases)
    await this.events.hasRoom()
    return results.filter((result) => result === 'admitted').length
  }

  /** Hands finds to the ledger, and says what it made of them. */
  async record(finds: readonly Find[], aliases: readonly Alias[] = []): Promise<readonly FindResult[]> {
    const { crawlId, sourceId, limits } = this.run
    const { ledger, clock } = this.ports
    const results = await ledger.offer(sourceId, crawlId, finds, clock.now(), aliases, limits.ledgerRows)
    this.note(finds, results)
    return results
  }

  /** Whether nobody but the plan has named an address. */
  isGuess({ key, discovery }: Pick<Visit, 'key' | 'discovery'>): boolean {
    return discovery === 'planner' && (this.#guesses.has(key) || !this.#offered.has(key))
  }

  /** Takes note of what an address held. A second reading says nothing new about its shape, and addresses of a list are no trap. */
  noteContent({ url, depth, discovery, isFinal, isConfirmation }: Visit, content: PageContent): void {
    const isNews = !isFinal && !isConfirmation && !isListed(discovery)
    if (this.run.scope.trapGuards && isNews) this.#traps.note(url, depth, content)
  }

  /** Judges an address by how it was found. A list is finite, so content traps do not apply to its addresses. */
  judgeFound(url: string, depth: number, discovery: Discovery, isNoTrap = false): Verdict {
    const verdict = this.gate.judge(url, depth, isNoTrap)
    const isSpared = isListed(discovery) && verdict.refusal?.reason === 'same-content'
    return isSpared ? { ...verdict, refusal: null } : verdict
  }

  /** Reads the lists of the site, once. Whoever settles the start waits for it, so that what they name is theirs first. */
  discovered(startKey?: string): Promise<void> {
    if (this.#discovery === undefined) {
      this.isReadingLists = true
      this.#discovery = readLists(this, startKey).finally(() => {
        this.isReadingLists = false
      })
    }
    return this.#discovery
  }

  /** Whether the cap on pages, or the requests that it allows, are used up. */
  get isCapped(): boolean {
    return this.pagesTaken >= (this.run.scope.maxPages ?? Infinity) || this.pageRequests >= this.#maxPageRequests
  }

  /** Most addresses that are taken from sitemaps: many more than a cap on pages lets be visited would only take time. */
  get maxListed(): number {
    return Math.min(this.run.limits.sitemapEntries, Math.max(this.#maxPageRequests, MOST_LISTED_CAPPED))
  }

  get #maxPageRequests(): number {
    return (this.run.scope.maxPages ?? Infinity) * REQUESTS_PER_PAGE + FURTHER_REQUESTS
  }

  /** Most pages for now: lists may take half of the cap before what pages link to is known. */
  get maxPagesNow(): number {
    const maxPages = this.run.scope.maxPages ?? Infinity
    return this.isReadingLists ? Math.ceil(maxPages / 2) : maxPages
  }

  /**
   * Depth up to which addresses are visited in any order, so that lists and links take turns. While lists are read, an address one link
   * away may still turn out to be listed.
   */
  get firstLevel(): number {
    return this.isReadingLists || this.isJoined ? 0 : 1
  }

  /** Depth of a redirect target. At least 1 except for the start: a listed redirect and a link then give the same depth, in any order. */
  depthBehind({ key, depth }: Pick<Visit, 'key' | 'depth'>): number {
    return this.#startKeys.has(key) ? depth : Math.max(depth, Math.min(1, this.run.scope.maxDepth ?? 1))
  }

  /** Takes note of what became of an address that a list names. */
  async noteListed({ foundOn, discovery }: Visit, settled: Settled, status: number | null): Promise<void> {
    if (foundOn === null || !isListed(discovery)) return
    const answer = judgeListed({ ...settled, status })
    // While the list is being read, a sample would cover its beginning only.
    if (this.isReadingLists || answer === undefined) return
    const next = this.#lists.note(foundOn, answer === 'missing')
    if (next === 'sample') await this.#sampleList(foundOn)
    if (next === 'set-aside') await this.#setAside(foundOn, discovery)
  }

  /** Has a sample of a list visited before everything else. */
  async #sampleList(list: string): Promise<void> {
    const { run, ports } = this
    const sample = new SpreadSample<Find>()
    for await (const rows of walkRows(ports.ledger, run.sourceId, { state: 'pending' })) {
      for (const { key, url, host, depth, foundOn, discovery } of rows) {
        if (foundOn === list && isListed(discovery))
          sample.add({ key, url, host, depth, foundOn, discovery, refusal: null, weight: -1 })
      }
    }
    this.#samples.set(list, sample.items)
    if (sample.items.length > 0) await this.record(sample.items)
  }

  /** Hosts of a sample that may have what the list names: one of its addresses was found there, or none was answered yet. */
  async #findSpared(list: string): Promise<string[]> {
    const answers = new Map<string, Set<'missing' | 'found' | undefined>>()
    for (const { key, host } of this.#samples.get(list) ?? []) {
      const row = await this.ports.ledger.findRow(this.run.sourceId, key)
      answers.set(host, (answers.get(host) ?? new Set()).add(row && judgeListed(row)))
    }
    return [...answers].filter(([, told]) => told.has('found') || !told.has('missing')).map(([host]) => host)
  }

  /** Leaves out what a stale list names, but for what pages link to as well, and for hosts that the sample says nothing of. */
  async #setAside(list: string, discovery: Discovery): Promise<void> {
    const { run, ports } = this
    const now = ports.clock.now()
    const listed = { list, exceptHosts: await this.#findSpared(list) }
    const count = await ports.ledger.skipPending(run.sourceId, 'stale-list', list, now, run.crawlId, listed)
    this.incomplete ??= `${list} was set aside: the addresses of a sample from all over it are gone`
    const detail = `${count} addresses set aside: those that were requested are gone`
    this.events.push({ type: 'discovery', discovery, url: list, found: 0, detail })
    if (count > 0 && run.followsLinks) await this.#offerLinksAgain()
  }

  /** Offers all links of this crawl again. They come from the ledger, because an interrupted run may have read some of the pages. */
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

  /** Reads the lists if no visit of the start came to it. Tells whether it did. */
  async discoverLate(): Promise<boolean> {
    if (this.#discovery !== undefined || !this.#readsLists) return false
    await this.discovered(this.#settledStart)
    await this.share()
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
      this.#isAnswered = true
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

  /** Takes note of a visit that begins. One that came too early for its host, and begins again, is no news. */
  begin({ key, url, depth }: Visit): void {
    this.visiting.set(url, this.ports.clock.now())
    if (this.#begun.has(key)) return
    this.#begun.add(key)
    this.events.push({ type: 'begun', url, depth })
  }

  /** Lets others take part once it is known where the site is, and tells them when more is. */
  async share(isAnswered = false): Promise<void> {
    this.#isAnswered ||= isAnswered
    const shared: SharedCrawl = { siteUrl: this.siteUrl, isFullKnown: this.isFullKnown }
    const text = JSON.stringify(shared)
    if (!this.#isAnswered || this.#shared === text) return
    this.#shared = text
    // Nothing depends on it: it is told again after the next visit.
    await this.ports.share?.(shared).catch(() => {
      this.#shared = undefined
    })
  }

  /** What others have done, as it was told a moment ago at most. */
  async readHelp(isNow = false): Promise<Help> {
    const now = this.ports.clock.now()
    if (this.ports.readHelp !== undefined && (isNow || now - this.#help.at >= HELP_AGE_MS)) {
      this.#help = { done: await this.ports.readHelp(), at: now }
    }
    return this.#help.done
  }

  /** Requests that nobody was told of yet. */
  takeRequests(): number {
    const untold = this.requests - this.#toldRequests
    this.#toldRequests = this.requests
    return untold
  }

  /** Counts what became of a visit and tells it. Answers whether it brought a page. */
  count(settlement: Settlement, settled: Settled, bytes: number): boolean {
    this.#begun.delete(settlement.visit.key)
    const { visit, status, detail, record, finds = [], aliases = [] } = settlement
    const { state, reason } = settled
    if (settled.type === 'lost') {
      // Nothing of it was written: whoever makes the visit again has to teach it again.
      for (const { url, aliasUrl } of aliases) {
        this.#stripped.delete(url)
        this.#stripped.delete(aliasUrl)
      }
      return false
    }
    this.note(finds, settled.finds)
    if (state === 'pending') return false
    const contentHash = record?.page.contentHash ?? (status === 304 ? visit.contentHash : null)
    if (contentHash !== null) this.#spellings.note(visit.key, contentHash)
    this.#noteSame(reason, settlement.pattern)
    countVisit(this, settlement, settled)
    if (reason === 'guess-missed') this.#missed.add(visit.key)
    const chunks = state === 'indexed' ? (record?.chunks.length ?? 0) : 0
    const told = { state, reason, status: status ?? null, detail: detail ?? null, bytes, chunks }
    const isStored = state === 'unchanged' && record === undefined
    const stored = isStored ? { storedMs: Math.max(0, settlement.now - (visit.checkedAt ?? settlement.now)) } : {}
    this.events.push({ type: 'settled', url: visit.url, ...told, ...stored })
    return state === 'indexed' || state === 'unchanged'
  }

  /** Tells the milestones that a visit has led to. Kept first: one that is told twice is worse than one that is missed. */
  async reach(visit: Parameters<ProgressMilestones['note']>[0]): Promise<void> {
    // Whoever sees a part of a crawl cannot tell.
    if (this.isJoined) return
    await this.#tellReached(this.milestones.note(visit))
    const { visited } = await this.readHelp()
    if (visited >= this.#recountAt) await this.#recount(visited)
  }

  /** Tells the milestones that all processes have come to together. */
  async reachTogether(): Promise<void> {
    await this.#recount((await this.readHelp(true)).visited)
  }

  /** Counts milestones by what is in the ledger: what others visit is not told to this process. */
  async #recount(visited: number): Promise<void> {
    const { milestones } = this.ports
    if (visited === 0 || milestones === undefined || !this.milestones.isOpen) return
    // Set before anything is waited for: of visits that end at once, one counts.
    this.#recountAt = Math.max(this.#recountAt, visited) * RECOUNT_FACTOR
    await this.#tellReached(this.milestones.take(await milestones.read()))
  }

  async #tellReached(reached: readonly Extract<CrawlEvent, { type: 'milestone' }>[]): Promise<void> {
    for (const event of reached) {
      await this.ports.milestones?.write(event.kind)
      this.events.push(event)
    }
  }

  /** Why an address is not fetched that differs only in a slash at the end from one that llms-full.txt holds; null for all others. */
  findCovering(key: string): Refusal | null {
    const target = this.#covered.get(dropSlash(key))
    if (target === undefined || target === key) return null
    return { reason: 'covered', pattern: 'llms-full.txt', target }
  }

  /** Counts a page that came without a visit and tells it. */
  countAdopted(url: string, settled: Settled, chunks: number): void {
    const { state, reason } = settled
    countState(this, settled)
    const key = this.gate.keyOf(url) ?? url
    if (reason !== 'overflow') this.#covered.set(dropSlash(key), key)
    if (state === 'indexed' || state === 'unchanged') this.pagesTaken++
    const detail = 'from llms-full.txt'
    this.events.push({ type: 'settled', url, state, reason, status: null, detail, bytes: 0, chunks })
  }

  /** What this process has done. */
  get done(): Help {
    const { visited, indexed, unchanged, skipped, failed, provenGone } = this
    const { newInRefresh, overflow, bytes, requests, pacer } = this
    const parked = [...pacer.parked].map(([host, detail]) => ({ host, detail }))
    const counts = { visited, indexed, unchanged, skipped, failed, provenGone }
    return { ...counts, newInRefresh, overflow, bytes, requests, parked }
  }

  /** Where the crawl stands. */
  async progress(): Promise<CrawlProgress> {
    const now = this.ports.clock.now()
    // Counted often, and told to everybody: when something may be done next is another question, which takes longer.
    const { states } = await this.ports.ledger.countLedger(this.run.sourceId)
    const own = { visited: this.visited, bytes: this.bytes }
    const { visited, indexed, unchanged, skipped, failed, bytes } = addHelp(this.done, await this.readHelp())
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
   * Keeps where the site turned out to be, if it is to stay there. Not before the end, so that a crawl that is resumed finds it
   * out again; and not in a refresh, because the next crawl that looks for pages has to know that they may be elsewhere.
   */
  async keepSite(): Promise<void> {
    if (this.#readsLists && this.#keptSite !== this.run.siteUrl) await this.ports.moveSite(this.#keptSite)
  }

  /** Fetches an address to see whether its host answers at all; the answer itself is not used. */
  async #probe(url: string, leave: Leave): Promise<FetchOutcome> {
    const { signal } = this
    const headers = this.#headersFor(new URL(url).origin)
    const request = { url, headers, isBrief: true, signal }
    const send = (isInTime: () => boolean) => this.ports.fetcher.fetch({ ...request, isInTime })
    const outcome = await this.pacer.send(leave, send, signal, false)
    if (!isUnsent(outcome)) this.requests++
    return outcome
  }

  /** Puts into the frontier what the plan wants to be visited. Answers which of it waits there now. */
  async #offerSeeds(urls: readonly string[]): Promise<{ waiting: readonly string[]; admitted: number }> {
    const depth = Math.max(1, this.run.scope.maxDepth ?? 1)
    // That something was supposed which is none of the source's need not be written down.
    const allowed = urls.filter((url) => this.gate.judge(url, depth).refusal === null)
    const admitted = await this.offer(allowed, { depth, foundOn: null, discovery: 'planner' })
    const waiting: string[] = []
    for (const url of allowed) if ((await this.#findWaiting(url)) !== undefined) waiting.push(url)
    return { waiting, admitted }
  }

  /** Has what waits in the frontier visited sooner; what was left out, for whatever reason, stays out. */
  async #hasten(urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      const row = await this.#findWaiting(url)
      if (row !== undefined) await this.offer([row.url], { depth: row.depth, foundOn: null, discovery: 'planner' })
    }
  }

  async #findWaiting(url: string): Promise<LedgerRow | undefined> {
    const row = await this.ports.ledger.findRow(this.run.sourceId, this.gate.keyOf(url) ?? url)
    const isWaiting = row?.crawlId === this.run.crawlId && (row.state === 'pending' || row.state === 'leased')
    return isWaiting ? row : undefined
  }

  #moveSite(siteUrl: string, isKept: boolean): void {
    this.siteUrl = siteUrl
    this.gate = this.#openGate(siteUrl)
    this.#hosts.add(new URL(siteUrl).host)
    if (isKept) this.#keptSite = siteUrl
    // What was at the old place may still be there.
    this.incomplete ??= `the site was looked for at ${this.run.siteUrl} and is at ${siteUrl}`
  }

  /** What was given for one origin is nobody else's business, even where the site has moved. */
  #headersFor(origin: string): CrawlRun['headers'] {
    return origin === this.#startOrigin ? this.run.headers : {}
  }

  #openGate(siteUrl: string): Gate {
    const { startUrl, scope } = this.run
    return createGate({
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

  #judgeOne(text: string, finding: Finding, finds: Find[], aliases: Alias[]): void {
    const { kind, discover } = this.run
    const { depth, foundOn, discovery } = finding
    const isGiven = discovery === 'manual'
    const { url, key, host, refusal: refused, stripped } = this.judgeFound(text, depth, discovery, isGiven)
    if (stripped !== null) {
      this.#noteStripped(url, stripped, refused, depth, aliases)
      this.#judgeOne(stripped, { ...finding, discovery: 'query-strip' }, finds, aliases)
      return
    }
    const known = this.#offered.get(key)
    const isNewOnly = kind === 'refresh' || kind === 'retry'
    const aside: Refusal | null =
      kind === 'refresh' && !discover ? { reason: 'new-in-refresh', pattern: null, target: null } : null
    const barred = refused ?? finding.refusal ?? aside ?? (isGiven ? null : this.findCovering(key))
    // The ledger has to know that the site itself names what was only supposed.
    const isNamed = discovery !== 'planner' && this.#guesses.delete(key)
    if (discovery === 'planner' && known === undefined) this.#guesses.add(key)
    const find = { key, url, host, depth, foundOn, discovery, ...(isNewOnly ? { isNewOnly } : {}) }
    const isKnown = known !== undefined && (barred === null ? known <= depth : barred.reason !== 'covered')
    // What waits already may be wanted earlier.
    if (isKnown && !isNamed && discovery !== 'planner') return
    if (barred !== null) {
      finds.push({ ...find, refusal: barred })
      return
    }
    if (this.planning === undefined) {
      finds.push({ ...find, refusal: null, weight: this.#weighTurn(discovery) })
      return
    }
    const refusal = this.planning.refuse(find)
    if (refusal !== null && known !== undefined) return
    finds.push({ ...find, refusal, weight: refusal === null ? this.planning.weigh(find) : 0 })
  }

  /**
   * Lets addresses of lists and links of pages take turns: a few of each are visited first, then as many again of each, which
   * doubles both with every turn. A list of any length delays links no longer than that, and links delay lists no longer.
   */
  #weighTurn(discovery: Discovery): number {
    if (discovery !== 'link' && !isListed(discovery)) return 0
    const count = discovery === 'link' ? this.#counts.linked++ : this.#counts.listed++
    return count < FIRST_TURN ? 0 : Math.floor(Math.log2(count / FIRST_TURN)) + 1
  }

  /**
   * An address whose query says nothing, or that carries the id of a session, is known by the one without: that is offered instead,
   * and the alias kept. Of sessions one alias is kept for each address, as there is no end of them.
   */
  #noteStripped(url: string, stripped: string, refusal: Refusal | null, depth: number, aliases: Alias[]): void {
    const isSession = refusal?.reason === 'session-id'
    const told = isSession ? stripped : url
    if (this.#stripped.has(told)) return
    if (this.#stripped.size >= MAX_REMEMBERED) this.#stripped.clear()
    this.#stripped.add(told)
    const reason = isSession ? 'session-id' : 'query-skip'
    const classification = isSession ? 'session-id' : 'superfluous-query'
    aliases.push({ url, aliasUrl: stripped, classification, reason })
    const pattern = isSession ? refusal.pattern : null
    this.events.push({ type: 'dropped', url, depth, reason, pattern, target: this.gate.keyOf(stripped) ?? null })
  }

  /** What was left out for being the same may have been something else. */
  #noteSame(reason: Reason | null, pattern: string | null | undefined): void {
    if (reason === 'same-content') this.incomplete ??= `addresses like ${pattern} were left out as repetitions`
  }

  /** A guess that was tried in vain fails after all where the site names it. What an earlier run tried is not of this one's count. */
  #countNamed(key: string): void {
    if (!this.#missed.delete(key)) return
    this.skipped--
    this.failed++
  }

  #noteOverflow({ key, url, depth }: Find): void {
    // Whoever finds it again finds no more room than now.
    this.#offered.set(key, 0)
    this.overflow++
    const pattern = String(this.run.limits.ledgerRows)
    this.incomplete ??= `more addresses were found than the ${pattern} a source may have`
    this.events.push({ type: 'dropped', url, depth, reason: 'overflow', pattern, target: null })
  }
}

/** Whether an address of a list is there. Redirects and pages that are not indexed count as found; failures may leave it open. */
function judgeListed({
  state,
  reason,
  status,
}: Pick<LedgerRow, 'state' | 'reason' | 'status'>): 'missing' | 'found' | undefined {
  if (state === 'failed') return isAbsent(reason) ? 'missing' : undefined
  // The status of a row that was refused without a request is of an earlier run.
  const isAnswered = state === 'skipped' && status !== null && !isGateReason(reason)
  return state === 'indexed' || state === 'unchanged' || isAnswered ? 'found' : undefined
}
