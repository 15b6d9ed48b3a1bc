import type { Extraction, Snapshot } from '../core/model.ts'
import { urlKey } from '../core/url/key.ts'
import { isSpellingOf } from '../core/url/prefer.ts'
import { isBelowStart } from '../core/url/reach.ts'
import type { ActiveCrawl, Finding, Finds } from './active-crawl.ts'
import { acceptsVariant } from './discovery/markdown-variant.ts'
import type { Alias, Reason, Settlement, Visit } from './ledger.ts'
import type { FetchOutcome, PageReading } from './ports.ts'
import { listLinks } from './read-page.ts'

/** What became of a visit, as far as the visit itself decides it. */
type Verdict = Omit<Settlement, 'visit' | 'crawlId' | 'now'>

/** Retries wait twice as long each time, from here, and never longer than `MOST_WAIT_MS`. */
const FIRST_WAIT_MS = 500
const MOST_WAIT_MS = 300_000
const WAIT_JITTER_MS = 250

/** A visit that was made: what to write, and how many bytes came. */
export interface VisitResult {
  readonly settlement: Settlement
  readonly bytes: number
}

/**
 * Makes a visit: asks robots.txt, fetches, reads, and says what becomes of the row. Nothing is written here. Undefined when
 * it came too early for its host and has to wait for another slot.
 */
export async function visitPage(active: ActiveCrawl, visit: Visit): Promise<VisitResult | undefined> {
  const { run, ports } = active
  const decision = await decide(active, visit)
  if (decision === undefined) return undefined
  const { verdict, bytes } = decision
  // A start that only leads elsewhere leaves the lists to the address it leads to.
  const isPassedOn = verdict.reason === 'redirect' && verdict.state === 'skipped'
  if (!isPassedOn && active.waitsForLists(visit.key)) await active.discovered(visit.key)
  const aliases = [...(verdict.aliases ?? []), ...active.takeAliases()]
  const now = ports.clock.now()
  // A page that was not asked, or did not tell what it holds now, is as old as it was: the freshness window goes by that.
  const isTold = verdict.state === 'indexed' || (verdict.state === 'unchanged' && verdict.status !== undefined)
  const checkedAt = visit.hasPage && !isTold ? visit.checkedAt : now
  const settlement = { visit, crawlId: run.crawlId, now, checkedAt, ...verdict, aliases }
  if (settlement.state === 'failed' && !hasLinks(visit) && UNANSWERED.has(settlement.reason ?? 'network')) {
    // Nobody knows what it would have led to.
    active.incomplete ??= `${visit.url} could not be read (${settlement.reason})`
  }
  // What a page that could not be read now once linked to is still linked, as far as anybody knows. That holds for one that leads
  // elsewhere too: it stays when there is nothing to be had where it leads.
  const isGone = settlement.isProvenGone === true && !isPassedOn
  const isUnread = isPassedOn || (settlement.finds === undefined && settlement.state !== 'pending' && !isGone)
  if (!hasLinks(visit) || !isUnread || !run.followsLinks) return { settlement, bytes }
  const replayed = active.judge(await ports.ledger.readLinks(visit.sourceId, visit.key), linksOf(visit))
  return { settlement: withFinds(settlement, replayed), bytes }
}

/** Whether it was read before, so that its links are known: it holds content, or repeated that of another address. */
function hasLinks({ hasPage, target }: Visit): boolean {
  return hasPage || target !== null
}

/** Failures that say nothing about the page. */
const UNANSWERED: ReadonlySet<Reason> = new Set<Reason>([
  'robots-unreachable',
  'challenge',
  'http-server-error',
  'rate-limited',
  'timeout',
  'network',
  'tls',
])

