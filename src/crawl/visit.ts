import { withoutFragment } from '../core/extract/resolve.ts'
import type { Extraction, Link, Page } from '../core/model.ts'
import { dropSlash } from '../core/url/key.ts'
import { isSpellingOf } from '../core/url/key-preference.ts'
import type { ActiveCrawl, DiscoveryContext, FoundAddresses } from './active-crawl.ts'
import { acceptsVariant, isNegotiated } from './discovery/markdown-variant.ts'
import { HOST_PARKED_OUTCOME, isUnsent, POSTPONED_OUTCOME, type SendPermit } from './hosts/pacer.ts'
import type { Alias, PageRecord, Reason, Refusal, Settlement, Visit } from './ledger.ts'
import type { FetchOutcome, FetchRequest, RenderOutcome } from './ports.ts'
import { hasAllLinks, isFollowed, listLinks } from './read-page.ts'
import { type PageResponse, type ReadResponseOptions, readResponse } from './read-response.ts'
import type { RobotsDecision } from './resource.ts'

/** The part of a settlement that the visit decides. */
type Conclusion = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** Without Retry-After, the retry delay doubles each time, from this value up to `MAX_RETRY_DELAY_MS`, plus jitter. */
export const FIRST_RETRY_DELAY_MS = 500
const MAX_RETRY_DELAY_MS = 300_000
const RETRY_JITTER_MS = 250

/** Size of a page above which its visit must acquire `largeVisits`. */
const LARGE_BODY = 2 ** 20

/** A completed visit: what to write, and the size of the response. */
export interface VisitResult {
  readonly settlement: Settlement
  readonly bytes: number
}

/**
 * Makes a visit: checks robots.txt, fetches, reads, and decides the new state of the row. Writes nothing. Returns undefined if the visit
 * must wait for another slot of its host.
 */
export async function visitPage(active: ActiveCrawl, visit: Visit): Promise<VisitResult | undefined> {
  const { run, ports } = active
  const decision = await perform(active, visit)
  if (decision === undefined) return undefined
  const { bytes } = decision
  let { verdict } = decision
  // If the start only redirects, the lists are read in the visit of its target.
  const isRedirect = verdict.reason === 'redirect' && verdict.state === 'skipped'
  if (!isRedirect && active.waitsForLists(visit.key)) {
    // Other processes can join before the lists are read: they need only the location of the site.
    if (verdict.state !== 'pending') await active.share(true)
    await active.readListsOnce(visit.key)
    // Only llms-full.txt was to be read, but it holds no page: the start is not indexed either. A page of an earlier run stays.
    if (active.isLlmsFullMissing && !visit.hasPage && verdict.state === 'indexed')
      verdict = { state: 'skipped', reason: 'excluded', pattern: '--llms-full only' }
  }
  const now = ports.clock.now()
  // A page that was not requested, or whose response did not show its content, keeps its last check time.
  const isConfirmed = verdict.state === 'indexed' || (verdict.state === 'unchanged' && verdict.status !== undefined)
  const checkedAt = visit.hasPage && !isConfirmed ? visit.checkedAt : now
  const maxRows = run.limits.ledgerRows
  const settlement: Settlement = { visit, crawlId: run.crawlId, now, checkedAt, maxRows, ...verdict }
  // A page that could not be read now keeps its earlier links. So does one that redirects: it stays if its target has no content.
  const { state, reason } = settlement
  // The links of a missing page, or of an address that the network guard refuses, are not followed.
  const isGone = reason === 'not-found' || reason === 'removed' || reason === 'address-refused'
  const keepsLinks = isRedirect || (settlement.finds === undefined && state !== 'pending' && !isGone)
  if (!visit.hasLinks || !keepsLinks || !run.followsLinks) return { settlement, bytes }
  const links = await ports.ledger.readLinks(visit.sourceId, visit.key)
  const replayed = withFinds(settlement, active.judge(links, linkContextOf(visit)))
  const isTruncated = state === 'unchanged' && !hasAllLinks(links)
  return { settlement: isTruncated ? { ...replayed, reason: 'too-many-links' } : replayed, bytes }
}

