import type { Snapshot } from '../core/model.ts'
import type { ActiveCrawl } from './active-crawl.ts'
import { waitUntilResumed } from './control.ts'
import { MarkdownVariants } from './discovery/markdown-variant.ts'
import { Pacer } from './hosts/pacer.ts'
import { RobotsRules } from './hosts/robots-rules.ts'
import { isUnsent, type PacedFetcher, type SendPermit } from './hosts/send-permit.ts'
import type { Visit } from './ledger.ts'
import type { Fetcher, FetchOutcome, FetchRequest, RenderOutcome } from './ports.ts'
import { createResourceFetcher, type ResourceFetcher } from './resource.ts'
import { Semaphore } from './semaphore.ts'

type RequestingCrawl = Pick<ActiveCrawl, 'ports' | 'signal' | 'events' | 'counts' | 'site'>

/** Sends the requests of a crawl, at the pace of each host and as robots.txt allows, and counts them. */
export class Requests implements PacedFetcher {
  readonly pacer: Pacer
  readonly robots: RobotsRules
  /** Fetches files that are not pages, as robots.txt allows. */
  readonly fetchResource: ResourceFetcher
  readonly variants: MarkdownVariants = new MarkdownVariants()
  /** Limits visits with large responses: pages are parsed one at a time, so more of them would only wait in memory. */
  readonly largeVisits: Semaphore<Visit> = new Semaphore(3)
  readonly #crawl: RequestingCrawl
  /** Origins whose headers are missing, as far as they were reported. */
  readonly #headerless = new Set<string>()
  /** Requests in progress by address, and when each began. */
  readonly #inProgress = new Map<string, number>()

  constructor(crawl: RequestingCrawl) {
    const { ports, signal, events, counts } = crawl
    const { ledger, clock, random, control } = ports
    this.#crawl = crawl
    const { limits } = counts.run
    const probe = (url: string, permit: SendPermit) => this.#probe(url, permit)
    const pacer = new Pacer({ ledger, clock, random, limits, probe, signal, tell: (event) => events.push(event) })
    this.pacer = pacer
    const fetchBare = createResourceFetcher({ fetcher: this, pacer })
    const { startedAt: since } = counts
    // Every run reads robots.txt again, so that a changed rule applies from the next run.
    const robots = new RobotsRules({ fetchResource: fetchBare, ledger, clock, setDelay: pacer.hosts.setDelay, since })
    this.robots = robots
    const judgeRobots = (url: string, fetchSignal?: AbortSignal) => robots.judge(url, fetchSignal)
    const fetchResource = createResourceFetcher({ fetcher: this, pacer, judgeRobots })
    this.fetchResource = async (url, options) => {
      await waitUntilResumed(control, signal)
      return fetchResource(url, options)
    }
  }

  /** Requests in progress, and how long each has taken. */
  listInProgress(now: number): { readonly url: string; readonly ageMs: number }[] {
    return Array.from(this.#inProgress, ([url, since]) => ({ url, ageMs: now - since }))
  }

  /** Sends a request and counts it; the response adjusts the pace of the host. */
  async fetch(request: FetchRequest, permit: SendPermit, visit?: Visit, by?: Fetcher): Promise<FetchOutcome> {
    const { ports, counts, site, signal } = this.#crawl
    const { url } = request
    const isPageRequest = visit !== undefined
    counts.requests++
    if (isPageRequest) counts.pageRequests++
    const begunAt = ports.clock.now()
    const visitOptions = isPageRequest
      ? { admitLarge: () => this.largeVisits.acquire(visit), isBrief: await this.wasUnresponsive(visit) }
      : {}
    this.#reportMissingHeaders(url)
    const headers = { ...site.headersFor(url), ...request.headers }
    this.#inProgress.set(url, begunAt)
    const sent = { signal, ...request, headers, ...visitOptions }
    const { outcome, sentAt } = await this.pacer
      .send(permit, by ?? ports.fetcher, sent)
      .finally(() => this.#inProgress.delete(url))
    if (outcome.type === 'fetched') counts.bytes += outcome.snapshot.body.length
    // The network guard refuses a request before it is sent, so it does not count.
    if (isUnsent(outcome) || (outcome.type === 'failed' && outcome.reason === 'address-refused')) {
      counts.requests--
      if (isPageRequest) counts.pageRequests--
    }
    if (!isUnsent(outcome)) await this.pacer.health.noteOutcome(url, outcome, sentAt, isPageRequest)
    return outcome
  }

  /** Reports, once for each origin, that its configured headers cannot be sent. */
  #reportMissingHeaders(url: string): void {
    const { counts, events } = this.#crawl
    const problem = counts.run.siteHeaders?.findProblem(url)
    const { origin } = new URL(url)
    if (problem === undefined || this.#headerless.has(origin)) return
    this.#headerless.add(origin)
    const message = `${problem}; its pages are requested without it`
    events.push({ type: 'problem', kind: 'missing-header', target: origin, message, details: {} })
  }

  /** Requests a page, through the service that fetches pages if there is one. */
  fetchPage(request: FetchRequest, permit: SendPermit, visit: Visit): Promise<FetchOutcome> {
    return this.fetch(request, permit, visit, this.#crawl.ports.pageFetcher)
  }

  /** Whether the last request for an address timed out before the server began to respond. */
  async wasUnresponsive({ attempts, sourceId, key }: Visit): Promise<boolean> {
    const row = attempts > 0 ? await this.#crawl.ports.ledger.findRow(sourceId, key) : undefined
    return row?.reason === 'timeout' && row.status === null
  }

  /** The function that runs the scripts of a fetched page; undefined without a browser. */
  get render(): ((snapshot: Snapshot) => Promise<RenderOutcome>) | undefined {
    const { ports, site, signal } = this.#crawl
    const { renderer, clock } = ports
    return (
      renderer &&
      ((snapshot) => {
        const { url } = snapshot
        this.#inProgress.set(url, clock.now())
        const headers = site.headersFor(url)
        return renderer.render(snapshot, { headers, signal }).finally(() => this.#inProgress.delete(url))
      })
    )
  }

  /** Requests an address only to check whether its host responds; the response is not used. */
  async #probe(url: string, permit: SendPermit): Promise<FetchOutcome> {
    const { ports, counts, site, signal } = this.#crawl
    const request = { url, headers: site.headersFor(url), isBrief: true, signal }
    const { outcome } = await this.pacer.send(permit, ports.fetcher, request, false)
    if (!isUnsent(outcome)) counts.requests++
    return outcome
  }
}
