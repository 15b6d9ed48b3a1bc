import { sha256 } from '../../core/hash.ts'
import { type LlmsFullPage, splitLlmsFull } from '../../core/llms-txt/llms-full.ts'
import type { LlmsTxt } from '../../core/llms-txt/llms-txt.ts'
import type { Snapshot } from '../../core/model.ts'
import { dropSlash } from '../../core/url/key.ts'
import type { ActiveCrawl } from '../active-crawl.ts'
import type { FoundAddress, ListRecord } from '../ledger.ts'
import type { Discovery } from '../ledger-reasons.ts'
import { countState } from '../run-counts.ts'
import type { SettlementResult } from '../settlement.ts'
import { readSafely } from '../visit/read-safely.ts'
import { type Attempt, findLlmsFull, findLlmsTxt } from './llms-txt.ts'
import { readSitemaps } from './sitemaps.ts'

/** Number of list addresses offered at once. */
const BATCH = 500
/** Sitemap addresses accepted when pages are capped, unless the cap allows more requests. */
const MAX_LISTED_WHEN_CAPPED = 10_000

/**
 * Reads the lists of a site: llms.txt, llms-full.txt and sitemaps, each supplementing the one before. `startKey` is the start page that is
 * being settled; it keeps its own content.
 */
export async function readLists(active: ActiveCrawl, startKey?: string): Promise<void> {
  const { run, site, lists, signal, requests } = active
  const { fetchResource } = requests
  const options = { startUrl: site.url, manualUrl: run.llmsTxtUrl, fetchResource, signal }
  let llmsTxt: (LlmsTxt & { readonly url: string }) | undefined
  let llmsTxtTried: readonly Attempt[] = []
  if (run.usesLlmsTxt) {
    const { hit, tried } = await findLlmsTxt(options)
    if (hit !== null) llmsTxt = { ...hit.llmsTxt, url: hit.url }
    report(active, 'llms-txt', tried, llmsTxt?.links.length ?? 0)
    reportManual(active, tried, hit?.url)
    llmsTxtTried = tried
  }
  if (run.usesLlmsTxt && run.llmsFull !== 'off') {
    const context = contextOf(active, llmsTxt, startKey)
    const validatorsOf = (url: string) => findSameList(active, url, context)
    const { hit, tried } = await findLlmsFull({ ...options, validatorsOf })
    const pages = hit === null ? 0 : await adoptLlmsFull(active, hit, context, llmsTxt, startKey)
    report(active, 'llms-full', tried, pages)
    const isCertain = await checkDoubts(active, 'llms-full', doubtsOf(tried), settledOf(tried, hit?.url))
    lists.isLlmsFullKnown = isCertain && tried.every(({ isAnswered }) => isAnswered)
    if (run.llmsFull === 'only') {
      if (pages === 0) reportNoLlmsFull(active, tried, hit !== null)
      return
    }
  } else {
    lists.isLlmsFullKnown = true
  }
  if (llmsTxt !== undefined) {
    const urls = llmsTxt.links.map(({ url }) => url)
    active.planning?.noteListed(urls, 'llms-txt')
    await active.offers.offer(urls, { depth: 0, foundOn: llmsTxt.url, discovery: 'llms-txt' })
  }
  await checkDoubts(active, 'llms-txt', doubtsOf(llmsTxtTried), settledOf(llmsTxtTried, llmsTxt?.url))
  if (run.usesSitemaps) await offerSitemaps(active)
}

/** A list whose response was not a list, or that refused access. */
interface Doubt {
  readonly url: string
  readonly detail: string
}

function doubtsOf(tried: readonly Attempt[]): Doubt[] {
  return tried.filter(({ isAnswered, isProof }) => isAnswered && !isProof)
}

/** Addresses whose content is now known: those read, and those proven missing. */
function settledOf(tried: readonly Attempt[], hitUrl: string | undefined): Set<string> {
  const urls = tried.filter(({ isProof }) => isProof).map(({ url }) => url)
  return new Set(hitUrl === undefined ? urls : [...urls, hitUrl])
}

/**
 * Marks the crawl as incomplete and returns false if pages are missing that came from a list which was neither read nor proven gone: the
 * list may still name them, so their absence proves nothing. A guessed address that never was a list raises no doubt.
 */
async function checkDoubts(
  active: ActiveCrawl,
  discovery: Discovery,
  doubts: readonly Doubt[],
  settled: ReadonlySet<string>,
): Promise<boolean> {
  const [doubt] = doubts
  if (doubt === undefined) return true
  const { run, ports } = active
  const lists = await ports.ledger.listUnseenLists(run.sourceId, run.crawlId, discovery)
  const missed = lists.find((url) => !settled.has(url))
  if (missed === undefined) return true
  const { url, detail } = doubts.find((candidate) => candidate.url === missed) ?? doubt
  active.counts.incomplete ??= `${url} could not be read (${detail})`
  return false
}