/** Checks, fetches and interprets an address. Returns undefined if the visit must wait for another slot. */
async function perform(active: ActiveCrawl, visit: Visit): Promise<{ verdict: Conclusion; bytes: number } | undefined> {
  const unfetched = (verdict: Conclusion) => ({ verdict, bytes: 0 })
  if (await isHeldByLlmsFull(active, visit))
    return unfetched({ state: 'unchanged', detail: 'its content came with llms-full.txt' })
  const refusal = findRefusal(active, visit)
  if (refusal !== null)
    return unfetched({ state: 'skipped', ...refusal, isProvenGone: visit.hasPage && active.isCheckingUnlinked })
  const parked = active.pacer.parked.get(visit.host)
  if (parked !== undefined) return unfetched({ state: 'failed', reason: 'host-parked', pattern: parked })
  const permission = await active.robots.judge(visit.url, active.signal)
  if (!permission.allowed) return unfetched(interpretRefusal(visit, permission))
  if (await isFresh(active, visit)) return unfetched({ state: 'unchanged', detail: 'checked recently' })
  // Another request may have changed the pace of the host while this visit waited: then the visit waits for another slot.
  const { host, notBefore, lease } = visit
  const turn = await active.pacer.enterSlot(host, notBefore, active.signal, lease)
  if (typeof turn === 'string') return undefined
  const answer = await fetchVisit(active, visit, turn)
  if (answer.outcome === POSTPONED_OUTCOME) return undefined
  const bytes = answer.outcome.type === 'fetched' ? answer.outcome.snapshot.body.length : 0
  const verdict = await interpret(active, visit, answer)
  return verdict && { verdict, bytes }
}

/**
 * Returns why an address must no longer be fetched. Addresses from the user are always fetched. So are stored pages that only look like a
 * trap, and addresses whose preferred spelling has no content.
 */
function findRefusal(active: ActiveCrawl, { key, url, depth, discovery, hasPage, isFinal }: Visit): Refusal | null {
  if (discovery === 'manual') return null
  return (
    active.judgeFound(url, depth, discovery, hasPage || isFinal).refusal ?? (hasPage ? null : active.findCovering(key))
  )
}

/** A refusal by robots.txt, for an address or for the spelling it redirects to. */
type RobotsRefusal = Extract<RobotsDecision, { allowed: false }>

function interpretRefusal(visit: Visit, refusal: RobotsRefusal): Conclusion {
  const { reason, pattern, retryAt = null } = refusal
  if (reason === 'robots-disallow') return { state: 'skipped', reason, pattern }
  if (retryAt !== null)
    return { state: 'pending', reason, pattern, dueAt: retryAt, awaitsConfirmation: visit.isConfirmation }
  return { state: 'failed', reason, pattern }
}

/** Whether a page was checked so recently that it is not requested. */
async function isFresh({ run, ports }: ActiveCrawl, visit: Visit): Promise<boolean> {
  const windows = Object.values(run.maxAgeMsOf)
  if (!visit.hasPage || run.full || Math.max(run.maxAgeMs, ...windows) === 0) return false
  const maxAge = (windows.length > 0 ? run.maxAgeMsOf[await ports.kindOf(visit)] : undefined) ?? run.maxAgeMs
  return ports.clock.now() - (visit.checkedAt ?? 0) < maxAge
}

/**
 * Whether a page came from an llms-full.txt that this crawl has not read, as in a refresh or when the file fails. Its own address would
 * return the same content in another form, which the next recrawl would have to undo.
 */
async function isHeldByLlmsFull({ isLlmsFullKnown, ports }: ActiveCrawl, visit: Visit): Promise<boolean> {
  if (isLlmsFullKnown || !visit.hasPage || visit.discovery !== 'llms-full') return false
  // A page that was fetched since then has a status.
  return (await ports.ledger.findRow(visit.sourceId, visit.key))?.status === null
}

