import type { PageClass } from '../../core/model.ts'
import { looseKey, toggleSlash } from '../../core/url/key.ts'
import { type Alias, isThere, type LedgerRow } from '../../crawl/ledger.ts'
import type { HubVerdict } from '../../plan/plan-memory.ts'
import { listKeysOf } from '../address-keys.ts'
import type { KeptAnalysis } from '../analyses.ts'
import type { KeptNote } from '../job-log.ts'
import type { Library } from '../library.ts'
import type { KeptHub } from '../place-hubs.ts'
import type { Source } from '../source.ts'
import type { PageText } from '../store.ts'
import { isTree } from '../tree.ts'
import { type Explanation, explainUrl } from './explain.ts'
import { findNearestPage } from './nearest-page.ts'

/** Everything that is known about an address. */
export interface AddressStory {
  readonly url: string
  /** What each source knows of it; none where nobody has seen it. */
  readonly known: readonly KnownAddress[]
  /** Where it leads to what is about a place. */
  readonly hub: KeptHub | null
  /** What a plan supposed of it, and what that came to. */
  readonly verdict: HubVerdict | null
  /** Problems of crawls that name it, newest first. */
  readonly problems: readonly KeptNote[]
  /** Why it may not be there; null where it is. */
  readonly unknown: UnknownAddress | null
}

/** What one source knows of an address. */
export interface KnownAddress {
  readonly source: Source
  readonly row: LedgerRow
  /** The one that holds its content, where that is another. */
  readonly target: LedgerRow | null
  readonly aliases: readonly OtherAddress[]
  /** What the scope would say of it now; null lets it through. */
  readonly refusal: Explanation['refusal']
  readonly text: PageText | null
  readonly kept: KeptAnalysis | null
}

/** Another address of the same content, and what is there. */
export interface OtherAddress extends Alias {
  /** The one of the two that was not asked for. */
  readonly other: string
  /** Whether something is there; null while nobody has looked. */
  readonly isThere: boolean | null
  readonly row: LedgerRow | null
  /** What kind of page it turned out to be. */
  readonly kind: PageClass | null
}

/** What can be said of an address that nobody has seen. */
export interface UnknownAddress {
  /** Whether it can be read as an address at all. */
  readonly isAddress: boolean
  /** The page that is stored and has the most similar address. */
  readonly nearest: string | null
  /** What the sources would do with it, those of its host first. */
  readonly verdicts: readonly { readonly source: Source; readonly explanation: Explanation }[]
}

/** How many sources are asked what they would do with an address that none of them knows. */
const MOST_SOURCES = 10
/** Among so many of the last problems of its host are those that name it. */
const MOST_PROBLEMS = 500

/** Tells the story of an address: how it became known, what became of it and what is known of what is there. Nothing is fetched. */
export async function describeAddress(library: Library, url: string): Promise<AddressStory> {
  const { store, addresses } = library
  const [exact, sources] = await Promise.all([addresses?.find(url) ?? [], store.listSources()])
  // People need not know whether an address ends in a slash.
  const other = exact.length > 0 ? undefined : toggleSlash(url)
  const entries = other === undefined ? exact : ((await addresses?.find(other)) ?? [])
  const known: KnownAddress[] = []
  for (const { sourceId, key } of entries) {
    const source = sources.find(({ id }) => id === sourceId)
    const row = source === undefined ? undefined : await store.findRow(source.id, key)
    if (source !== undefined && row !== undefined) known.push(await describeKnown(library, source, row))
  }
  const spelling = known[0]?.row.url ?? url
  const host = URL.parse(spelling)?.host ?? ''
  return {
    url: spelling,
    known,
    hub: (await library.placeHubs?.find(spelling)) ?? null,
    verdict: await findVerdict(library, spelling),
    problems: await listProblems(library, host, spelling),
    unknown: known.length > 0 ? null : await describeUnknown(library, sources, url, host),
  }
}

async function describeKnown(library: Library, source: Source, row: LedgerRow): Promise<KnownAddress> {
  const { store, analyses } = library
  const { url, key } = row
  const isElsewhere = row.target !== null && row.target !== key
  const aliases: OtherAddress[] = []
  for (const alias of await store.listAliases(source.id, url)) {
    aliases.push(await describeAlias(library, source, alias, url))
  }
  // Links that are no addresses are in the ledger as well, and the scope says nothing about them, nor about files.
  const isJudged = URL.canParse(url) && !isTree(source)
  return {
    source,
    row,
    target: isElsewhere ? ((await store.findRow(source.id, row.target ?? '')) ?? null) : null,
    aliases,
    refusal: isJudged ? (await explainUrl(library, source, url)).refusal : null,
    text: (await store.readPageText(source.id, key)) ?? null,
    kept: (await analyses?.read(source.id, key)) ?? null,
  }
}

async function describeAlias(
  { store, analyses }: Library,
  { id }: Source,
  alias: Alias,
  asked: string,
): Promise<OtherAddress> {
  const other = alias.aliasUrl === asked ? alias.url : alias.aliasUrl
  let row: LedgerRow | null = null
  // Where a query or session counts, an address has a row of its own with it.
  for (const key of listKeysOf(other).toReversed()) row ??= (await store.findRow(id, key)) ?? null
  const kind = row?.hasPage === true ? ((await analyses?.readClass(id, row.key)) ?? null) : null
  return { ...alias, other, row, isThere: row === null ? null : isThere(row), kind }
}

/** What a plan found out about it, under whichever spelling that is kept. */
async function findVerdict({ placeHubs }: Library, url: string): Promise<HubVerdict | null> {
  let found: HubVerdict | undefined
  for (const key of listKeysOf(url)) {
    found ??= (await placeHubs?.findVerdict(key)) ?? (await placeHubs?.findVerdict(`${key}/`))
  }
  return found ?? null
}

async function listProblems({ jobLog }: Library, host: string, url: string): Promise<readonly KeptNote[]> {
  if (jobLog === undefined || host === '') return []
  const problems = await jobLog.listProblems({ scope: host, limit: MOST_PROBLEMS })
  return problems.filter(({ target }) => target !== null && isSame(URL.parse(target, url)?.href ?? target, url))
}

/** Whether two spellings are of one address. */
function isSame(one: string, other: string): boolean {
  return one === other || looseKey(one) === looseKey(other)
}

async function describeUnknown(
  library: Library,
  sources: readonly Source[],
  url: string,
  host: string,
): Promise<UnknownAddress> {
  const isAddress = URL.canParse(url)
  const isElsewhere = ({ siteUrl }: Source) => Number(URL.parse(siteUrl)?.host !== host)
  const asked = sources.filter((source) => !isTree(source)).toSorted((a, b) => isElsewhere(a) - isElsewhere(b))
  const verdicts = isAddress
    ? await Promise.all(
        asked.slice(0, MOST_SOURCES).map(async (source) => {
          return { source, explanation: await explainUrl(library, source, url) }
        }),
      )
    : []
  return { isAddress, nearest: (await findNearestPage(library, sources, url)) ?? null, verdicts }
}