async function decide(active: ActiveCrawl, visit: Visit): Promise<{ verdict: Verdict; bytes: number } | undefined> {
  const silent = (verdict: Verdict) => ({ verdict, bytes: 0 })
  if (await isHeldByFull(active, visit)) return silent({ state: 'unchanged', detail: 'held by llms-full.txt' })
  const { refusal } = active.gate.judge(visit.url, visit.depth)
  if (refusal !== null && visit.discovery !== 'manual') return silent({ state: 'skipped', ...refusal })
  const permission = await active.robots.judge(visit.url, active.signal)
  if (!permission.allowed) {
    const { reason, pattern } = permission
    return silent({ state: reason === 'robots-disallow' ? 'skipped' : 'failed', reason, pattern })
  }
  if (await isFresh(active, visit)) return silent({ state: 'unchanged', detail: 'checked lately' })
  const paceSince = await active.setPace(visit.host, await active.robots.crawlDelayMs(visit.url, active.signal))
  if (visit.notBefore < paceSince) return undefined
  const answer = await fetchVisit(active, visit)
  const bytes = answer.outcome.type === 'fetched' ? answer.outcome.snapshot.body.length : 0
  return { verdict: await interpret(active, visit, answer), bytes }
}

/** Whether a page was checked so lately that it is taken as it is. */
async function isFresh({ run, ports }: ActiveCrawl, visit: Visit): Promise<boolean> {
  const windows = Object.values(run.maxAgeMsOf)
  if (!visit.hasPage || run.full || Math.max(run.maxAgeMs, ...windows) === 0) return false
  const maxAge = (windows.length > 0 ? run.maxAgeMsOf[await ports.kindOf(visit)] : undefined) ?? run.maxAgeMs
  return ports.clock.now() - (visit.checkedAt ?? 0) < maxAge
}

/**
 * Whether a page came from an llms-full.txt that this crawl does not know, as in a refresh or when the file fails. Its own
 * address would answer with the same in other words, which the next recrawl would have to take back.
 */
async function isHeldByFull({ isFullKnown, ports }: ActiveCrawl, visit: Visit): Promise<boolean> {
  if (isFullKnown || !visit.hasPage || visit.discovery !== 'llms-full') return false
  // A page that was fetched since has the status of its answer.
  return (await ports.ledger.findRow(visit.sourceId, visit.key))?.status === null
}

/** An answer, and the address that gave it: another spelling of the one that was asked, or its Markdown. */
interface Answer {
  readonly url: string
  readonly outcome: FetchOutcome
  readonly isVariant: boolean
  readonly isLoop?: boolean
}

/** Fetches a visit: the Markdown of a page that llms.txt names, where there is any; otherwise the address itself. */
async function fetchVisit(active: ActiveCrawl, visit: Visit): Promise<Answer> {
  // The ledger gives validators only where links can be replayed, so that an answer that nothing changed hides nothing.
  const etag = active.run.full ? null : visit.etag
  const lastModified = active.run.full ? null : visit.lastModified
  let isVariantAsked = false
  if (visit.discovery === 'llms-txt') {
    for (const url of active.variants.variantsFor(visit.url)) {
      if (!(await active.robots.judge(url, active.signal)).allowed) continue
      // The slot of the visit is for its first request.
      if (isVariantAsked) await waitForSlot(active, visit.host)
      const outcome = await active.fetch({ url, etag, lastModified })
      // Whoever asks for patience gets it: the other addresses of the page are no way around.
      if (outcome.type === 'failed' && outcome.reason === 'rate-limited') return { url, outcome, isVariant: true }
      isVariantAsked = true
      const isAccepted =
        outcome.type === 'unchanged' || (outcome.type === 'fetched' && acceptsVariant(outcome.snapshot))
      if (!isAccepted) continue
      active.variants.accept(url)
      return { url, outcome, isVariant: true }
    }
    if (isVariantAsked) {
      active.variants.refuse(visit.url)
      await waitForSlot(active, visit.host)
    }
  }
  // A date belongs to the address it came from; a tag of another one can only fail to match.
  return fetchSpelling(active, visit, etag, isVariantAsked ? null : lastModified)
}