/** A response, and the address that returned it: another spelling of the requested one, or its Markdown. */
interface VisitResponse {
  readonly url: string
  readonly outcome: FetchOutcome
  readonly isVariant: boolean
  readonly isLoop?: boolean
  /** Set if robots.txt forbids the spelling that the address redirects to. */
  readonly refusal?: RobotsRefusal
}

/** Fetches a visit: the Markdown of a page that llms.txt names, if it exists; otherwise the address itself. */
async function fetchVisit(active: ActiveCrawl, visit: Visit, permit: SendPermit): Promise<VisitResponse> {
  let isVariantRequested = false
  // The slot of the visit is for its first request.
  let next = permit
  if (visit.discovery === 'llms-txt') {
    for (const url of active.variants.variantsFor(visit.url)) {
      if (!(await active.robots.judge(url, active.signal)).allowed) continue
      const turn = isVariantRequested ? await waitForSlot(active, url) : next
      if ('type' in turn) return { url, outcome: turn, isVariant: true }
      next = turn
      const outcome = await active.fetch({ url, ...validatorsFor(active, visit, url) }, turn, visit)
      // A rate limit is obeyed: the other addresses of the page must not be used to bypass it.
      const isRateLimited = outcome.type === 'failed' && outcome.reason === 'rate-limited'
      if (isRateLimited || isUnsent(outcome)) return { url, outcome, isVariant: true }
      isVariantRequested = true
      const isAccepted =
        outcome.type === 'unchanged' || (outcome.type === 'fetched' && acceptsVariant(outcome.snapshot))
      if (!isAccepted) continue
      active.variants.accept(url)
      return { url, outcome, isVariant: true }
    }
    if (isVariantRequested) {
      active.variants.refuse(visit.url)
      const turn = await waitForSlot(active, visit.url)
      if ('type' in turn) return { url: visit.url, outcome: turn, isVariant: false }
      next = turn
    }
  }
  return fetchSpelling(active, visit, next)
}

/**
 * Validators for a request. They belong to the address that returned them: for any other address they may mean something else. The ledger
 * has them only if links can be replayed, so that a 304 hides nothing.
 */
function validatorsFor(
  { run }: ActiveCrawl,
  { url: visitUrl, contentUrl, etag, lastModified, isShell }: Visit,
  url: string,
): Pick<FetchRequest, 'etag' | 'lastModified'> {
  // An unchanged document says nothing about the result of its scripts.
  const isRenderedPage = isShell || run.render === 'chromium' || run.render === 'crawl4ai'
  return run.full || isRenderedPage || url !== (contentUrl ?? visitUrl) ? {} : { etag, lastModified }
}

/** Fetches an address, and follows redirects that only change its spelling. */
async function fetchSpelling(active: ActiveCrawl, visit: Visit, permit: SendPermit): Promise<VisitResponse> {
  const requested = new Set<string>()
  let url = visit.url
  let next = permit
  for (;;) {
    requested.add(url)
    const request = { url, ...validatorsFor(active, visit, url) }
    const outcome = await active.fetch(request, next, visit, active.ports.pageFetcher)
    if (outcome.type !== 'moved' || active.addressFilter.keyOf(outcome.target) !== visit.key)
      return { url, outcome, isVariant: false }
    const target = withoutFragment(outcome.target)
    if (requested.has(target) || requested.size > active.run.limits.redirects)
      return { url, outcome, isVariant: false, isLoop: true }
    const permission = await active.robots.judge(target, active.signal)
    if (!permission.allowed) return { url, outcome, isVariant: false, refusal: permission }
    url = target
    const turn = await waitForSlot(active, url)
    if ('type' in turn) return { url, outcome: turn, isVariant: false }
    next = turn
  }
}

/** Waits for another slot of the host. Returns the outcome of the visit if there is none. */
async function waitForSlot({ pacer, ports, signal }: ActiveCrawl, url: string): Promise<SendPermit | FetchOutcome> {
  const { host } = new URL(url)
  // Does not wait for the end of a back-off, because other hosts need the worker.
  if (pacer.heldUntil(host) > ports.clock.now() && !pacer.parked.has(host)) return POSTPONED_OUTCOME
  const turn = await pacer.takeTurn(host, signal)
  return turn === 'parked' ? HOST_PARKED_OUTCOME : turn
}

