import { type Discovery, isRead, type Refusal } from '../crawl/ledger.ts'
import { type CrawlPlanner, NO_STEP, type PlannedFind, type PlannedVisit, type PlanStep } from '../crawl/planner.ts'
import { parseAddress } from './address.ts'
import { FurtherPages } from './further-pages.ts'
import { HubLimits } from './hub-limits.ts'
import type { HubVerdict } from './plan-memory.ts'
import { PlanNotes } from './plan-notes.ts'
import { PlanTale } from './plan-tale.ts'
import type { PlannerOptions } from './planner-options.ts'
import type { PlannerSetup, VisitedRow } from './planner-setup.ts'
import { Seeding } from './seeding.ts'
import { SiteBook } from './site-book.ts'
import { type FoundHub, showSlot } from './slot.ts'
import { VerdictBook } from './verdict-book.ts'
import { NAVIGATION, weighAddress } from './weights.ts'

/** Creates the planner of one crawl: it learns how the site writes its addresses, guesses hubs and verifies them. */
export function createPlanner(setup: PlannerSetup): CrawlPlanner {
  return new SitePlanner(setup)
}

/** How long a missing address is not tried again. */
const FORGET_MS = 30 * 86_400_000
/** Number of addresses of earlier crawls that are sampled. */
const SAMPLE = 20_000
const MOST_REMEMBERED = 50_000

class SitePlanner implements CrawlPlanner {
  readonly #setup: PlannerSetup
  readonly #options: PlannerOptions
  readonly #site: SiteBook
  readonly #tale: PlanTale
  readonly #notes: PlanNotes
  readonly #verdicts: VerdictBook
  readonly #seeding: Seeding
  readonly #limits: HubLimits
  readonly #further: FurtherPages
  #startUrl = ''
  /** Keys of addresses that the start redirected to. */
  readonly #startKeys = new Set<string>()
  /** URL of the home page, as recorded for links found on it. */
  #home: string | null = null
  /** Whether this host is not among the planned hosts. */
  #isOff = false
  /** Whether the start page and the lists have been read. */
  #isPlanned = false
  /** Whether no further wave can follow. */
  #isPrepared = false
  /** Whether the frontier may hold navigation pages of an interrupted run, which this planner does not know. */
  #isBlind = false
  /** Keys of navigation pages in the frontier. */
  readonly #ahead = new Set<string>()
  /** Keys of visited addresses. */
  readonly #visited = new Set<string>()

  constructor(setup: PlannerSetup) {
    const { places, clock, options = {}, isHistory = false } = setup
    this.#setup = setup
    this.#options = options
    const site = new SiteBook(places)
    const tale = new PlanTale(options.verbosity)
    const notes = new PlanNotes(site, tale)
    const verdicts = new VerdictBook({ site, notes, tale, now: () => clock.now() })
    const wasConfirmed = (url: string) => verdicts.wasConfirmed(url)
    this.#site = site
    this.#tale = tale
    this.#notes = notes
    this.#verdicts = verdicts
    this.#seeding = new Seeding({ site, tale, maxSeeds: options.maxSeeds, wasConfirmed })
    this.#limits = new HubLimits(site, options)
    this.#further = new FurtherPages(site, isHistory)
  }