/** Fetches an address and follows redirects that only change its spelling. */
async function fetchSpelling(
  active: ActiveCrawl,
  visit: Visit,
  etag: string | null,
  lastModified: string | null,
): Promise<Answer> {
  const asked = new Set<string>()
  let url = visit.url
  for (;;) {
    asked.add(url)
    const outcome = await active.fetch({ url, etag, lastModified })
    if (outcome.type !== 'moved' || urlKey(outcome.target) !== visit.key) return { url, outcome, isVariant: false }
    const target = withoutFragment(outcome.target)
    if (asked.has(target) || asked.size > active.run.limits.redirects)
      return { url, outcome, isVariant: false, isLoop: true }
    url = target
    await waitForSlot(active, visit.host)
  }
}

async function waitForSlot(active: ActiveCrawl, host: string): Promise<void> {
  const { ledger, clock } = active.ports
  const now = clock.now()
  const slot = await ledger.reserveSlot(host, now)
  if (slot > now) await clock.sleep(slot - now, active.signal)
}

async function interpret(active: ActiveCrawl, visit: Visit, answer: Answer): Promise<Verdict> {
  const { outcome } = answer
  switch (outcome.type) {
    case 'unchanged':
      return { state: 'unchanged', status: 304, ...validatorsOf(outcome) }
    case 'moved':
      return interpretMove(active, visit, outcome.target, outcome.status, answer.isLoop === true)
    case 'gone':
      return interpretGone(visit, outcome.status)
    case 'refused':
      return { state: 'failed', reason: outcome.reason, status: outcome.status, detail: outcome.detail }
    case 'failed':
      return interpretFailure(active, visit, outcome)
    case 'fetched':
      return interpretPage(active, visit, answer, outcome)
  }
}

/** That nothing changed need not be said with validators: those that are known still hold. */
function validatorsOf(outcome: {
  readonly etag: string | null
  readonly lastModified: string | null
}): Partial<Verdict> {
  const { etag, lastModified } = outcome
  return etag === null && lastModified === null ? {} : { etag, lastModified }
}

/** 410 is proof. 404 is asked again when everything else is done, where there is something to lose. */
function interpretGone(visit: Visit, status: number): Verdict {
  const answer = { status, detail: `answered ${status}` }
  if (status === 410) return { state: 'failed', reason: 'removed', isProvenGone: visit.hasPage, ...answer }
  if (!visit.hasPage) return { state: 'failed', reason: 'not-found', ...answer }
  if (!visit.isConfirmation) return { state: 'pending', reason: 'not-found', awaitsConfirmation: true, ...answer }
  return { state: 'failed', reason: 'not-found', isProvenGone: true, ...answer }
}

function interpretFailure(
  active: ActiveCrawl,
  visit: Visit,
  outcome: Extract<FetchOutcome, { type: 'failed' }>,
): Verdict {
  const { reason, status, detail } = outcome
  const attempt = visit.attempts + 1
  if (!outcome.isTransient || attempt >= active.run.limits.attempts) return { state: 'failed', reason, status, detail }
  const wait = Math.min(FIRST_WAIT_MS * 2 ** visit.attempts, MOST_WAIT_MS)
  const delayMs = outcome.retryAfterMs ?? wait + Math.floor(active.ports.random() * WAIT_JITTER_MS)
  active.events.push({ type: 'retry', url: visit.url, reason, attempt, delayMs })
  const awaitsConfirmation = visit.isConfirmation
  return { state: 'pending', reason, status, detail, dueAt: active.ports.clock.now() + delayMs, awaitsConfirmation }
}

/** A redirect makes the address an alias; where it leads is an address of its own, judged like any other. */
async function interpretMove(
  active: ActiveCrawl,
  visit: Visit,
  location: string,
  status: number | null,
  isLoop: boolean,
): Promise<Verdict> {
  const target = withoutFragment(location)
  const answer = { status, detail: `redirects to ${target}` }
  const hops = (active.hops.get(visit.key) ?? 0) + 1
  const key = urlKey(target)
  if (active.isStart(visit.key) && key !== undefined) {
    active.passStartOn(key)
    await followSite(active, target)
  }
  const { redirects } = active.run.limits
  const isEndless = isLoop || key === visit.key || hops > redirects || (await leadsTo(active, visit, key))
  if (isEndless)
    return { state: 'failed', reason: 'redirect-loop', pattern: hops > redirects ? `${redirects}` : null, ...answer }
  if (key !== undefined) active.hops.set(key, hops)
  const { finds, aliases } = active.judge([target], { depth: visit.depth, foundOn: visit.url, discovery: 'redirect' })
  return {
    state: 'skipped',
    reason: 'redirect',
    target: key ?? null,
    // The old content goes only when the new address holds some.
    isProvenGone: visit.hasPage,
    ...answer,
    finds,
    aliases: [
      ...aliases,
      { url: visit.url, aliasUrl: target, classification: 'redirect', reason: String(status ?? '') },
    ],
  }
}

