import { withoutFragment } from '../../core/extract/resolve.ts'
import type { ActiveCrawl } from '../active-crawl.ts'
import type { Visit } from '../ledger.ts'
import type { FetchOutcome } from '../ports.ts'
import type { Settlement } from '../settlement.ts'
import type { RobotsRefusal, VisitResponse } from './fetch-visit.ts'

/** The part of a settlement that the visit decides. */
export type Conclusion = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** Without Retry-After, the retry delay doubles each time, from this value up to `MAX_RETRY_DELAY_MS`, plus jitter. */
export const FIRST_RETRY_DELAY_MS = 500
const MAX_RETRY_DELAY_MS = 300_000
const RETRY_JITTER_MS = 250

/** The part of a crawl that decides what responses mean. */
export type ConcludingCrawl = Pick<ActiveCrawl, 'run' | 'ports' | 'events' | 'site' | 'offers' | 'requests'>

/** Decides what a response without a page means for a visit. */
export function concludeOutcome(
  crawl: ConcludingCrawl,
  visit: Visit,
  { refusal, isLoop = false }: VisitResponse,
  outcome: Exclude<FetchOutcome, { type: 'fetched' }>,
): Promise<Conclusion> | Conclusion {
  if (refusal !== undefined) return concludeRefusal(visit, refusal)
  switch (outcome.type) {
    case 'unchanged':
      crawl.site.notePage(visit.key)
      return { state: 'unchanged', status: 304, ...validatorsOf(outcome) }
    case 'moved':
      return concludeMove(crawl, visit, outcome, isLoop)
    case 'gone':
      return crawl.offers.isGuess(visit) ? concludeMiss(visit, outcome.status) : concludeGone(visit, outcome.status)
    case 'refused':
      return { state: 'failed', reason: outcome.reason, status: outcome.status, detail: outcome.detail }
    case 'failed':
      return concludeFailure(crawl, visit, outcome)
  }
}

/** What a refusal by robots.txt means for a visit. */
export function concludeRefusal(visit: Visit, refusal: RobotsRefusal): Conclusion {
  const { reason, pattern, retryAt = null } = refusal
  if (reason === 'robots-disallow') return { state: 'skipped', reason, pattern }
  if (retryAt !== null)
    return { state: 'pending', reason, pattern, dueAt: retryAt, awaitsConfirmation: visit.isConfirmation }
  return { state: 'failed', reason, pattern }
}

/** A 304 need not repeat validators: the known ones still apply. */
function validatorsOf(outcome: {
  readonly etag: string | null
  readonly lastModified: string | null
}): Partial<Conclusion> {
  const { etag, lastModified } = outcome
  return etag === null && lastModified === null ? {} : { etag, lastModified }
}

/** 410 proves that a page is gone. After a 404, a page with content is requested again when everything else is done. */
function concludeGone(visit: Visit, status: number): Conclusion {
  const answer = { status, detail: `answered ${status}` }
  if (status === 410) return { state: 'failed', reason: 'removed', isProvenGone: visit.hasPage, ...answer }
  if (!visit.hasPage && !visit.hasLinks) return { state: 'failed', reason: 'not-found', ...answer }
  if (!visit.isConfirmation) return { state: 'pending', reason: 'not-found', awaitsConfirmation: true, ...answer }
  return { state: 'failed', reason: 'not-found', isProvenGone: visit.hasPage, ...answer }
}

/** A missing address that only the planner guessed is no failure of the site. */
export function concludeMiss(visit: Visit, status: number): Conclusion {
  if (visit.hasPage || visit.hasLinks) return concludeGone(visit, status)
  return { state: 'skipped', reason: 'guess-missed', status, detail: `answered ${status}` }
}

