import { isRead, type Refusal } from '../../crawl/ledger.ts'
import type { Discovery } from '../../crawl/ledger-reasons.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import {
  type CandidateAddress,
  type CompletedVisit,
  type CrawlPlanner,
  EMPTY_STEP,
  type PlanStep,
} from '../../crawl/planning/planner.ts'
import type { VisitedRow } from '../../library/ports/crawl-plans.ts'
import type { HubVerdict } from '../../library/ports/findings.ts'
import { parseAddress } from './address.ts'
import { HubLimits } from './hub-limits.ts'
import { HubVerifier } from './hub-verifier.ts'
import { PaginationFollower } from './pagination-follower.ts'
import { PlanLog } from './plan-log.ts'
import { PlanReporter } from './plan-reporter.ts'
import type { PlannerSetup } from './planner-setup.ts'
import { Seeding } from './seeding.ts'
import { SiteModel } from './site-model.ts'
import { type FoundHub, writeSlotPattern } from './slot.ts'
import { NAVIGATION_WEIGHT, weighAddress } from './weights.ts'

/** Creates the planner of one crawl: it learns how the site writes its addresses, guesses hubs and verifies them. */
export function createPlanner(setup: PlannerSetup): CrawlPlanner {
  return new SitePlanner(setup)
}

/** How long an address that was missing, or was not a hub, is not tried again. */
const NEGATIVE_VERDICT_TTL_MS = 30 * 86_400_000
/** Number of addresses of earlier crawls that are sampled. */
const SAMPLE_SIZE = 20_000
const MAX_REMEMBERED_KEYS = 50_000

class SitePlanner implements CrawlPlanner {
  readonly #setup: PlannerSetup
  readonly #options: PlannerOptions
  readonly #site: SiteModel
  readonly #log: PlanLog
  readonly #reporter: PlanReporter
  readonly #verifier: HubVerifier
  readonly #seeding: Seeding
  readonly #limits: HubLimits
  readonly #pagination: PaginationFollower
  #startUrl = ''
  /** Keys of addresses that the start URL redirected to. */
  readonly #startKeys = new Set<string>()
  /** URL of the home page, as recorded for links found on it. */
  #home: string | null = null
  /** Whether this host is not among the planned hosts. */
  #isDisabled = false
  /** Whether the start page and the lists have been read. */
  #isPlanned = false
  /** Whether no further wave of guesses can follow. */
  #isPrepared = false
  /** Whether the frontier may hold navigation pages of an interrupted run, which this planner does not know. */
  #hasUnknownFrontier = false
  /** Keys of navigation pages in the frontier. */
  readonly #pendingNavigation = new Set<string>()
  /** Keys of visited addresses. */
  readonly #visited = new Set<string>()

  constructor(setup: PlannerSetup) {
    const { places, clock, options = {}, isHistory = false } = setup
    this.#setup = setup
    this.#options = options
    const site = new SiteModel(places)
    const log = new PlanLog(options.verbosity)
    const reporter = new PlanReporter(site, log)
    const verifier = new HubVerifier({ site, reporter, log, now: () => clock.now() })
    const wasConfirmed = (url: string) => verifier.wasConfirmed(url)
    this.#site = site
    this.#log = log
    this.#reporter = reporter
    this.#verifier = verifier
    this.#seeding = new Seeding({ site, log, maxSeeds: options.maxSeeds, wasConfirmed })
    this.#limits = new HubLimits(site, options)
    this.#pagination = new PaginationFollower(site, isHistory)
  }

