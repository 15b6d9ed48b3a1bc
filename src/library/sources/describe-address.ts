import type { PageClass } from '../../core/model.ts'
import { looseKey, toggleSlash } from '../../core/url/key.ts'
import { isExistingAddress, type LedgerRow } from '../../crawl/ledger.ts'
import type { Alias } from '../../crawl/settlement.ts'
import type { Library } from '../library.ts'
import type { HubVerdict, StoredAnalysis, StoredHub } from '../ports/findings.ts'
import type { StoredNote } from '../ports/job-log.ts'
import type { PageText } from '../ports/store.ts'
import { isTree, keysOf } from '../ports/tree.ts'
import { findNearestPage } from '../search/nearest-page.ts'
import type { Source } from '../source.ts'
import { listKeysOf } from './address-keys.ts'
import { type Explanation, explainUrl } from './explain.ts'

/** All known facts about an address. */
export interface AddressDescription {
  readonly url: string
  /** Facts per source; empty if the address was never seen. */
  readonly known: readonly KnownAddress[]
  /** The place hub at this address, if any. */
  readonly hub: StoredHub | null
  /** The assumption of a plan about the address, and its result. */
  readonly verdict: HubVerdict | null
  /** Problems of crawls with this address, newest first. */
  readonly problems: readonly StoredNote[]
  /** Why the address may be missing; null if it is known. */
  readonly unknown: UnknownAddress | null
}

/** Facts about an address in one source. */
export interface KnownAddress {
  readonly source: Source
  readonly row: LedgerRow
  /** The row of the address that has the content, if it is another address. */
  readonly target: LedgerRow | null
  readonly aliases: readonly OtherAddress[]
  /** Why the current scope refuses the address; null if it admits the address. */
  readonly refusal: Explanation['refusal']
  readonly text: PageText | null
  readonly storedAnalysis: StoredAnalysis | null
}

/** Another address with the same content, and its state. */
export interface OtherAddress extends Alias {
  /** The address of the pair that was not requested. */
  readonly other: string
  /** Whether the other address has content; null before it is visited. */
  readonly isThere: boolean | null
  readonly row: LedgerRow | null
  /** Class of the page at the other address. */
  readonly kind: PageClass | null
}

/** Facts about an address that was never seen. */
export interface UnknownAddress {
  /** Whether the text is a valid address. */
  readonly isAddress: boolean
  /** The stored page with the most similar address. */
  readonly nearest: string | null
  /** What the scopes of sources say about the address: of those at its host, or else of others. Scopes that admit it come first. */
  readonly scopeResults: readonly { readonly source: Source; readonly explanation: Explanation }[]
}

/** Maximum number of sources checked for an unknown address. */
const MAX_SOURCES = 10
/** Number of recent problems of the host to search. */
const MAX_PROBLEMS = 500

/** Collects the history of an address: how it was found, what happened to it and what its page contains. Fetches nothing. */
export async function describeAddress(library: Library, url: string): Promise<AddressDescription> {
  const { store, addresses } = library
  const [exact, sources] = await Promise.all([addresses?.find(url) ?? [], store.listSources()])
  // A user need not know whether an address ends with a slash.
  const other = exact.length > 0 ? undefined : toggleSlash(url)
  const entries = other === undefined ? exact : ((await addresses?.find(other)) ?? [])
  const known: KnownAddress[] = []
  for (const { source, keys } of entries.length > 0 ? locate(entries, sources) : locateFile(library, sources, url)) {
    let row: LedgerRow | undefined
    for (const key of keys) row ??= await store.findRow(source.id, key)
    if (row !== undefined) known.push(await describeKnown(library, source, row))
  }
  const spelling = known[0]?.row.url ?? url
  const host = URL.parse(spelling)?.host ?? ''
  return {
    url: spelling,
    known,
    hub: (await library.findings?.findHub(spelling)) ?? null,
    verdict: await findVerdict(library, spelling),
    problems: await listProblems(library, host, spelling),
    unknown: known.length > 0 ? null : await describeUnknown(library, sources, url, host),
  }
}

/** A source and the keys under which it may store an address, likeliest first. */
interface AddressLocation {
  readonly source: Source
  readonly keys: readonly string[]
}