/** A transient failure is retried later, while the address has attempts left. */
export async function concludeFailure(
  { run, ports, events, requests }: ConcludingCrawl,
  visit: Visit,
  outcome: Extract<FetchOutcome, { type: 'failed' }>,
): Promise<Conclusion> {
  const { reason, status, detail, retryAfterMs } = outcome
  const pattern = requests.pacer.hosts.parked.get(visit.host) ?? null
  const now = ports.clock.now()
  const heldMs = requests.pacer.hosts.heldUntil(visit.host) - now
  // The host failed as a whole, which says nothing about this page, so the request does not count as an attempt.
  const isHostAtFault = heldMs > 0 && retryAfterMs === null && reason !== 'rate-limited'
  const attempt = visit.attempts + 1
  // The host responds to other requests: an address that times out twice in a row would only delay the end of the crawl.
  const isUnresponsive = reason === 'timeout' && status === null && (await requests.wasUnresponsive(visit))
  const isLast = (attempt >= run.limits.attempts || isUnresponsive) && !isHostAtFault
  if (!outcome.isTransient || isLast || pattern !== null) return { state: 'failed', reason, status, detail, pattern }
  const wait = Math.min(FIRST_RETRY_DELAY_MS * 2 ** visit.attempts, MAX_RETRY_DELAY_MS)
  const delayMs = retryAfterMs ?? Math.max(heldMs, 0) + wait + Math.floor(ports.random() * RETRY_JITTER_MS)
  events.push({ type: 'retry', url: visit.url, reason, attempt, delayMs })
  const awaitsConfirmation = visit.isConfirmation
  const answer = { reason, status, detail, dueAt: now + delayMs, awaitsConfirmation }
  return { state: 'pending', ...answer, ...(isHostAtFault ? { isHostAtFault } : {}) }
}

/** A redirect makes the address an alias; its target is judged like any other address. */
export async function concludeMove(
  crawl: ConcludingCrawl,
  visit: Visit,
  move: { readonly target: string; readonly status: number; readonly isPermanent: boolean },
  isLoop = false,
): Promise<Conclusion> {
  const { run, site, offers } = crawl
  const { status, isPermanent } = move
  const target = withoutFragment(move.target)
  const answer = { status, detail: `redirects to ${target}` }
  const hops = site.countHops(visit.key) + 1
  const key = site.addressFilter.keyOf(target)
  if (key !== undefined) {
    site.noteRedirect(visit.key, target, isPermanent)
    site.moves.set(visit.key, key)
  }
  const { redirects } = run.limits
  const isEndless = isLoop || key === visit.key || hops > redirects || (await redirectsTo(crawl, visit, key))
  if (isEndless) {
    site.moves.delete(visit.key)
    return { state: 'failed', reason: 'redirect-loop', pattern: hops > redirects ? `${redirects}` : null, ...answer }
  }
  if (key !== undefined) site.noteHops(key, hops)
  const { finds, aliases } = offers.judge([target], {
    depth: site.redirectDepth(visit),
    foundOn: visit.url,
    discovery: 'redirect',
  })
  return {
    state: 'skipped',
    reason: 'redirect',
    target: key ?? null,
    // The old content is removed only if the redirect is permanent and the new address has content.
    isProvenGone: visit.hasPage && isPermanent,
    ...answer,
    finds,
    aliases: [...aliases, { url: visit.url, aliasUrl: target, classification: 'redirect', reason: String(status) }],
  }
}

/** Whether known redirects lead from a key back to this visit. */
async function redirectsTo(crawl: ConcludingCrawl, visit: Visit, key: string | undefined): Promise<boolean> {
  let next = key
  for (let step = 0; next !== undefined && step < crawl.run.limits.redirects; step++) {
    next = crawl.site.moves.get(next) ?? (await findMove(crawl, visit.sourceId, next))
    if (next === visit.key) return true
  }
  return false
}

/** The target of a redirect that this crawl has settled. */
async function findMove({ run, ports }: ConcludingCrawl, sourceId: string, key: string): Promise<string | undefined> {
  const row = await ports.ledger.findRow(sourceId, key)
  return row?.reason === 'redirect' && row.crawlId === run.crawlId ? (row.target ?? undefined) : undefined
}
