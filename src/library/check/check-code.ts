import { isExportedAt } from '../../core/changes/internal-symbols.ts'
import { isApiPage } from '../../core/changes/read-symbols.ts'
import { splitLines } from '../../core/text/lines.ts'
import type { SourceLookup } from '../library.ts'
import type { CheckedCode, CheckedPlace, CodeChecker, CodeInput } from '../ports/code-checker.ts'
import { withoutVersion } from '../projects/plan-project.ts'
import { findPage } from '../search/find-page.ts'
import { listSymbols, type SymbolEntry } from '../search/list-symbols.ts'
import { labelOf, type Source } from '../source.ts'

/** At most this many names are looked up in the library. */
const MAX_NAMES = 20

/**
 * Looks up each import, member, option and call of code in the declarations of the packages that the project has locked. What is missing
 * there is looked up in other versions of the library, and imports of packages that are not installed in their pages.
 */
export async function checkCode(
  checker: CodeChecker,
  input: CodeInput,
  openLibrary: () => Promise<SourceLookup | undefined>,
): Promise<CheckedCode> {
  const checked = await checker.check(input)
  const open = checked.places.filter(isOpen)
  const library = open.length === 0 ? undefined : await openLibrary()
  if (library === undefined) return checked
  const sources = await library.store.listSources()
  const answers = new Map<CheckedPlace, CheckedPlace>()
  for (const place of open.slice(0, MAX_NAMES)) answers.set(place, await askLibrary(library, place, sources))
  return { ...checked, places: checked.places.map((place) => answers.get(place) ?? place) }
}

/** Whether the library may know more about a place. */
function isOpen({ kind, verdict, address }: CheckedPlace): boolean {
  return address !== null && (verdict === 'not in this version' || (verdict === 'unknown' && kind === 'import'))
}

async function askLibrary(
  library: SourceLookup,
  place: CheckedPlace,
  sources: readonly Source[],
): Promise<CheckedPlace> {
  const address = place.address ?? ''
  const versions = sources.filter(({ url }) => withoutVersion(url) === withoutVersion(address))
  if (place.verdict === 'unknown') {
    // Of the same version from several registries, it is not known which one the code uses: all must have the name.
    const own = versions.filter(({ url }) => url === address)
    const found = await Promise.all(own.map((source) => findSymbol(library, source, place)))
    const [first] = found
    if (first === undefined || found.includes(undefined)) return place
    return { ...place, verdict: 'exists', declaredAt: first.url, why: '' }
  }
  const inVersions: string[] = []
  for (const source of versions) {
    if (source.url !== address && (await findSymbol(library, source, place)) !== undefined) {
      inVersions.push(labelOf(source))
    }
  }
  return { ...place, inVersions }
}

/** The definition of a name on the pages of a source. */
async function findSymbol(
  library: SourceLookup,
  source: Source,
  { name, kind }: CheckedPlace,
): Promise<SymbolEntry | undefined> {
  const last = lastName(name)
  if (last === '') return undefined
  const { symbols } = await listSymbols(library, { source: source.id, prefix: last })
  const found = symbols.filter((symbol) => lastName(symbol.name) === last)
  return kind === 'import' ? findExported(library, source, found) : found[0]
}

/** The definition that code can import. API pages also have members, and types that are not exported; other pages do not tell. */
async function findExported(
  library: SourceLookup,
  source: Source,
  symbols: readonly SymbolEntry[],
): Promise<SymbolEntry | undefined> {
  let other: SymbolEntry | undefined
  let isDescribed = false
  for (const symbol of symbols) {
    const { url, markdown } = await findPage(library, { url: symbol.url, source: source.id })
    if (isApiPage({ path: url, markdown })) {
      isDescribed = true
      if (isExportedAt(splitLines(markdown), symbol.line)) return symbol
    } else other ??= symbol
  }
  return isDescribed ? undefined : other
}

/** `new a.b()` → `b` */
function lastName(name: string): string {
  return /([\w$]+)\W*$/.exec(name)?.[1] ?? ''
}