  async begin({ startUrl, siteUrl, isResumed }: Parameters<CrawlPlanner['begin']>[0]): Promise<PlanStep> {
    const { memory, crawlId, sourceId } = this.#setup
    this.#startUrl = startUrl
    this.#home = siteUrl
    this.#site.begin(siteUrl)
    this.#notes.begin(startUrl)
    const { host } = this.#site
    const { targetHosts = [] } = this.#options
    if (memory !== undefined && isResumed) this.#tale.resume(await memory.readReached(crawlId))
    if (targetHosts.length > 0 && !targetHosts.some((end) => host.split(':')[0]?.endsWith(end))) {
      this.#isOff = true
      const message = `${host} is none of the hosts that are planned for: it is crawled without a plan`
      if (!isResumed) this.#tale.problem('planner-skipped-host', host, message, { targetHosts })
      return this.#step([])
    }
    if (memory === undefined) return NO_STEP
    for (const verdict of await memory.readVerdicts(host)) this.#recall(verdict, isResumed)
    for (const { url, isPage } of await memory.sampleAddresses(sourceId, SAMPLE)) {
      const address = isPage ? parseAddress(url) : undefined
      if (address !== undefined) this.#site.note(address, 'earlier')
    }
    if (isResumed) await this.#takeUp()
    if (this.#verdicts.size > 0) this.#tale.say(1, `${this.#verdicts.size} hubs are known from before`)
    this.#isBlind = isResumed
    return this.#step(this.#tale.hasReached('patterns-learned') ? this.#plan() : [])
  }

  weigh({ url, key, discovery, foundOn }: PlannedFind): number {
    const address = this.#isOff ? undefined : parseAddress(url)
    if (address === undefined) return 0
    // Addresses from lists were noted when the list was read.
    const found = isList(discovery) ? this.#site.slots.find(address) : this.#site.note(address, 'listed')
    const weight = weighAddress({
      address,
      shape: this.#site.shapes.plan(address),
      place: this.#site.placeAmong(found),
      isSectionFront: this.#site.sections.isFront(address),
      isHistory: this.#setup.isHistory === true,
      isOnHome: foundOn === this.#home,
    })
    const isAhead = weight <= NAVIGATION && this.#ahead.size < MOST_REMEMBERED
    // A visited address can be found again by a shorter path, or be a guess that the site links to later.
    if (isAhead && !this.#visited.has(key)) this.#ahead.add(key)
    return weight
  }

  refuse(find: PlannedFind): Refusal | null {
    return this.#isOff ? null : this.#limits.refuse(find, this.#setup.clock.now())
  }

  noteListed(urls: readonly string[]): void {
    if (this.#isOff) return
    for (const url of urls) {
      const address = parseAddress(url)
      if (address !== undefined) this.#site.note(address, 'listed')
    }
  }

  async noteSeeded(waiting: readonly string[], left: readonly string[]): Promise<PlanStep['events']> {
    for (const url of waiting) this.#seeding.await(url)
    for (const url of left) {
      this.#seeding.answer(url)
      this.#verdicts.leave(url)
    }
    if (waiting.length > 0) this.#notes.tellSeeded(waiting.length, this.#seeding.kinds)
    return (await this.#step([])).events
  }

  async noteVisit(visit: PlannedVisit, keyOf: (url: string) => string | undefined): Promise<PlanStep> {
    const { url, key, links } = visit
    const address = this.#isOff ? undefined : parseAddress(url)
    if (this.#visited.size >= MOST_REMEMBERED) this.#visited.clear()
    this.#visited.add(key)
    this.#ahead.delete(key)
    this.#seeding.answer(url)
    if (address === undefined) return NO_STEP
    const isHome = !this.#isPlanned && this.#isStart(visit, keyOf) && isRead(visit)
    if (isHome) {
      this.#site.arrive(address, links)
      this.#verdicts.noteHome(visit)
    }
    const finding = this.#verdicts.note(address, visit)
    this.#site.shapes.read(address, finding.type === 'missing' ? null : visit.kind)
    const seeds = isHome ? this.#plan() : this.#isPlanned ? this.#goOn() : []
    const further = this.#further.follow(visit)
    for (const link of further) this.#expect(keyOf(link))
    return this.#step(seeds, further)
  }

  async idle(): Promise<PlanStep> {
    if (this.#isOff) return NO_STEP
    this.#isBlind = false
    this.#ahead.clear()
    this.#seeding.giveUp()
    return this.#step(this.#isPlanned ? this.#goOn() : this.#plan())
  }

  async end(isComplete: boolean): Promise<PlanStep> {
    if (this.#isOff) return NO_STEP
    if (isComplete && this.#isPlanned) {
      this.#notes.reportSupposed()
      this.#notes.reportUnknown()
    }
    if (this.#isPlanned) await this.#keepPatterns()
    return this.#step([])
  }

  /** Whether a visit is the start, or the target of its redirect. */
  #isStart({ key, target }: PlannedVisit, keyOf: (url: string) => string | undefined): boolean {
    const isStart = this.#startKeys.has(key) || key === keyOf(this.#startUrl)
    if (isStart && target !== null) this.#startKeys.add(target)
    return isStart
  }

  /** Remembers that an address is in the frontier. */
  #expect(key: string | undefined): void {
    if (key !== undefined && !this.#visited.has(key)) this.#ahead.add(key)
  }

  #recall(verdict: HubVerdict, isResumed: boolean): void {
    const { clock, startedAt } = this.#setup
    const { url, state, origin, checkedAt } = verdict
    const isOfThisCrawl = isResumed && checkedAt >= startedAt
    if (state !== 'confirmed' && clock.now() - checkedAt > FORGET_MS) return
    if (isOfThisCrawl && origin === 'guessed') this.#seeding.resume(url)
    this.#verdicts.recall(verdict, isOfThisCrawl)
  }

  /** Judges the hubs that an interrupted run visited but whose verdicts it did not store. */
  async #takeUp(): Promise<void> {
    const open: { readonly one: FoundHub; readonly row: VisitedRow }[] = []
    for await (const row of this.#setup.listVisited?.() ?? []) {
      const address = parseAddress(row.url)
      if (address === undefined || address.host !== this.#site.host) continue
      const isGuess = row.discovery === 'planner'
      if (isGuess) this.#seeding.resume(row.url)
      for (const one of this.#site.slots.note(address, isGuess ? 'guessed' : 'listed')) {
        if (this.#verdicts.needsVerdict(one, !isGuess)) open.push({ one, row })
      }
    }
    this.#refresh()
    for (const { one, row } of open) {
      one.hub.isSeeded ||= row.discovery === 'planner'
      this.#verdicts.judge(one, row, await row.readLinks())
    }
  }

  /** Reports what the start page and the lists showed, and returns the first seeds. */
  #plan(): string[] {
    this.#isPlanned = true
    this.#refresh()
    this.#notes.tellLearned()
    return this.#goOn()
  }

  /** Returns the next seeds after new results. */
  #goOn(): string[] {
    this.#refresh()
    const hasSections = !this.#tale.hasReached('hubs-seeded')
    const { origin } = new URL(this.#startUrl)
    const seeds = this.#isPrepared ? [] : this.#seeding.list(origin, hasSections, this.#verdicts.takeProbes())
    if (seeds.length === 0) this.#checkPrepared()
    if (this.#isPrepared) this.#notes.checkUnderstood()
    return seeds
  }

  #refresh(): void {
    for (const slot of this.#site.refresh()) {
      this.#tale.say(2, `${showSlot(slot)} has ${slot.places.size} places in it`)
      this.#verdicts.keepDrafts(slot)
    }
  }

  /** Reports when no further seeds follow, and when every seed has a result. */
  #checkPrepared(): void {
    const { count, isAnswered } = this.#seeding
    if (!this.#isPrepared && !this.#isBlind && this.#ahead.size === 0 && !this.#seeding.hasWaveAhead()) {
      this.#isPrepared = true
      this.#notes.tellPrepared(count)
    }
    if (this.#isPrepared && count > 0 && isAnswered) this.#notes.tellPrimed(count)
  }

  async #keepPatterns(): Promise<void> {
    const { memory, clock } = this.#setup
    const patterns = this.#site.listPatterns()
    if (patterns.length > 0) await memory?.writePatterns(this.#site.host, patterns, clock.now())
  }

  /**
   * Returns the next step. Verdicts and milestones are stored before they are reported, so that an interrupted crawl knows them and reports
   * nothing twice.
   */
  async #step(seeds: readonly string[], further: readonly string[] = []): Promise<PlanStep> {
    const { memory, crawlId } = this.#setup
    const verdicts = this.#verdicts.take()
    if (verdicts.length > 0) await memory?.writeVerdicts(this.#site.host, verdicts)
    const { events, reached } = this.#tale.take()
    if (reached.length > 0) await memory?.writeReached(crawlId, reached)
    return { seeds, further, events }
  }
}

function isList(discovery: Discovery): boolean {
  return discovery === 'sitemap' || discovery === 'llms-txt'
}
