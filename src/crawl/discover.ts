import { splitLlmsFull } from '../core/llms-txt/llms-full.ts'
import type { LlmsTxt } from '../core/llms-txt/llms-txt.ts'
import type { Snapshot } from '../core/model.ts'
import { urlKey } from '../core/url/key.ts'
import type { ActiveCrawl } from './active-crawl.ts'
import { type Attempt, findLlmsFull, findLlmsTxt } from './discovery/llms-txt.ts'
import { readSitemaps } from './discovery/sitemaps.ts'
import type { Discovery, Find } from './ledger.ts'

/** Addresses of a list are offered so many at a time. */
const BATCH = 500

/**
 * Reads the lists of a site: llms.txt, llms-full.txt and sitemaps, each supplementing the one before. `startKey` is the page
 * that is being settled now, and keeps its own content.
 */
export async function readLists(active: ActiveCrawl, startKey?: string): Promise<void> {
  const { run, signal } = active
  const options = { startUrl: active.siteUrl, manualUrl: run.llmsTxtUrl, fetchResource: active.fetchResource, signal }
  let llmsTxt: (LlmsTxt & { readonly url: string }) | undefined
  if (run.usesLlmsTxt) {
    const { hit, tried } = await findLlmsTxt(options)
    if (hit !== null) llmsTxt = { ...hit.llmsTxt, url: hit.url }
    report(active, 'llms-txt', tried, llmsTxt?.links.length ?? 0)
  }
  if (run.usesLlmsTxt && run.llmsFull !== 'off') {
    const { hit, tried } = await findLlmsFull(options)
    active.isFullKnown = tried.every(({ isAnswered }) => isAnswered)
    const pages = hit === null ? 0 : await adoptPages(active, hit.url, hit.text, llmsTxt, startKey)
    report(active, 'llms-full', tried, pages)
    if (run.llmsFull === 'only' && pages > 0) return
  } else {
    active.isFullKnown = true
  }
  if (llmsTxt !== undefined) {
    const urls = llmsTxt.links.map(({ url }) => url)
    await active.offer(urls, { depth: 0, foundOn: llmsTxt.url, discovery: 'llms-txt' })
  }
  if (run.usesSitemaps) await offerSitemaps(active)
}

/** Tells what was looked for. A list that is not there says something; one that could not be asked for says nothing. */
function report(active: ActiveCrawl, discovery: Discovery, tried: readonly Attempt[], found: number): void {
  for (const { url, detail, isAnswered } of tried) {
    active.events.push({ type: 'discovery', discovery, url, found: url === tried.at(-1)?.url ? found : 0, detail })
    if (!isAnswered) active.incomplete ??= `${url} could not be read (${detail})`
  }
}

/** Stores the pages an llms-full.txt holds, so that they need not be fetched. Returns how many there are. */
async function adoptPages(
  active: ActiveCrawl,
  fileUrl: string,
  text: string,
  llmsTxt: LlmsTxt | undefined,
  startKey: string | undefined,
): Promise<number> {
  const { pages, named, remainder } = splitLlmsFull(text, fileUrl, titlesOf(llmsTxt))
  let count = 0
  for (const { url, markdown } of pages) {
    if (urlKey(url) !== startKey && (await adoptPage(active, fileUrl, url, markdown))) count++
  }
  await active.offer(named, { depth: 0, foundOn: fileUrl, discovery: 'llms-full' })
  const key = urlKey(fileUrl) ?? fileUrl
  const isRestLeft = remainder.trim() !== '' && !hasRoom(active)
  const { run, ports } = active
  const { maxPages } = run.scope
  if (isRestLeft) active.cappedAt = maxPages
  const rest: Find = {
    key,
    url: fileUrl,
    host: new URL(fileUrl).host,
    depth: 0,
    foundOn: null,
    discovery: 'llms-full',
    refusal: isRestLeft
      ? { reason: 'page-cap', pattern: String(maxPages), target: null }
      : { reason: 'covered', pattern: `${pages.length} pages`, target: null },
  }
  const isRestStored = remainder.trim() !== '' && !isRestLeft
  if (isRestStored && (await adoptRecord(active, { ...rest, refusal: null }, remainder))) return count + 1
  active.note([rest], await ports.ledger.offer(run.sourceId, run.crawlId, [rest], ports.clock.now()))
  return count
}