/** Reports the requests for a list. A list without any response makes the crawl incomplete; a missing list does not. */
function report(active: ActiveCrawl, discovery: Discovery, tried: readonly Attempt[], found: number): void {
  for (const { url, detail, isAnswered, fault } of tried) {
    active.events.push({ type: 'discovery', discovery, url, found: url === tried.at(-1)?.url ? found : 0, detail })
    if (fault !== null) active.counts.listFaults.push(`${url}: ${fault}`)
    if (!isAnswered) active.counts.incomplete ??= `${url} could not be read (${detail})`
  }
}

/** Reports an llms.txt that the user named and that is invalid. Another llms.txt that was found is used instead. */
function reportManual({ events }: ActiveCrawl, tried: readonly Attempt[], hitUrl: string | undefined): void {
  const manual = tried.find(({ place }) => place === 'manual')
  // A hit is always the last attempt.
  if (manual === undefined || (hitUrl !== undefined && manual === tried.at(-1))) return
  const { url, detail } = manual
  const instead = hitUrl === undefined ? 'no other was found' : `${hitUrl} was read instead`
  const message = `the given llms.txt, ${url}, cannot be used (${detail}); ${instead}`
  events.push({ type: 'problem', kind: 'llms-txt-unusable', target: url, message, details: { detail } })
}

/** Reports that llms-full.txt, the only content wanted, is missing or holds no page. Its earlier pages stay. */
function reportNoLlmsFull(active: ActiveCrawl, tried: readonly Attempt[], wasFound: boolean): void {
  const problem = wasFound ? 'llms-full.txt holds no page of the source' : 'no llms-full.txt was found'
  const places = tried.map(({ url, detail }) => `${url} (${detail})`).join(', ')
  const message = `${problem}, and the source reads nothing else: ${places}`
  active.events.push({ type: 'problem', kind: 'llms-full-missing', target: active.site.url, message, details: {} })
  active.counts.incomplete ??= problem
  active.lists.isLlmsFullMissing = true
}

/** Hash of everything besides its text that affects how an llms-full.txt is read. */
function contextOf({ run, site }: ActiveCrawl, llmsTxt: LlmsTxt | undefined, startKey: string | undefined): string {
  const { startUrl, scope, followsLinks } = run
  return sha256(JSON.stringify([[...mapTitles(llmsTxt)], startKey ?? null, startUrl, site.url, scope, followsLinks]))
}

/** Returns the stored record of an llms-full.txt if all its pages are still stored and reading it again would give the same result. */
async function findSameList(
  { run, ports, site }: ActiveCrawl,
  url: string,
  context: string,
): Promise<ListRecord | undefined> {
  // With a page cap, reading the file again may leave out other pages than last time.
  if (run.full || run.scope.maxPages !== null) return undefined
  const known = await ports.ledger.readList(run.sourceId, url)
  if (known?.contextHash !== context) return undefined
  const pages = await ports.ledger.listPagesOf(run.sourceId, url, site.addressFilter.keyOf(url) ?? url)
  return pages.length === known.pages ? known : undefined
}

/** Page count that matches no file, so that the list is read again. */
const UNKNOWN_PAGE_COUNT = -1

/** Stores or confirms the pages of an llms-full.txt. Returns their number. */
async function adoptLlmsFull(
  active: ActiveCrawl,
  hit: {
    readonly url: string
    readonly text: string | null
    readonly etag: string | null
    readonly lastModified: string | null
  },
  context: string,
  llmsTxt: LlmsTxt | undefined,
  startKey: string | undefined,
): Promise<number> {
  const { run, ports } = active
  const { url, text, etag, lastModified } = hit
  const contentHash = text === null ? null : sha256(text)
  const known = await findSameList(active, url, context)
  if (known !== undefined && (contentHash === null || contentHash === known.contentHash)) {
    await confirmPages(active, known)
    await ports.ledger.writeList(run.sourceId, run.crawlId, { ...known, etag, lastModified })
    return known.pages
  }
  if (text === null || contentHash === null) {
    active.counts.incomplete ??= `${url} could not be read (its pages changed meanwhile)`
    return 0
  }
  const record = { url, etag, lastModified, contentHash, contextHash: context, pages: UNKNOWN_PAGE_COUNT, named: [] }
  // Until all pages are stored, the record must not confirm them.
  await ports.ledger.writeList(run.sourceId, run.crawlId, record)
  const { count, offered } = await adoptPages(active, url, text, llmsTxt, startKey)
  const stored = await ports.ledger.listPagesOf(run.sourceId, url, active.site.addressFilter.keyOf(url) ?? url)
  // If a page duplicates another one, or an older file held more, the counts differ and the next crawl reads the file again.
  if (stored.length === count)
    await ports.ledger.writeList(run.sourceId, run.crawlId, { ...record, pages: count, named: offered })
  return count
}

