import { withoutFragment } from '../../core/extract/resolve.ts'
import type { ActiveCrawl } from '../active-crawl.ts'
import { acceptsVariant } from '../discovery/markdown-variant.ts'
import { HOST_PARKED_OUTCOME, isUnsent, POSTPONED_OUTCOME, type SendPermit } from '../hosts/send-permit.ts'
import type { Visit } from '../ledger.ts'
import type { FetchOutcome, FetchRequest } from '../ports.ts'
import type { RobotsDecision } from '../resource.ts'

/** The part of a crawl that fetches visits. */
export type FetchingCrawl = Pick<ActiveCrawl, 'run' | 'ports' | 'signal' | 'site' | 'requests'>

/** A refusal by robots.txt, for an address or for the spelling it redirects to. */
export type RobotsRefusal = Extract<RobotsDecision, { allowed: false }>

/** A response, and the address that returned it: another spelling of the requested one, or its Markdown. */
export interface VisitResponse {
  readonly url: string
  readonly outcome: FetchOutcome
  readonly isVariant: boolean
  readonly isLoop?: boolean
  /** Set if robots.txt forbids the spelling that the address redirects to. */
  readonly refusal?: RobotsRefusal
}

/** Fetches a visit: the Markdown of a page that llms.txt names, if it exists; otherwise the address itself. */
export async function fetchVisit(crawl: FetchingCrawl, visit: Visit, permit: SendPermit): Promise<VisitResponse> {
  const { requests, signal } = crawl
  const { variants } = requests
  let isVariantRequested = false
  // The slot of the visit is for its first request.
  let next = permit
  if (visit.discovery === 'llms-txt') {
    for (const url of variants.variantsFor(visit.url)) {
      if (!(await requests.robots.judge(url, signal)).allowed) continue
      const turn = isVariantRequested ? await waitForSlot(crawl, url) : next
      if ('type' in turn) return { url, outcome: turn, isVariant: true }
      next = turn
      const outcome = await requests.fetch({ url, ...validatorsFor(crawl, visit, url) }, turn, visit)
      // A rate limit is obeyed: the other addresses of the page must not be used to bypass it.
      const isRateLimited = outcome.type === 'failed' && outcome.reason === 'rate-limited'
      if (isRateLimited || isUnsent(outcome)) return { url, outcome, isVariant: true }
      isVariantRequested = true
      const isAccepted =
        outcome.type === 'unchanged' || (outcome.type === 'fetched' && acceptsVariant(outcome.snapshot))
      if (!isAccepted) continue
      variants.accept(url)
      return { url, outcome, isVariant: true }
    }
    if (isVariantRequested) {
      variants.refuse(visit.url)
      const turn = await waitForSlot(crawl, visit.url)
      if ('type' in turn) return { url: visit.url, outcome: turn, isVariant: false }
      next = turn
    }
  }
  return fetchSpelling(crawl, visit, next)
}

/** Fetches the HTML of a page that was fetched as Markdown. */
export async function fetchHtml(crawl: FetchingCrawl, visit: Visit): Promise<FetchOutcome> {
  const turn = await waitForSlot(crawl, visit.url)
  return 'type' in turn ? turn : crawl.requests.fetchPage({ url: visit.url, accept: 'text/html' }, turn, visit)
}

/**
 * Validators for a request. They belong to the address that returned them: for any other address they may mean something else. The ledger
 * has them only if links can be replayed, so that a 304 hides nothing.
 */
function validatorsFor(
  { run }: FetchingCrawl,
  { url: visitUrl, contentUrl, etag, lastModified, isShell }: Visit,
  url: string,
): Pick<FetchRequest, 'etag' | 'lastModified'> {
  // An unchanged document says nothing about the result of its scripts.
  const isRenderedPage = isShell || run.render === 'chromium' || run.render === 'crawl4ai'
  return run.full || isRenderedPage || url !== (contentUrl ?? visitUrl) ? {} : { etag, lastModified }
}

/** Fetches an address, and follows redirects that only change its spelling. */
async function fetchSpelling(crawl: FetchingCrawl, visit: Visit, permit: SendPermit): Promise<VisitResponse> {
  const { run, requests, site, signal } = crawl
  const requested = new Set<string>()
  let url = visit.url
  let next = permit
  for (;;) {
    requested.add(url)
    const outcome = await requests.fetchPage({ url, ...validatorsFor(crawl, visit, url) }, next, visit)
    if (outcome.type !== 'moved' || site.addressFilter.keyOf(outcome.target) !== visit.key)
      return { url, outcome, isVariant: false }
    const target = withoutFragment(outcome.target)
    if (requested.has(target) || requested.size > run.limits.redirects)
      return { url, outcome, isVariant: false, isLoop: true }
    const permission = await requests.robots.judge(target, signal)
    if (!permission.allowed) return { url, outcome, isVariant: false, refusal: permission }
    url = target
    const turn = await waitForSlot(crawl, url)
    if ('type' in turn) return { url, outcome: turn, isVariant: false }
    next = turn
  }
}

/** Waits for another slot of the host. Returns the outcome of the visit if there is none. */
async function waitForSlot(
  { requests: { pacer }, ports, signal }: FetchingCrawl,
  url: string,
): Promise<SendPermit | FetchOutcome> {
  const { host } = new URL(url)
  // Does not wait for the end of a back-off, because other hosts need the worker.
  if (pacer.hosts.heldUntil(host) > ports.clock.now() && !pacer.hosts.parked.has(host)) return POSTPONED_OUTCOME
  const turn = await pacer.takeTurn(host, signal)
  return turn === 'parked' ? HOST_PARKED_OUTCOME : turn
}