/** Decides what a response means for a visit. Undefined if the visit must be repeated later. */
async function interpret(active: ActiveCrawl, visit: Visit, answer: VisitResponse): Promise<Conclusion | undefined> {
  const { outcome } = answer
  if (answer.refusal !== undefined) return interpretRefusal(visit, answer.refusal)
  switch (outcome.type) {
    case 'unchanged':
      active.noteStartPage(visit.key)
      return { state: 'unchanged', status: 304, ...validatorsOf(outcome) }
    case 'moved':
      return interpretMove(active, visit, outcome, answer.isLoop === true)
    case 'gone':
      return active.isGuess(visit) ? interpretMiss(visit, outcome.status) : interpretGone(visit, outcome.status)
    case 'refused':
      return { state: 'failed', reason: outcome.reason, status: outcome.status, detail: outcome.detail }
    case 'failed':
      return interpretFailure(active, visit, outcome)
    case 'fetched':
      return interpretPage(active, visit, answer, outcome)
  }
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
function interpretGone(visit: Visit, status: number): Conclusion {
  const answer = { status, detail: `answered ${status}` }
  if (status === 410) return { state: 'failed', reason: 'removed', isProvenGone: visit.hasPage, ...answer }
  if (!visit.hasPage && !visit.hasLinks) return { state: 'failed', reason: 'not-found', ...answer }
  if (!visit.isConfirmation) return { state: 'pending', reason: 'not-found', awaitsConfirmation: true, ...answer }
  return { state: 'failed', reason: 'not-found', isProvenGone: visit.hasPage, ...answer }
}

/** A missing address that only the planner guessed is no failure of the site. */
function interpretMiss(visit: Visit, status: number): Conclusion {
  if (visit.hasPage || visit.hasLinks) return interpretGone(visit, status)
  return { state: 'skipped', reason: 'guess-missed', status, detail: `answered ${status}` }
}

async function interpretFailure(
  active: ActiveCrawl,
  visit: Visit,
  outcome: Extract<FetchOutcome, { type: 'failed' }>,
): Promise<Conclusion> {
  const { reason, status, detail, retryAfterMs } = outcome
  const pattern = active.pacer.parked.get(visit.host) ?? null
  const now = active.ports.clock.now()
  const heldMs = active.pacer.heldUntil(visit.host) - now
  // The host failed as a whole, which says nothing about this page, so the request does not count as an attempt.
  const isHostAtFault = heldMs > 0 && retryAfterMs === null && reason !== 'rate-limited'
  const attempt = visit.attempts + 1
  // The host responds to other requests: an address that times out twice in a row would only delay the end of the crawl.
  const isUnresponsive = reason === 'timeout' && status === null && (await active.wasUnresponsive(visit))
  const isLast = (attempt >= active.run.limits.attempts || isUnresponsive) && !isHostAtFault
  if (!outcome.isTransient || isLast || pattern !== null) return { state: 'failed', reason, status, detail, pattern }
  const wait = Math.min(FIRST_RETRY_DELAY_MS * 2 ** visit.attempts, MAX_RETRY_DELAY_MS)
  const delayMs = retryAfterMs ?? Math.max(heldMs, 0) + wait + Math.floor(active.ports.random() * RETRY_JITTER_MS)
  active.events.push({ type: 'retry', url: visit.url, reason, attempt, delayMs })
  const awaitsConfirmation = visit.isConfirmation
  const answer = { reason, status, detail, dueAt: now + delayMs, awaitsConfirmation }
  return { state: 'pending', ...answer, ...(isHostAtFault ? { isHostAtFault } : {}) }
}

/** A redirect makes the address an alias; its target is judged like any other address. */
async function interpretMove(
  active: ActiveCrawl,
  visit: Visit,
  move: { readonly target: string; readonly status: number; readonly isPermanent: boolean },
  isLoop: boolean,
): Promise<Conclusion> {
  const { status, isPermanent } = move
  const target = withoutFragment(move.target)
  const answer = { status, detail: `redirects to ${target}` }
  const hops = active.countHops(visit.key) + 1
  const key = active.addressFilter.keyOf(target)
  if (key !== undefined) active.noteStartRedirect(visit.key, target, isPermanent)
  const { redirects } = active.run.limits
  const isEndless = isLoop || key === visit.key || hops > redirects || (await redirectsTo(active, visit, key))
  if (isEndless)
    return { state: 'failed', reason: 'redirect-loop', pattern: hops > redirects ? `${redirects}` : null, ...answer }
  if (key !== undefined) active.noteHops(key, hops)
  const { finds, aliases } = active.judge([target], {
    depth: active.redirectDepth(visit),
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
async function redirectsTo(active: ActiveCrawl, visit: Visit, key: string | undefined): Promise<boolean> {
  let next = key
  for (let step = 0; next !== undefined && step < active.run.limits.redirects; step++) {
    const row = await active.ports.ledger.findRow(visit.sourceId, next)
    if (row?.reason !== 'redirect' || row.crawlId !== active.run.crawlId || row.target === null) return false
    if (row.target === visit.key) return true
    next = row.target
  }
  return false
}

async function interpretPage(
  active: ActiveCrawl,
  visit: Visit,
  answer: VisitResponse,
  outcome: Extract<FetchOutcome, { type: 'fetched' }>,
): Promise<Conclusion | undefined> {
  const status = outcome.snapshot.status ?? 200
  const read = await readResponse(outcome.snapshot, readerOf(active, visit))
  if (read.type === 'defect') return { state: 'failed', reason: 'page-defect', status, detail: read.detail }
  if (read.type === 'failed') return interpretNoRendering(active, visit, read, status)
  if (read.type === 'moved')
    return interpretMove(active, visit, { target: read.target, status, isPermanent: false }, false)
  const { extraction } = read
  // A service that fetches pages returns them as its browser shows them, with their links; Markdown variants are fetched without it.
  const isByService = active.ports.pageFetcher !== undefined && !answer.isVariant
  const isMarkdown = answer.isVariant || (!isByService && isNegotiated(visit.url, outcome.snapshot))
  const needsHtmlLinks = isMarkdown && active.run.followsLinks
  const html = needsHtmlLinks ? await readHtmlLinks(active, visit) : NO_LINKS
  if (html === undefined || 'state' in html) return html
  const record = read.record === null ? null : withLinks(read.record, html.links)
  const isRendered = read.isRendered || isByService
  const isFollowing = active.run.followsLinks
  if (extraction.type === 'no-page' || record === null) {
    const verdict = await interpretNoPage(active, visit, { extraction, isRendered }, status)
    return read.isShell ? { ...verdict, isShell: true } : verdict
  }

  const { page } = record
  active.noteStartPage(visit.key)
  active.noteContent(visit, { text: page.markdown, links: record.links })
  const links = isFollowing ? withFinds(findLinks(active, visit, page, record.links), html) : { finds: [], aliases: [] }
  // A page from a service does not tell whether the plain response is empty.
  const shell = isByService ? {} : { isShell: read.isShell }
  const conclusion: Conclusion = { state: 'skipped', status, ...shell, links: record.links, ...links }
  if (!page.robots.index) return { ...conclusion, reason: 'noindex', isProvenGone: visit.hasPage }
  const canonicalAlias = visit.isFinal || answer.isVariant ? undefined : await findCanonicalAddress(active, visit, page)
  if (canonicalAlias !== undefined) {
    // The canonical address, which is read instead, must not be refused as another form of this one.
    const finds = links.finds.filter(({ key }) => key !== canonicalAlias.verdict.target)
    return withFinds({ ...conclusion, ...canonicalAlias.verdict, finds }, canonicalAlias)
  }
  const aliases: Alias[] = answer.isVariant
    ? [...links.aliases, { url: answer.url, aliasUrl: visit.url, classification: 'markdown-variant', reason: null }]
    : [...links.aliases]
  const isSame = visit.hasPage && visit.contentHash === page.contentHash && !active.run.full
  // Validators belong to stored content, so a response that stores nothing has none. A 304 for the Markdown would hide new links in the
  // HTML.
  const { etag, lastModified } = isRendered || needsHtmlLinks ? NO_VALIDATORS : outcome
  const reason: Reason | null = isFollowing && !hasAllLinks(record.links) ? 'too-many-links' : null
  const stored = { ...conclusion, reason, etag, lastModified, contentUrl: answer.url, record, aliases }
  const browserNote = isByService ? 'read by Crawl4AI' : isRendered ? 'read in a browser' : undefined
  const formatNote = read.format === undefined ? undefined : `read as ${read.format}`
  const notes = [browserNote ?? formatNote].filter((note) => note !== undefined)
  // Title, metadata and links may have changed although the content is the same.
  if (isSame) return { ...stored, state: 'unchanged', detail: ['same content', ...notes].join(', ') }
  return { ...stored, state: 'indexed', contentHash: page.contentHash, detail: notes[0] ?? null }
}

/** Links of a page, and the addresses found through them. */
interface FoundLinks extends FoundAddresses {
  readonly links: readonly string[]
}

const NO_LINKS: FoundLinks = { links: [], finds: [], aliases: [] }

/**
 * Reads the links of a page whose text came as Markdown, because navigation is only in its HTML. A transient failure puts the visit back;
 * after the last attempt the stored links are used. Undefined if the host gets a back-off meanwhile.
 */
async function readHtmlLinks(active: ActiveCrawl, visit: Visit): Promise<FoundLinks | Conclusion | undefined> {
  const { ports } = active
  const turn = await waitForSlot(active, visit.url)
  const request = { url: visit.url, accept: 'text/html' }
  const outcome = 'type' in turn ? turn : await active.fetch(request, turn, visit, ports.pageFetcher)
  if (outcome === POSTPONED_OUTCOME) return undefined
  if (outcome.type === 'failed') {
    const verdict = await interpretFailure(active, visit, outcome)
    if (verdict.state === 'pending') return verdict
    active.incomplete ??= `the HTML of ${visit.url} could not be read (${outcome.reason})`
    const links = await ports.ledger.readLinks(visit.sourceId, visit.key)
    return { links, ...active.judge(links, linkContextOf(visit)) }
  }
  if (outcome.type !== 'fetched' || isNegotiated(visit.url, outcome.snapshot)) return NO_LINKS
  const reading = await active.read(outcome.snapshot, visit.key)
  if (typeof reading === 'string') return NO_LINKS
  const { extraction, record } = reading
  if (extraction.type === 'page' && record !== null)
    return { links: record.links, ...findLinks(active, visit, extraction.page, record.links) }
  const links = extraction.type === 'no-page' ? listLinks(extraction.links) : []
  return { links, ...active.judge(links, linkContextOf(visit)) }
}

/** Adds further links to a page record. */
function withLinks(record: PageRecord, more: readonly string[]): PageRecord {
  return more.length === 0 ? record : { ...record, links: [...new Set([...record.links, ...more])] }
}

/** The stored page stays if the browser failed or is missing: the unrendered response does not show the content. */
async function interpretNoRendering(
  active: ActiveCrawl,
  visit: Visit,
  failed: Extract<RenderOutcome, { type: 'failed' }>,
  status: number,
): Promise<Conclusion> {
  const verdict = await interpretFailure(active, visit, { ...failed, status, retryAfterMs: null })
  return failed.reason === 'needs-rendering' ? { ...verdict, pattern: `render ${active.run.render}` } : verdict
}

/** The reader for the response to a visit. With `auto`, a page that needed rendering once is always rendered. */
function readerOf(active: ActiveCrawl, visit: Visit): ReadResponseOptions {
  const { run, ports, addressFilter, largeVisits } = active
  const { renderer } = ports
  return {
    render: renderer && ((snapshot) => active.render(renderer, snapshot)),
    isAlwaysRendered: run.render === 'chromium',
    isShell: visit.isShell,
    read: async (snapshot, options) => {
      // The visit of a large response already has a place, but a rendered page may be larger than its response.
      if (snapshot.body.length > LARGE_BODY) await largeVisits.acquire(visit)
      return active.read(snapshot, visit.key, options)
    },
    keyOf: addressFilter.keyOf,
  }
}

/** A page made from several responses, or by a browser, has no validators. */
const NO_VALIDATORS = { etag: null, lastModified: null } as const

/** Ledger reason and state for responses that are not a page; `failed` if a later request may succeed. */
const NO_PAGE: Readonly<
  Record<Extract<Extraction, { type: 'no-page' }>['reason'], readonly [Reason, 'failed' | 'skipped']>
> = {
  challenge: ['challenge', 'failed'],
  login: ['login', 'skipped'],
  soft_404: ['soft-404', 'failed'],
  needs_rendering: ['needs-rendering', 'failed'],
  redirect: ['redirect', 'skipped'],
  empty: ['empty', 'skipped'],
  not_text: ['not-text', 'skipped'],
  encrypted: ['encrypted', 'skipped'],
  damaged: ['damaged', 'skipped'],
  too_large: ['too-large', 'skipped'],
}

/** Reasons why a document cannot be read now. If an earlier crawl read it, the stored page stays. */
const UNREADABLE_REASONS: ReadonlySet<Reason> = new Set<Reason>(['encrypted', 'damaged', 'too-large'])

/** Whether a reason means that an address has no content, not only that it is withheld. */
function isEmptyReason(reason: Reason): boolean {
  return reason === 'empty' || reason === 'soft-404'
}

async function interpretNoPage(
  active: ActiveCrawl,
  visit: Visit,
  { extraction, isRendered }: Pick<PageResponse, 'extraction' | 'isRendered'>,
  status: number,
): Promise<Conclusion> {
  if (extraction.type === 'page') return { state: 'failed', reason: 'page-defect', status }
  if (extraction.reason === 'redirect' && extraction.target !== null) {
    return interpretMove(active, visit, { target: extraction.target, status, isPermanent: false }, false)
  }
  // A browser that shows no text may have missed something: only an unrendered response proves that a page is empty.
  const isBlank = isRendered && (extraction.reason === 'empty' || extraction.reason === 'needs_rendering')
  if (isBlank)
    return { state: 'failed', reason: 'needs-rendering', status, detail: 'it shows no text, even after rendering' }
  const [reason, usualState] = NO_PAGE[extraction.reason]
  const state = visit.hasPage && UNREADABLE_REASONS.has(reason) ? 'failed' : usualState
  if (reason === 'soft-404' && active.isGuess(visit)) return { ...interpretMiss(visit, 404), status }
  if (isEmptyReason(reason)) active.noteContent(visit, { text: '', links: listLinks(extraction.links) })
  const pattern = reason === 'needs-rendering' ? `render ${active.run.render}` : null
  const verdict: Conclusion = { state, reason, pattern, status, detail: extraction.detail }
  if (visit.hasLinks || !active.run.followsLinks) return verdict
  return withFinds(verdict, active.judge(listLinks(extraction.links), linkContextOf(visit)))
}

/** Addresses found on a page: links that are followed, links beyond the limit, nofollow links, and other forms of the page. */
function findLinks(active: ActiveCrawl, visit: Visit, page: Page, links: readonly string[]): FoundAddresses {
  const followed = new Set(links)
  const others = page.links.filter(({ url }) => !followed.has(withoutFragment(url)))
  const isFollowable = (link: Link) => page.robots.follow && isFollowed(link)
  const judgeOthers = (skipped: readonly Link[], reason: Reason, pattern: string | null) =>
    active.judge(new Set(skipped.map(({ url }) => withoutFragment(url))), {
      ...linkContextOf(visit),
      refusal: { reason, pattern, target: null },
    })
  const target = visit.key
  const variants = page.alternates.filter(({ type }) => type === 'text/markdown').map(({ url }) => withoutFragment(url))
  const lists = [
    active.judge(
      variants.filter((url) => active.addressFilter.keyOf(url) !== target),
      {
        ...linkContextOf(visit),
        discovery: 'alternate',
        refusal: { reason: 'covered', pattern: 'text/markdown', target },
      },
    ),
    active.judge(links, linkContextOf(visit)),
    judgeOthers(others.filter(isFollowable), 'too-many-links', String(links.length)),
    judgeOthers(
      others.filter((link) => !isFollowable(link)),
      'nofollow',
      null,
    ),
  ]
  // An address counts once, by the first list that contains it.
  const finds = [
    ...new Map(
      lists
        .flatMap((list) => list.finds)
        .map((find) => [find.key, find] as const)
        .reverse(),
    ).values(),
  ]
  return { finds: finds.reverse(), aliases: lists.flatMap((list) => list.aliases) }
}

/** Returns the canonical address of a page, if it is another address that this crawl will read. */
async function findCanonicalAddress(
  active: ActiveCrawl,
  visit: Visit,
  page: {
    readonly canonical: string | null
    readonly alternates: readonly { readonly url: string; readonly type: string | null }[]
  },
): Promise<({ readonly verdict: Partial<Conclusion> } & FoundAddresses) | undefined> {
  const { canonical } = page
  const key = canonical === null ? undefined : active.addressFilter.keyOf(canonical)
  // Many sites name one canonical address for different pages, so only another spelling of the same address is accepted. If two pages name
  // each other, neither gets content at first, so both are read again at the end, whichever came first. A trailing slash alone is not worth
  // a second request: if both addresses are linked, their content tells whether they are one page.
  const isOther = key !== undefined && dropSlash(key) !== dropSlash(visit.key)
  if (canonical !== null && isOther && isSpellingOf(canonical, visit.url)) {
    const row = await active.ports.ledger.findRow(visit.sourceId, key)
    const leadsBack = row?.reason === 'redirect' && row.target === visit.key
    const depth = active.redirectDepth(visit)
    const found = active.judge([canonical], { depth, foundOn: visit.url, discovery: 'canonical' })
    const isRefused = active.addressFilter.judge(canonical, depth).refusal !== null
    if (!leadsBack && !isRefused) return aliasTo(visit, canonical, key, 'canonical', null, found)
  }
  for (const { url, type } of page.alternates) {
    const variantKey = type === 'text/markdown' ? active.addressFilter.keyOf(url) : undefined
    if (variantKey === undefined || variantKey === visit.key) continue
    const row = await active.ports.ledger.findRow(visit.sourceId, variantKey)
    const isRead =
      row?.discovery === 'llms-txt' && row.state !== 'failed' && row.state !== 'gone' && row.state !== 'skipped'
    if (isRead) return aliasTo(visit, url, variantKey, 'markdown-variant', 'text/markdown', { finds: [], aliases: [] })
  }
  return undefined
}

function aliasTo(
  visit: Visit,
  url: string,
  target: string,
  classification: Alias['classification'],
  pattern: string | null,
  found: FoundAddresses,
): { readonly verdict: Partial<Conclusion> } & FoundAddresses {
  return {
    verdict: { reason: 'canonical', pattern, target, isProvenGone: visit.hasPage, detail: `the same as ${url}` },
    finds: found.finds,
    aliases: [...found.aliases, { url: visit.url, aliasUrl: url, classification, reason: null }],
  }
}

function linkContextOf(visit: Visit): DiscoveryContext {
  return { depth: visit.depth + 1, foundOn: visit.url, discovery: 'link' }
}

function withFinds<T extends Partial<FoundAddresses>>(verdict: T, more: FoundAddresses): T & FoundAddresses {
  const { finds = [], aliases = [] } = verdict
  return { ...verdict, finds: [...more.finds, ...finds], aliases: [...more.aliases, ...aliases] }
}