/** Addresses by title. A title that several pages have says nothing. */
function titlesOf(llmsTxt: LlmsTxt | undefined): Map<string, string> {
  const titles = new Map<string, string>()
  const ambiguous = new Set<string>()
  for (const { title, url } of llmsTxt?.links ?? []) {
    if ((titles.get(title) ?? url) !== url) ambiguous.add(title)
    titles.set(title, url)
  }
  for (const title of ambiguous) titles.delete(title)
  return titles
}

/** Stores one page, unless it is none of the source's. What is not stored is an address like any other. */
async function adoptPage(active: ActiveCrawl, fileUrl: string, url: string, markdown: string): Promise<boolean> {
  const { finds } = active.judge([url], { depth: 0, foundOn: fileUrl, discovery: 'llms-full' })
  const [find] = finds
  if (find === undefined) return false
  if (find.refusal === null && hasRoom(active) && (await adoptRecord(active, find, markdown))) return true
  const { run, ports } = active
  active.note(finds, await ports.ledger.offer(run.sourceId, run.crawlId, finds, ports.clock.now()))
  return false
}

/** Whether the cap leaves room for a page, besides those being visited. */
function hasRoom({ run, pagesTaken, current }: ActiveCrawl): boolean {
  return pagesTaken + current.size < (run.scope.maxPages ?? Infinity)
}

async function adoptRecord(active: ActiveCrawl, find: Find, markdown: string): Promise<boolean> {
  const { run, ports } = active
  const snapshot: Snapshot = { url: find.url, body: markdown, headers: { 'content-type': 'text/markdown' } }
  const { record } = await ports.readPage(snapshot, find.key)
  if (record === null) return false
  const { finds } = run.followsLinks
    ? active.judge(record.links, { depth: 1, foundOn: find.url, discovery: 'link' })
    : { finds: [] }
  const { sourceId, crawlId } = run
  const settled = await ports.ledger.adopt({ sourceId, crawlId, now: ports.clock.now(), find, record, finds })
  active.note([find, ...finds], ['known', ...settled.finds])
  active.countAdopted(find.url, settled, record.chunks.length)
  await active.events.hasRoom()
  return true
}

async function offerSitemaps(active: ActiveCrawl): Promise<void> {
  const { run, signal, siteUrl } = active
  const fromRobots = await active.robots.sitemaps(siteUrl, signal)
  const limits = { maxEntries: run.limits.sitemapEntries }
  const batch = new Map<string, string[]>()
  let waiting = 0
  const flush = async () => {
    for (const [foundOn, urls] of batch) await active.offer(urls, { depth: 0, foundOn, discovery: 'sitemap' })
    batch.clear()
    waiting = 0
  }
  for await (const find of readSitemaps({ siteUrl, fromRobots, fetchResource: active.fetchResource, limits, signal })) {
    if (find.type === 'page') {
      const urls = batch.get(find.foundOn)
      if (urls === undefined) batch.set(find.foundOn, [find.url])
      else urls.push(find.url)
      if (++waiting >= BATCH) await flush()
      continue
    }
    await flush()
    const { read, failed, cappedBy } = find.report
    for (const { url, entries } of read) {
      active.events.push({ type: 'discovery', discovery: 'sitemap', url, found: entries, detail: `${entries} entries` })
    }
    for (const { url, detail, isAnswered } of failed) {
      active.events.push({ type: 'discovery', discovery: 'sitemap', url, found: 0, detail })
      if (!isAnswered) active.incomplete ??= `${url} could not be read (${detail})`
    }
    if (cappedBy !== null) active.incomplete ??= `the sitemaps list more ${cappedBy} than are read`
  }
}