/** Confirms the pages of an unchanged file. Offers the links of these pages and the addresses that the file names once more. */
async function confirmPages(active: ActiveCrawl, { url, named, pages }: ListRecord): Promise<void> {
  const { run, ports } = active
  const { ledger, clock } = ports
  const key = active.site.addressFilter.keyOf(url) ?? url
  const storedPages = await ledger.listPagesOf(run.sourceId, url, key)
  await ledger.confirmPagesOf(run.sourceId, run.crawlId, url, key, clock.now())
  for (const page of storedPages) {
    countAdopted(active, page.url, UNCHANGED, 0)
    if (run.followsLinks) {
      const links = await ledger.readLinks(run.sourceId, page.key)
      await active.offers.offer(links, { depth: 1, foundOn: page.url, discovery: 'link' })
    }
    await active.events.waitForRoom()
  }
  await active.offers.offer(named, { depth: 0, foundOn: url, discovery: 'llms-full' })
  if (storedPages.some((page) => page.key === key)) return
  const refusal = { reason: 'covered', pattern: `${pages} pages`, target: null } as const
  const fileFind: FoundAddress = {
    key,
    url,
    host: new URL(url).host,
    depth: 0,
    foundOn: null,
    discovery: 'llms-full',
    refusal,
  }
  await active.offers.record([fileFind])
}

const UNCHANGED: SettlementResult = { type: 'settled', state: 'unchanged', reason: null, target: null, finds: [] }

/**
 * Stores the pages of an llms-full.txt, so that they need not be fetched. Returns their number, and the addresses that were offered for
 * fetching instead.
 */
async function adoptPages(
  active: ActiveCrawl,
  fileUrl: string,
  text: string,
  llmsTxt: LlmsTxt | undefined,
  startKey: string | undefined,
): Promise<{ readonly count: number; readonly offered: readonly string[] }> {
  const { pages, urlsWithoutContent, remainder } = splitLlmsFull(text, fileUrl, mapTitles(llmsTxt))
  const offered = [...urlsWithoutContent]
  let count = 0
  for (const { url, title, markdown } of pages) {
    if (startKey !== undefined && dropSlash(active.site.addressFilter.keyOf(url) ?? url) === dropSlash(startKey))
      continue
    if (await adoptPage(active, fileUrl, url, { title, markdown })) count++
    else offered.push(url)
  }
  await active.offers.offer(urlsWithoutContent, { depth: 0, foundOn: fileUrl, discovery: 'llms-full' })
  const key = active.site.addressFilter.keyOf(fileUrl) ?? fileUrl
  const isRemainderCapped = remainder.trim() !== '' && !hasRoom(active)
  const { run } = active
  const { maxPages } = run.scope
  if (isRemainderCapped) active.counts.cappedAt = maxPages
  const fileFind: FoundAddress = {
    key,
    url: fileUrl,
    host: new URL(fileUrl).host,
    depth: 0,
    foundOn: null,
    discovery: 'llms-full',
    refusal: isRemainderCapped
      ? { reason: 'page-cap', pattern: String(maxPages), target: null }
      : { reason: 'covered', pattern: `${pages.length} pages`, target: null },
  }
  const isRemainderStored = remainder.trim() !== '' && !isRemainderCapped
  const remainderPage = { title: '', markdown: remainder }
  if (isRemainderStored && (await adoptRecord(active, { ...fileFind, refusal: null }, remainderPage)))
    return { count: count + 1, offered }
  await active.offers.record([fileFind])
  return { count, offered }
}

/** Addresses by title. A title shared by several pages is left out. */
function mapTitles(llmsTxt: LlmsTxt | undefined): Map<string, string> {
  const titles = new Map<string, string>()
  const ambiguous = new Set<string>()
  for (const { title, url } of llmsTxt?.links ?? []) {
    if ((titles.get(title) ?? url) !== url) ambiguous.add(title)
    titles.set(title, url)
  }
  for (const title of ambiguous) titles.delete(title)
  return titles
}

