import { Offers } from './addresses/offers.ts'
import { StaleLists } from './addresses/stale-lists.ts'
import { CrawlCounts } from './crawl-counts.ts'
import { SiteLists } from './discovery/site-lists.ts'
import type { EventQueue } from './event-queue.ts'
import type { CrawlEvent, CrawlProgress } from './events.ts'
import type { Visit } from './ledger.ts'
import type { Reason } from './ledger-reasons.ts'
import type { ActivityCounter } from './observe-crawl.ts'
import { CrawlMilestones } from './planning/crawl-milestones.ts'
import { Planning } from './planning/planning.ts'
import { Requests } from './requests.ts'
import type { CrawlPorts, CrawlRun } from './run.ts'
import { addCounts, type ProcessCounts, type SharedCrawl, Sharing } from './sharing.ts'
import { Site } from './site.ts'
import type { Supervisor } from './supervise.ts'

/** A running crawl: its parts, each in a file of its own. */
export class ActiveCrawl {
  readonly run: CrawlRun
  readonly ports: CrawlPorts
  readonly signal: AbortSignal
  readonly activity: ActivityCounter
  readonly events: EventQueue<CrawlEvent>
  readonly counts: CrawlCounts
  readonly site: Site
  readonly requests: Requests
  readonly offers: Offers
  readonly lists: SiteLists
  readonly staleLists: StaleLists
  readonly sharing: Sharing
  readonly milestones: CrawlMilestones
  /** Present only if the crawl has a planner. */
  readonly planning: Planning | undefined
  /** Whether another process started the crawl; this process then only makes visits. */
  readonly isJoined: boolean
  /** Addresses being visited (waiting, fetching or reading), and since when. */
  readonly visiting: Map<string, number> = new Map()
  /** Keys of visits whose `begun` event was emitted and that are not settled yet. */
  readonly #begun = new Set<string>()
  /**
   * Counts of the crawl before it began to request stored pages that it did not find. Of those, the ones outside the scope are removed.
   */
  linkedCounts: ProcessCounts | undefined
  /** Reason why the crawl cannot start. */
  refusal: Reason | null = null
  /** Explains `refusal` as text. */
  refusalDetail: string | null = null

  constructor(
    run: CrawlRun,
    ports: CrawlPorts,
    { signal, events, activity }: Pick<Supervisor, 'signal' | 'events' | 'activity'>,
    shared?: SharedCrawl,
  ) {
    this.run = run
    this.ports = ports
    this.signal = signal
    this.activity = activity
    this.events = events
    this.isJoined = shared !== undefined
    const usesLists = !this.isJoined && (run.kind === 'add' || run.kind === 'recrawl')
    const { ledger, clock, planner } = ports
    const { startUrl } = run
    this.counts = new CrawlCounts(run, clock.now())
    this.site = new Site(this.counts, !usesLists)
    this.requests = new Requests(this)
    this.planning =
      planner &&
      new Planning({
        planner,
        startUrl,
        offer: (urls) => this.offers.offerSeeds(urls),
        prioritize: (urls) => this.offers.prioritize(urls),
        tell: (event) => events.push(event),
      })
    const { counts, site, planning, isJoined } = this
    this.offers = new Offers({ ledger, clock, site, counts, events, planning })
    this.lists = new SiteLists(this, usesLists, shared?.isFullKnown === true)
    this.staleLists = new StaleLists(this)
    this.sharing = new Sharing(ports, site, this.lists)
    const { milestones: store } = ports
    this.milestones = new CrawlMilestones({ startUrl, isJoined, store, sharing: this.sharing, events })
  }

  /** Records the beginning of a visit. A visit that is repeated because it was too early for its host emits no second event. */
  begin({ key, url, depth }: Visit): void {
    this.visiting.set(url, this.ports.clock.now())
    if (this.#begun.has(key)) return
    this.#begun.add(key)
    this.events.push({ type: 'begun', url, depth })
  }

  /** Records that a visit is settled. */
  noteSettled({ key }: Visit): void {
    this.#begun.delete(key)
  }

  /** Counts of this process, and of those that joined; `isFresh` reads the latter anew. */
  async countAll(isFresh = true): Promise<ProcessCounts> {
    const own = this.counts.ofProcess(this.requests.pacer.hosts.parked)
    return addCounts(own, await this.sharing.readJoinedCounts(isFresh))
  }

  /** Current progress of the crawl. */
  async progress(): Promise<CrawlProgress> {
    const { run, ports, counts, requests, site } = this
    const { pacer, robots } = requests
    const now = ports.clock.now()
    // Progress is read often, so it leaves out the slower query for the next due time.
    const { states } = await ports.ledger.countLedger(run.sourceId)
    const own = { visited: counts.visited, bytes: counts.bytes }
    const { visited, indexed, unchanged, skipped, failed, bytes } = await this.countAll(false)
    return {
      ...{ visited, indexed, unchanged, skipped, failed, bytes, own },
      queued: states.pending + states.leased,
      maxPages: run.scope.maxPages ?? undefined,
      current: requests.listInProgress(now),
      isPaused: ports.control?.isPaused === true,
      hasRobots: robots.isKnown(site.url),
      hosts: pacer.hosts.progress(),
      latencies: pacer.health.latencies,
      elapsedMs: now - counts.startedAt,
    }
  }
}