/** The start may live at another host than the one that was given; its folder stays, unless the answer left it. */
async function followSite(active: ActiveCrawl, target: string): Promise<void> {
  const to = new URL(target)
  const site = new URL(active.siteUrl)
  const isInside = isBelowStart(to, site)
  if (to.origin === site.origin && isInside) return
  const moved = isInside ? new URL(site.pathname, to.origin).href : to.href
  await active.moveSite(moved)
}

/** Whether redirects that were met before lead from a key back to this visit. */
async function leadsTo(active: ActiveCrawl, visit: Visit, key: string | undefined): Promise<boolean> {
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
  answer: Answer,
  outcome: Extract<FetchOutcome, { type: 'fetched' }>,
): Promise<Verdict> {
  const { snapshot } = outcome
  const reading = await read(active, snapshot, visit.key)
  if (reading === undefined)
    return { state: 'failed', reason: 'page-defect', status: snapshot.status ?? 200, detail: 'could not be read' }
  const { extraction, record } = reading
  const status = snapshot.status ?? 200
  const isFollowing = active.run.followsLinks
  if (extraction.type === 'no-page' || record === null) return interpretNoPage(active, visit, extraction, status)

  const { page } = record
  const links = isFollowing ? findLinks(active, visit, reading) : { finds: [], aliases: [] }
  const seen: Verdict = { state: 'skipped', status, ...links }
  if (!page.robots.index) return { ...seen, reason: 'noindex', isProvenGone: visit.hasPage }
  const elsewhere = visit.isFinal || answer.isVariant ? undefined : await findProperAddress(active, visit, page)
  if (elsewhere !== undefined) {
    // The address that is read instead is not refused as another form of this one.
    const finds = links.finds.filter(({ key }) => key !== elsewhere.verdict.target)
    return withFinds({ ...seen, ...elsewhere.verdict, finds }, elsewhere)
  }
  const aliases: Alias[] = answer.isVariant
    ? [...links.aliases, { url: answer.url, aliasUrl: visit.url, classification: 'markdown-variant', reason: null }]
    : [...links.aliases]
  const isSame = visit.hasPage && visit.contentHash === page.contentHash && !active.run.full
  // They belong to what is stored, so an answer that stores nothing has none, and those of an older content go with it.
  const { etag, lastModified } = outcome
  const stored = { ...seen, etag, lastModified, aliases }
  if (isSame) return { ...stored, state: 'unchanged', links: record.links, detail: 'same content' }
  return { ...stored, state: 'indexed', record, contentHash: page.contentHash }
}

/** A page that brings the reader down must not bring the crawl down. */
async function read(active: ActiveCrawl, snapshot: Snapshot, key: string): Promise<PageReading | undefined> {
  try {
    return await active.ports.readPage(snapshot, key)
  } catch (error) {
    if (active.signal.aborted) throw error
    return undefined
  }
}

/** Reasons in the ledger for answers that are no page, and whether asking again some day may help. */
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
}

async function interpretNoPage(
  active: ActiveCrawl,
  visit: Visit,
  extraction: Extraction,
  status: number,
): Promise<Verdict> {
  if (extraction.type === 'page') return { state: 'failed', reason: 'page-defect', status }
  if (extraction.reason === 'redirect' && extraction.target !== null) {
    return interpretMove(active, visit, extraction.target, status, false)
  }
  const [reason, state] = NO_PAGE[extraction.reason]
  const verdict: Verdict = { state, reason, status, detail: extraction.detail }
  if (visit.hasPage || !active.run.followsLinks) return verdict
  return withFinds(verdict, active.judge(listLinks(extraction.links), linksOf(visit)))
}