/** Stores one page if it is in scope. A page that is not stored is recorded as an ordinary find. */
async function adoptPage(active: ActiveCrawl, fileUrl: string, url: string, page: GivenPage): Promise<boolean> {
  const { finds } = active.offers.judge([url], { depth: 0, foundOn: fileUrl, discovery: 'llms-full' })
  const [find] = finds
  if (find === undefined) return false
  if (find.refusal === null && hasRoom(active) && (await adoptRecord(active, find, page))) return true
  await active.offers.record(finds)
  return false
}

/** Whether the page cap leaves room, counting the visits in progress. */
function hasRoom({ counts, visiting }: ActiveCrawl): boolean {
  return counts.pagesTaken + visiting.size < counts.maxPages
}

/** A page as an llms-full.txt holds it. */
type GivenPage = Pick<LlmsFullPage, 'title' | 'markdown'>

async function adoptRecord(active: ActiveCrawl, find: FoundAddress, { title, markdown }: GivenPage): Promise<boolean> {
  const { run, ports } = active
  const snapshot: Snapshot = {
    url: find.url,
    body: markdown,
    headers: { 'content-type': 'text/markdown' },
    known: { title },
  }
  const reading = await readSafely(active, snapshot, find.key)
  if (typeof reading === 'string' || reading.record === null) return false
  const { record } = reading
  const { finds } = run.followsLinks
    ? active.offers.judge(record.links, { depth: 1, foundOn: find.url, discovery: 'link' })
    : { finds: [] }
  const { sourceId, crawlId, limits, full: isFull } = run
  const maxRows = limits.ledgerRows
  const now = ports.clock.now()
  const settled = await ports.ledger.adopt({ sourceId, crawlId, now, find, record, isFull, finds, maxRows })
  if (settled.reason === 'overflow') {
    active.offers.noteOffered(finds, settled.finds)
    return false
  }
  active.offers.noteOffered([find, ...finds], ['known', ...settled.finds])
  countAdopted(active, find.url, settled, record.chunks.length)
  await active.events.waitForRoom()
  return true
}

/** Counts a page taken from llms-full.txt without a visit, and emits its event. */
function countAdopted(active: ActiveCrawl, url: string, settled: SettlementResult, chunks: number): void {
  const { site, counts, offers, events } = active
  const { state, reason } = settled
  countState(counts, settled)
  if (reason !== 'overflow') offers.noteCovered(site.addressFilter.keyOf(url) ?? url)
  if (state === 'indexed' || state === 'unchanged') counts.pagesTaken++
  const detail = 'from llms-full.txt'
  events.push({ type: 'settled', url, state, reason, status: null, detail, bytes: 0, chunks })
}

async function offerSitemaps(active: ActiveCrawl): Promise<void> {
  const { run, signal, site, counts, requests } = active
  const { url: siteUrl } = site
  const { fetchResource } = requests
  const fromRobots = await requests.robots.sitemaps(siteUrl, signal)
  // Far more addresses than a page cap allows would only cost time.
  const maxWhenCapped = Math.max(counts.maxPageRequests, MAX_LISTED_WHEN_CAPPED)
  const limits = { maxEntries: Math.min(run.limits.sitemapEntries, maxWhenCapped) }
  const batch = new Map<string, string[]>()
  let waiting = 0
  const flush = async () => {
    for (const [foundOn, urls] of batch) {
      active.planning?.noteListed(urls, 'sitemap')
      await active.offers.offer(urls, { depth: 0, foundOn, discovery: 'sitemap' })
    }
    batch.clear()
    waiting = 0
  }
  const admits = (url: string) => {
    const { refusal, stripped } = site.judge(url, 0, 'sitemap')
    return refusal === null || stripped !== null
  }
  for await (const find of readSitemaps({ siteUrl, fromRobots, fetchResource, admits, limits, signal })) {
    if (find.type === 'page') {
      const urls = batch.get(find.foundOn)
      if (urls === undefined) batch.set(find.foundOn, [find.url])
      else urls.push(find.url)
      if (++waiting >= BATCH) await flush()
      continue
    }
    await flush()
    const { read, failed, settled, doubtful, cappedBy } = find.report
    for (const { url, entries } of read) {
      active.events.push({ type: 'discovery', discovery: 'sitemap', url, found: entries, detail: `${entries} entries` })
    }
    for (const { url, detail, isAnswered } of failed) {
      active.events.push({ type: 'discovery', discovery: 'sitemap', url, found: 0, detail })
      active.counts.listFaults.push(`${url}: ${detail}`)
      if (!isAnswered) active.counts.incomplete ??= `${url} could not be read (${detail})`
    }
    await checkDoubts(active, 'sitemap', doubtful, settled)
    if (cappedBy !== null) active.counts.incomplete ??= `the sitemaps list more ${cappedBy} than are read`
  }
}
