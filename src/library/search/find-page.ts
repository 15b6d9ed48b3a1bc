import { PharosError, usageError } from '../../core/errors.ts'
import { suggest } from '../../core/text/nearest.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { compareVersions } from '../../core/version/version.ts'
import type { LedgerRow } from '../../crawl/ledger.ts'
import type { Library, SourceLookup } from '../library.ts'
import type { PageText } from '../ports/store.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources } from '../sources/choose-sources.ts'
import { findKeys } from '../sources/find-keys.ts'
import { isMarkdownPage, resolveDisplayLinks } from './display-links.ts'
import { writeLabel } from './display-text.ts'
import { findNearestPage } from './nearest-page.ts'

/** Which page to find. */
export interface PageInput {
  /** Address of the page, with or without an anchor; with a source, a relative address is enough. */
  readonly url: string
  /** Id, name, name@version or start address. Without it all sources are searched, the newest complete version of each name first. */
  readonly source?: string | undefined
}

/** A stored page with its source. */
export interface FoundPage extends PageText {
  readonly source: Source
}

/** Finds a stored page by an address that leads to it. Fetches nothing. */
export async function findPage(library: SourceLookup, { url, source }: PageInput): Promise<FoundPage> {
  const candidates = await listCandidates(library, source)
  const known: { readonly source: Source; readonly row: LedgerRow }[] = []
  const isPath = source === undefined && !URL.canParse(url)
  const found: { readonly source: Source; readonly page: PageText }[] = []
  for (const candidate of candidates) {
    // An address names one page, but a path may be that of a page in each source. Of several versions, the first counts.
    if (found.some((one) => !isPath || one.source.name === candidate.name)) continue
    for (const key of await findKeys(library, candidate, url)) {
      const row = await findContentRow(library, candidate, key)
      const page = await library.store.readPageText(candidate.id, row?.key ?? key)
      if (page !== undefined) {
        found.push({ source: candidate, page })
        break
      }
      if (row !== undefined) known.push({ source: candidate, row })
    }
  }
  const [first, second] = found
  if (second !== undefined) throw ambiguousPath(url, found)
  if (first !== undefined) return showPage(first.page, first.source)
  const reasons = known.map(({ source: { name, version }, row: { state, reason } }) => {
    return `${writeLabel({ name, version })} has it as ${state}${reason === null ? '' : ` (${reason})`}`
  })
  const isSource = await isSourceName(library, url)
  throw new PharosError('PAGE_UNKNOWN', {
    url: hideCredentials(url),
    library: source ?? library.store.location,
    known: isSource ? IS_SOURCE : reasons.length === 0 ? '' : `: ${reasons.join(', ')}`,
    nearest: isSource ? '' : suggest(await findNearestPage(library, candidates, url)),
  })
}

function ambiguousPath(path: string, found: readonly { readonly source: Source }[]): PharosError {
  const labels = found.slice(0, MAX_NAMED).map(({ source }) => writeLabel(source))
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : ''
  return usageError(`${path} is in several sources: give one of them as source: ${labels.join(', ')}${more}`)
}

/** Maximum number of sources named in an error. */
const MAX_NAMED = 20

function showPage(page: PageText, source: Source): FoundPage {
  return { ...page, source, markdown: isMarkdownPage(page) ? resolveDisplayLinks(source, page) : page.markdown }
}

/** Hint for a source name given instead of an address. */
const IS_SOURCE = ': that is a source, not a page'

/** Whether an error means that a source name was given instead of an address. */
export function isSourceGivenAsPage(error: unknown): error is PharosError {
  return error instanceof PharosError && error.code === 'PAGE_UNKNOWN' && error.details['known'] === IS_SOURCE
}

async function isSourceName({ store }: Pick<Library, 'store'>, text: string): Promise<boolean> {
  return (await store.listSources()).some((source) => [source.id, source.name, labelOf(source)].includes(text))
}

/** Lists the sources to search: newest version of a name first, incomplete versions last. */
async function listCandidates(library: SourceLookup, source: string | undefined): Promise<readonly Source[]> {
  const choice = source === undefined ? { version: '*' } : { sources: [source] }
  const { sources, incomplete } = await chooseSources(library, choice)
  const nameOrder = new Map([...new Set(sources.map(({ name }) => name))].map((name, i) => [name, i]))
  const orderOf = ({ name }: Source) => nameOrder.get(name) ?? 0
  const incompleteRank = ({ id }: Source) => Number(incomplete.has(id))
  return sources.toSorted((a, b) => {
    const byName = orderOf(a) - orderOf(b) || incompleteRank(a) - incompleteRank(b)
    return byName || compareVersions(b.version ?? '', a.version ?? '')
  })
}

/** Returns the row with the content of an address, following targets. */
async function findContentRow(
  { store, limits }: Pick<Library, 'limits' | 'store'>,
  { id }: Source,
  key: string,
): Promise<LedgerRow | undefined> {
  let row = await store.findRow(id, key)
  for (let step = 0; row !== undefined && !row.hasPage && row.target !== null && step < limits.redirects; step++) {
    const next = await store.findRow(id, row.target)
    if (next === undefined) break
    row = next
  }
  return row
}