/** Links that are followed, links the page does not vouch for, and other forms of the page itself. */
function findLinks(active: ActiveCrawl, visit: Visit, { extraction, record }: PageReading): Finds {
  if (extraction.type !== 'page' || record === null) return { finds: [], aliases: [] }
  const { page } = extraction
  const followed = new Set(record.links)
  const others = page.links
    .filter(({ url }) => !followed.has(withoutFragment(url)))
    .map(({ url }) => withoutFragment(url))
  const target = visit.key
  const forms = page.alternates.filter(({ type }) => type === 'text/markdown').map(({ url }) => withoutFragment(url))
  const lists = [
    active.judge(
      forms.filter((url) => urlKey(url) !== target),
      {
        ...linksOf(visit),
        discovery: 'alternate',
        refusal: { reason: 'covered', pattern: 'text/markdown', target },
      },
    ),
    active.judge(record.links, linksOf(visit)),
    active.judge(new Set(others), { ...linksOf(visit), refusal: { reason: 'nofollow', pattern: null, target: null } }),
  ]
  // An address counts once, by the first list that has it.
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

/** Where a page says it properly lives, if that is another address that this crawl will read. */
async function findProperAddress(
  active: ActiveCrawl,
  visit: Visit,
  page: {
    readonly canonical: string | null
    readonly alternates: readonly { readonly url: string; readonly type: string | null }[]
  },
): Promise<({ readonly verdict: Partial<Verdict> } & Finds) | undefined> {
  const { canonical } = page
  const key = canonical === null ? undefined : urlKey(canonical)
  // Many sites name one canonical address for pages that differ; only another spelling of the same one is believed. Two that
  // name each other are both read again at the end, when it turns out that neither holds anything: in whatever order they came.
  if (canonical !== null && key !== undefined && key !== visit.key && isSpellingOf(canonical, visit.url)) {
    const row = await active.ports.ledger.findRow(visit.sourceId, key)
    const leadsBack = row?.reason === 'redirect' && row.target === visit.key
    const found = active.judge([canonical], { depth: visit.depth, foundOn: visit.url, discovery: 'canonical' })
    const isRefused = active.gate.judge(canonical, visit.depth).refusal !== null
    if (!leadsBack && !isRefused) return aliasTo(visit, canonical, key, 'canonical', null, found)
  }
  for (const { url, type } of page.alternates) {
    const form = type === 'text/markdown' ? urlKey(url) : undefined
    if (form === undefined || form === visit.key) continue
    const row = await active.ports.ledger.findRow(visit.sourceId, form)
    const isRead =
      row?.discovery === 'llms-txt' && row.state !== 'failed' && row.state !== 'gone' && row.state !== 'skipped'
    if (isRead) return aliasTo(visit, url, form, 'markdown-variant', 'text/markdown', { finds: [], aliases: [] })
  }
  return undefined
}

function aliasTo(
  visit: Visit,
  url: string,
  target: string,
  classification: Alias['classification'],
  pattern: string | null,
  found: Finds,
): { readonly verdict: Partial<Verdict> } & Finds {
  return {
    verdict: { reason: 'canonical', pattern, target, isProvenGone: visit.hasPage, detail: `the same as ${url}` },
    finds: found.finds,
    aliases: [...found.aliases, { url: visit.url, aliasUrl: url, classification, reason: null }],
  }
}

function linksOf(visit: Visit): Finding {
  return { depth: visit.depth + 1, foundOn: visit.url, discovery: 'link' }
}

function withFinds<T extends Partial<Finds>>(verdict: T, more: Finds): T & Finds {
  const { finds = [], aliases = [] } = verdict
  return { ...verdict, finds: [...more.finds, ...finds], aliases: [...more.aliases, ...aliases] }
}

function withoutFragment(url: string): string {
  const fragment = url.indexOf('#')
  return fragment === -1 ? url : url.slice(0, fragment)
}