  async begin({ startUrl, siteUrl, isResumed }: Parameters<CrawlPlanner['begin']>[0]): Promise<PlanStep> {
    const { memory, crawlId, sourceId } = this.#setup
    this.#startUrl = startUrl
    this.#home = siteUrl
    this.#site.begin(siteUrl)
    this.#reporter.begin(startUrl)
    const { host } = this.#site
    const { targetHosts = [] } = this.#options
    if (memory !== undefined && isResumed) this.#log.resume(await memory.readMilestones(crawlId))
    if (targetHosts.length > 0 && !targetHosts.some((suffix) => host.split(':')[0]?.endsWith(suffix))) {
      this.#isDisabled = true
      const message = `${host} is not among the planned hosts, so it is crawled without a plan`
      if (!isResumed) this.#log.addProblem('planner-skipped-host', host, message, { targetHosts })
      return this.#step([])
    }
    if (memory === undefined) return EMPTY_STEP
    for (const verdict of await memory.readVerdicts(host)) this.#recall(verdict, isResumed)
    for (const { url, isPage } of await memory.sampleAddresses(sourceId, SAMPLE_SIZE)) {
      const address = isPage ? parseAddress(url) : undefined
      if (address !== undefined) this.#site.note(address, 'earlier')
    }
    if (isResumed) await this.#judgeInterruptedVisits()
    if (this.#verifier.size > 0) this.#log.addThought(1, `${this.#verifier.size} hubs are known from earlier crawls`)
    this.#hasUnknownFrontier = isResumed
    return this.#step(this.#log.hasReached('patterns-learned') ? this.#plan() : [])
  }

  weigh({ url, key, discovery, foundOn }: CandidateAddress): number {
    const address = this.#isDisabled ? undefined : parseAddress(url)
    if (address === undefined) return 0
    // Addresses from lists were noted when the list was read.
    const found = isList(discovery) ? this.#site.slots.find(address) : this.#site.note(address, 'listed')
    const weight = weighAddress({
      address,
      shape: this.#site.shapes.notePlanned(address),
      place: this.#site.hubLikelihoodAmong(found),
      isSectionFront: this.#site.sections.isFront(address),
      isHistory: this.#setup.isHistory === true,
      isOnHome: foundOn === this.#home,
    })
    const isNavigation = weight <= NAVIGATION_WEIGHT && this.#pendingNavigation.size < MAX_REMEMBERED_KEYS
    // A visited address can be found again by a shorter path, or be a guess that the site links to later.
    if (isNavigation && !this.#visited.has(key)) this.#pendingNavigation.add(key)
    return weight
  }

  refuse(candidate: CandidateAddress): Refusal | null {
    return this.#isDisabled ? null : this.#limits.refuse(candidate, this.#setup.clock.now())
  }

  noteListed(urls: readonly string[]): void {
    if (this.#isDisabled) return
    for (const url of urls) {
      const address = parseAddress(url)
      if (address !== undefined) this.#site.note(address, 'listed')
    }
  }

  async noteSeeded(waiting: readonly string[], skipped: readonly string[]): Promise<PlanStep['events']> {
    for (const url of waiting) this.#seeding.addPending(url)
    for (const url of skipped) {
      this.#seeding.markDone(url)
      this.#verifier.noteSkipped(url)
    }
    if (waiting.length > 0) this.#reporter.reportSeeded(waiting.length, this.#seeding.countsByKind)
    return (await this.#step([])).events
  }

  async noteVisit(visit: CompletedVisit, keyOf: (url: string) => string | undefined): Promise<PlanStep> {
    const { url, key, links } = visit
    const address = this.#isDisabled ? undefined : parseAddress(url)
    if (this.#visited.size >= MAX_REMEMBERED_KEYS) this.#visited.clear()
    this.#visited.add(key)
    this.#pendingNavigation.delete(key)
    this.#seeding.markDone(url)
    if (address === undefined) return EMPTY_STEP
    const isHome = !this.#isPlanned && this.#isStart(visit, keyOf) && isRead(visit)
    if (isHome) {
      this.#site.noteHomePage(address, links)
      this.#verifier.noteHome(visit)
    }
    const finding = this.#verifier.note(address, visit)
    this.#site.shapes.noteRead(address, finding.type === 'missing' ? null : visit.kind)
    const seeds = isHome ? this.#plan() : this.#isPlanned ? this.#nextSeeds() : []
    const prioritized = this.#pagination.follow(visit)
    for (const link of prioritized) this.#addPending(keyOf(link))
    return this.#step(seeds, prioritized)
  }

  async idle(): Promise<PlanStep> {
    if (this.#isDisabled) return EMPTY_STEP
    this.#hasUnknownFrontier = false
    this.#pendingNavigation.clear()
    this.#seeding.abandonPending()
    return this.#step(this.#isPlanned ? this.#nextSeeds() : this.#plan())
  }

  async end(isComplete: boolean): Promise<PlanStep> {
    if (this.#isDisabled) return EMPTY_STEP
    if (isComplete && this.#isPlanned) {
      this.#reporter.reportMissingHubs()
      this.#reporter.reportUnknownShapes()
    }
    if (this.#isPlanned) await this.#keepPatterns()
    return this.#step([])
  }

  /** Whether a visit is the start, or the target of its redirect. */
  #isStart({ key, target }: CompletedVisit, keyOf: (url: string) => string | undefined): boolean {
    const isStart = this.#startKeys.has(key) || key === keyOf(this.#startUrl)
    if (isStart && target !== null) this.#startKeys.add(target)
    return isStart
  }

  /** Remembers that an address is in the frontier. */
  #addPending(key: string | undefined): void {
    if (key !== undefined && !this.#visited.has(key)) this.#pendingNavigation.add(key)
  }

  #recall(verdict: HubVerdict, isResumed: boolean): void {
    const { clock, startedAt } = this.#setup
    const { url, state, origin, checkedAt } = verdict
    const isOfThisCrawl = isResumed && checkedAt >= startedAt
    if (state !== 'confirmed' && clock.now() - checkedAt > NEGATIVE_VERDICT_TTL_MS) return
    if (isOfThisCrawl && origin === 'guessed') this.#seeding.restore(url)
    this.#verifier.restore(verdict, isOfThisCrawl)
  }

  /** Judges the hubs that an interrupted run visited but whose verdicts it did not store. */
  async #judgeInterruptedVisits(): Promise<void> {
    const unjudged: { readonly foundHub: FoundHub; readonly row: VisitedRow }[] = []
    for await (const row of this.#setup.listVisited?.() ?? []) {
      const address = parseAddress(row.url)
      if (address === undefined || address.host !== this.#site.host) continue
      const isGuess = row.discovery === 'planner'
      if (isGuess) this.#seeding.restore(row.url)
      for (const foundHub of this.#site.slots.note(address, isGuess ? 'guessed' : 'listed')) {
        if (this.#verifier.needsVerdict(foundHub, !isGuess)) unjudged.push({ foundHub, row })
      }
    }
    this.#refresh()
    for (const { foundHub, row } of unjudged) {
      foundHub.hub.isSeeded ||= row.discovery === 'planner'
      this.#verifier.judgeStoredVisit(foundHub, row, await row.readLinks())
    }
  }

  /** Reports what the start page and the lists showed, and returns the first seeds. */
  #plan(): string[] {
    this.#isPlanned = true
    this.#refresh()
    this.#reporter.reportLearned()
    return this.#nextSeeds()
  }

  /** Returns the next seeds after new results. */
  #nextSeeds(): string[] {
    this.#refresh()
    const includeSections = !this.#log.hasReached('hubs-seeded')
    const { origin } = new URL(this.#startUrl)
    const seeds = this.#isPrepared
      ? []
      : this.#seeding.takeNextSeeds(origin, includeSections, this.#verifier.takeProbes())
    if (seeds.length === 0) this.#checkPrepared()
    if (this.#isPrepared) this.#reporter.reportUnderstood()
    return seeds
  }

  #refresh(): void {
    for (const slot of this.#site.refresh()) {
      this.#log.addThought(2, `${writeSlotPattern(slot)} contains ${slot.placeIds.size} places`)
      this.#verifier.storePendingVerdicts(slot)
    }
  }

  /** Reports when no further seeds follow, and when every seed has a result. */
  #checkPrepared(): void {
    const { count, hasAllResults } = this.#seeding
    if (
      !this.#isPrepared &&
      !this.#hasUnknownFrontier &&
      this.#pendingNavigation.size === 0 &&
      !this.#seeding.hasPendingWave()
    ) {
      this.#isPrepared = true
      this.#reporter.reportPrepared(count)
    }
    if (this.#isPrepared && count > 0 && hasAllResults) this.#reporter.reportPrimed(count)
  }

  async #keepPatterns(): Promise<void> {
    const { memory, clock } = this.#setup
    const patterns = this.#site.listPatterns()
    if (patterns.length > 0) await memory?.writePatterns(this.#site.host, patterns, clock.now())
  }

  /**
   * Returns the next step. Verdicts and milestones are stored before they are reported, so that a resumed crawl knows them and reports
   * nothing twice.
   */
  async #step(seeds: readonly string[], prioritized: readonly string[] = []): Promise<PlanStep> {
    const { memory, crawlId } = this.#setup
    const verdicts = this.#verifier.take()
    if (verdicts.length > 0) await memory?.writeVerdicts(this.#site.host, verdicts)
    const { events, reached } = this.#log.take()
    if (reached.length > 0) await memory?.writeMilestones(crawlId, reached)
    return { seeds, prioritized, events }
  }
}

function isList(discovery: Discovery): boolean {
  return discovery === 'sitemap' || discovery === 'llms-txt'
}