function locate(
  entries: readonly { readonly sourceId: string; readonly key: string }[],
  sources: readonly Source[],
): AddressLocation[] {
  return entries.flatMap(({ sourceId, key }) => {
    const source = sources.find(({ id }) => id === sourceId)
    return source === undefined ? [] : [{ source, keys: [key] }]
  })
}

/** Locates a file of a tree by its address: the keys of such files are their paths, so a lookup by address does not find them. */
function locateFile(library: Library, sources: readonly Source[], url: string): AddressLocation[] {
  return sources.filter(isTree).map((source) => ({ source, keys: keysOf(library, source, url) }))
}

async function describeKnown(library: Library, source: Source, row: LedgerRow): Promise<KnownAddress> {
  const { store, findings } = library
  const { url, key } = row
  const hasOtherTarget = row.target !== null && row.target !== key
  const aliases: OtherAddress[] = []
  for (const alias of await store.listAliases(source.id, url)) {
    aliases.push(await describeAlias(library, source, alias, url))
  }
  // The scope does not apply to ledger rows that are not addresses, or to files.
  const hasScope = URL.canParse(url) && !isTree(source)
  return {
    source,
    row,
    target: hasOtherTarget ? ((await store.findRow(source.id, row.target ?? '')) ?? null) : null,
    aliases,
    refusal: hasScope ? (await explainUrl(library, source, url)).refusal : null,
    text: (await store.readPageText(source.id, key)) ?? null,
    storedAnalysis: (await findings?.readAnalysis(source.id, key)) ?? null,
  }
}

async function describeAlias(
  { store, readClass }: Pick<Library, 'readClass' | 'store'>,
  { id }: Source,
  alias: Alias,
  requestedUrl: string,
): Promise<OtherAddress> {
  const other = alias.aliasUrl === requestedUrl ? alias.url : alias.aliasUrl
  let row: LedgerRow | null = null
  // Begins with the key that keeps query and session, because an address that needs them has a row of its own.
  for (const key of listKeysOf(other).toReversed()) row ??= (await store.findRow(id, key)) ?? null
  const kind = row?.hasPage === true ? ((await readClass?.(id, row.key)) ?? null) : null
  return { ...alias, other, row, isThere: row === null ? null : isExistingAddress(row), kind }
}

/** Finds the verdict of a plan under any spelling of the address. */
async function findVerdict({ findings }: Pick<Library, 'findings'>, url: string): Promise<HubVerdict | null> {
  let found: HubVerdict | undefined
  for (const key of listKeysOf(url)) {
    found ??= (await findings?.findVerdict(key)) ?? (await findings?.findVerdict(`${key}/`))
  }
  return found ?? null
}

async function listProblems(
  { jobLog }: Pick<Library, 'jobLog'>,
  host: string,
  url: string,
): Promise<readonly StoredNote[]> {
  if (jobLog === undefined || host === '') return []
  const problems = await jobLog.listProblems({ scope: host, limit: MAX_PROBLEMS })
  return problems.filter(({ target }) => target !== null && isSame(URL.parse(target, url)?.href ?? target, url))
}

/** Whether two texts spell the same address. */
function isSame(one: string, other: string): boolean {
  return one === other || looseKey(one) === looseKey(other)
}

async function describeUnknown(
  library: Pick<Library, 'clock' | 'limits' | 'store' | 'trees'>,
  sources: readonly Source[],
  url: string,
  host: string,
): Promise<UnknownAddress> {
  const isAddress = URL.canParse(url)
  const sites = isAddress ? sources.filter((source) => !isTree(source)) : []
  const onHost = sites.filter(({ siteUrl }) => URL.parse(siteUrl)?.host === host)
  const scopeResults = await Promise.all(
    // Every source of another site gives the same reason, which explains nothing if there are sources of this site.
    (onHost.length > 0 ? onHost : sites).slice(0, MAX_SOURCES).map(async (source) => {
      return { source, explanation: await explainUrl(library, source, url) }
    }),
  )
  const refusalRank = ({ explanation: { refusal } }: { readonly explanation: Explanation }) => Number(refusal !== null)
  return {
    isAddress,
    nearest: (await findNearestPage(library, sources, url)) ?? null,
    scopeResults: scopeResults.toSorted((a, b) => refusalRank(a) - refusalRank(b)),
  }
}
