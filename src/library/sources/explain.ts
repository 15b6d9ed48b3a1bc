import { PharosError, usageError } from '../../core/errors.ts'
import { writeNumber } from '../../core/text/count.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { toggleSlash } from '../../core/url/key.ts'
import { createAddressFilter } from '../../crawl/addresses/address-filter.ts'
import type { LedgerRow, Refusal } from '../../crawl/ledger.ts'
import type { Alias } from '../../crawl/settlement.ts'
import { findSiteUrl } from '../crawl/find-start.ts'
import type { Library } from '../library.ts'
import type { Crawl } from '../ports/store.ts'
import { isTree, writeFileUrl } from '../ports/tree.ts'
import type { Source } from '../source.ts'
import { findKeys } from './find-keys.ts'
import { createLastRefusalFinder } from './last-refusals.ts'

/** State of an address in the ledger, with reasons. */
export interface Explanation {
  readonly url: string
  readonly key: string
  /** The ledger row; null if the address was never seen. */
  readonly row: LedgerRow | null
  /** The row of the address that has the content, if it is another address. */
  readonly target: LedgerRow | null
  /** For an address never seen: the row of the address that differs only in the trailing slash. */
  readonly other: LedgerRow | null
  readonly aliases: readonly Alias[]
  /** Refusal by the current address filter; null if it admits the address. */
  readonly refusal: Refusal | null
  /** Why a scope given only for the last crawl refused the stored page; null if it did not. */
  readonly lastRefusal: Refusal | null
  /** Why the last crawl failed, in words; null if it did not. */
  readonly lastProblem: string | null
  /** Number of addresses that the last crawl found but did not store, because the ledger was full. */
  readonly overflow: number
  /** Why the last crawl may not have seen every address of the site; null if it saw all. */
  readonly incomplete: string | null
  /** When robots.txt was last read, if it disallows the address; null otherwise. */
  readonly robotsReadAt: number | null
  /** End of the host's back-off; null without one. */
  readonly heldUntil: number | null
}

/** Explains the state of an address. Fetches nothing. */
export async function explainUrl(
  library: Pick<Library, 'clock' | 'limits' | 'store' | 'trees'>,
  source: Source,
  text: string,
): Promise<Explanation> {
  if (isTree(source)) return explainFile(library, source, text)
  const { store } = library
  const siteUrl = await findSiteUrl(library, source)
  const url = URL.parse(text, siteUrl)?.href ?? text
  const now = library.clock.now()
  const filter = createAddressFilter({ startUrl: source.url, siteUrl, scope: source.scope, now })
  const decision = filter.judge(url, 0)
  const row = (await store.findRow(source.id, decision.key)) ?? null
  // A page may link to a text that is not an address.
  if (row === null && !URL.canParse(url))
    throw new PharosError('URL_INVALID', { url: hideCredentials(text), problem: 'it is not an address' })
  const [crawl] = await store.listCrawls(source.id, 1)
  const { heldUntil } = await store.readClock(row?.host ?? new URL(url).host, now)
  const otherKey = row === null ? toggleSlash(decision.key) : undefined
  const hasOtherTarget = row !== null && row.target !== null && row.target !== row.key
  return {
    url: decision.url,
    key: decision.key,
    row,
    target: hasOtherTarget ? ((await store.findRow(source.id, row.target ?? '')) ?? null) : null,
    other: (otherKey !== undefined && (await store.findRow(source.id, otherKey))) || null,
    aliases: await store.listAliases(source.id, decision.url),
    // Trap guards do not apply to an address with a stored page.
    refusal: filter.judge(url, 0, row?.hasPage === true).refusal,
    lastRefusal: await findLastRefusal(library, source, crawl, row),
    lastProblem: problemOf(crawl),
    overflow: crawl?.summary?.overflow ?? 0,
    incomplete: describeIncompleteness(crawl),
    robotsReadAt: row?.reason === 'robots-disallow' ? await findRobotsTime(library, row.url) : null,
    heldUntil: heldUntil > now ? heldUntil : null,
  }
}

/** Why a crawl may not have seen every address; null if it saw all. */
function describeIncompleteness(crawl: Crawl | undefined): string | null {
  if (crawl === undefined) return null
  const { state, summary } = crawl
  if (summary === null) return 'it has not ended yet'
  if (summary.cappedAt !== null) return `it stopped at its page limit of ${writeNumber(summary.cappedAt)}`
  return state === 'cancelled' ? 'it was stopped' : summary.incomplete
}

/** Explains a file of a tree. For a file in a skipped folder, the row of the folder gives the reason. */
async function explainFile(
  library: Pick<Library, 'limits' | 'store' | 'trees'>,
  source: Source,
  text: string,
): Promise<Explanation> {
  const { store } = library
  const [key, ...others] = await findKeys(library, source, text)
  if (key === undefined) throw usageError(`${text} is not in ${source.url}`)
  let found: LedgerRow | undefined
  for (const one of [key, ...others].flatMap(listAbove)) found ??= await store.findRow(source.id, one)
  const shownKey = found === undefined || key.startsWith(found.key) ? key : found.key
  const url = found?.key === shownKey ? found.url : writeFileUrl(source.url, shownKey)
  const [crawl] = await store.listCrawls(source.id, 1)
  return {
    url,
    key: shownKey,
    row: found ?? null,
    target: (found?.target && (await store.findRow(source.id, found.target))) || null,
    other: null,
    aliases: await store.listAliases(source.id, url),
    refusal: null,
    lastRefusal: await findLastRefusal(library, source, crawl, found ?? null),
    lastProblem: problemOf(crawl),
    overflow: crawl?.summary?.overflow ?? 0,
    incomplete: describeIncompleteness(crawl),
    robotsReadAt: null,
    heldUntil: null,
  }
}

async function findRobotsTime({ store }: Pick<Library, 'store'>, url: string): Promise<number | null> {
  return (await store.readRobots(new URL(url).origin))?.fetchedAt ?? null
}

async function findLastRefusal(
  library: Pick<Library, 'limits' | 'store'>,
  source: Source,
  crawl: Crawl | undefined,
  row: LedgerRow | null,
): Promise<Refusal | null> {
  return row === null ? null : (await createLastRefusalFinder(library, source, crawl ?? null))(row)
}

/** Returns why a crawl failed. A crawl that failed at the start leaves no trace in the ledger. */
function problemOf(crawl: Crawl | undefined): string | null {
  return crawl?.summary?.end === 'failed' ? crawl.summary.problem : null
}

/** Lists a path and its parent folders, for example `a/b.md` → `a/b.md`, `a/` */
function listAbove(path: string): string[] {
  const parts = path.split('/')
  return [path, ...parts.slice(0, -1).map((_, i) => `${parts.slice(0, parts.length - 1 - i).join('/')}/`)]
}
