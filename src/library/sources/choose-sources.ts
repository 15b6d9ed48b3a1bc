import { PharosError } from '../../core/errors.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { Library, SourceLookup, SourceState } from '../library.ts'
import { quoteSpaced, writeLabel } from '../search/display-text.ts'
import type { PartialSource } from '../search.ts'
import type { Source } from '../source.ts'
import { ambiguousSource, matchSources, unknownSource } from './find-source.ts'
import {
  chooseVersion,
  describeDoubts,
  isComplete,
  type VersionChoice,
  writeIncomplete,
  writeVersions,
} from './find-version.ts'
import { readShortfall } from './source-status.ts'

/** Selects the sources to search. */
export interface SourceChoiceInput {
  /** Ids, names, name@version, name@range or start addresses. @default all sources */
  readonly sources?: readonly string[] | undefined
  /** A version, a range, a label such as `stable`, `latest`, or `*` for all versions. */
  readonly version?: string | undefined
}

/** The selected sources. */
export interface ChosenSources {
  readonly sources: readonly Source[]
  /** Notices about the selection, one sentence each. */
  readonly notices: readonly string[]
  /** Whether every source is selected. */
  readonly isAll: boolean
  /** Ids of incomplete sources that share their name with others. An incomplete version is not preferred, even if it is newer. */
  readonly incomplete: ReadonlySet<string>
}

/** Selected sources and notices about them. */
type Choice = Pick<ChosenSources, 'sources' | 'notices'>

/**
 * Selects sources. A name alone selects its newest complete version. Without names and version, all sources are selected, except incomplete
 * ones whose name also has a complete source. A version without names applies to every name that has it.
 */
export async function chooseSources(
  library: SourceLookup,
  { sources: texts = [], version }: SourceChoiceInput,
): Promise<ChosenSources> {
  const all = await library.store.listSources()
  const incomplete = await findIncomplete(library, all)
  const { sources, notices } =
    texts.length > 0
      ? await chooseEach(library, all, texts, version)
      : version === undefined
        ? leaveOutIncomplete(all, incomplete)
        : await chooseAll(library, all, version)
  const importNotices = await listHalfImported(library, sources.slice(0, MAX_LABELS))
  return { sources, notices: [...notices, ...importNotices], isAll: sources.length === all.length, incomplete }
}

/** Describes sources that lack pages, one sentence each; many sources not requested by name share one sentence. */
export function writePartial(partial: readonly PartialSource[], isNamed: boolean): string[] {
  if (isNamed || partial.length <= MAX_PARTIAL) return partial.map((one) => writeIncomplete(one.source, one.shortfall))
  return [`PARTIAL: ${partial.map(({ source }) => writeLabel(source)).join(', ')}`]
}

/** Maximum number of partial sources described individually when none was requested by name. */
const MAX_PARTIAL = 3

/** Reports sources whose import is incomplete: results may mix old and new pages. */
async function listHalfImported({ store }: Pick<Library, 'store'>, sources: readonly Source[]): Promise<string[]> {
  const notices: string[] = []
  for (const source of sources) {
    if (treeKindOf(source.url) !== 'import') continue
    const [last] = await store.listCrawls(source.id, 1)
    if (last === undefined || last.state === 'completed') continue
    notices.push(
      `the import of ${writeLabel(source)} was interrupted: it mixes old and new pages until the import is complete`,
    )
  }
  return notices
}

/** Lists those of the first MAX_LABELS sources that lack pages. */
export async function listPartial(library: SourceState, sources: readonly Source[]): Promise<PartialSource[]> {
  const partial: PartialSource[] = []
  for (const source of sources.slice(0, MAX_LABELS)) {
    if (treeKindOf(source.url) === 'import') continue
    const shortfall = await readShortfall(library, source)
    if (shortfall !== null) partial.push({ source, shortfall })
  }
  return partial
}

/** Returns the ids of incomplete sources among those that share their name with others. */
async function findIncomplete(library: Pick<Library, 'store'>, all: readonly Source[]): Promise<ReadonlySet<string>> {
  const counts = new Map<string, number>()
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1)
  const incomplete = new Set<string>()
  for (const source of all) {
    if ((counts.get(source.name) ?? 0) > 1 && !(await isComplete(library, source))) incomplete.add(source.id)
  }
  return incomplete
}

/** Leaves out incomplete sources if a complete one has the same name. */
function leaveOutIncomplete(all: readonly Source[], incomplete: ReadonlySet<string>): Choice {
  if (incomplete.size === 0) return { sources: all, notices: [] }
  const complete = new Set(all.filter(({ id }) => !incomplete.has(id)).map(({ name }) => name))
  const isLeftOut = ({ id, name }: Source) => incomplete.has(id) && complete.has(name)
  const labels = all.filter(isLeftOut).map(writeLabel)
  const notices = labels.length === 0 ? [] : [`left out as incomplete: ${writeSome(labels)}; name it to search it`]
  return { sources: all.filter((source) => !isLeftOut(source)), notices }
}

/** Resolves several texts to sources. */
async function chooseEach(
  library: SourceLookup,
  all: readonly Source[],
  texts: readonly string[],
  version: string | undefined,
): Promise<Choice> {
  const chosen = new Set<Source>()
  const notices = new Set<string>()
  for (const text of texts) {
    const { sources, notices: own } = await chooseNamed(library, all, text.trim(), version)
    for (const source of sources) chosen.add(source)
    for (const notice of own) notices.add(notice)
  }
  return { sources: [...chosen], notices: [...notices] }
}

/** Version text that selects all versions. */
const ANY = '*'

/** Resolves one text to sources. A version in the text and `version` must both match. */
async function chooseNamed(
  library: SourceLookup,
  all: readonly Source[],
  text: string,
  version: string | undefined,
): Promise<Choice> {
  const { candidates, target } = parseSourceText(all, text, library.trees?.addressOf(text))
  const [first] = candidates
  if (first === undefined) throw unknownSource(library, text, all)
  if (candidates.some(({ name }) => name !== first.name)) throw ambiguousSource(text, candidates)
  const option = version?.trim()
  if (target === undefined || target === ANY) return chooseAmong(library, candidates, option ?? target, first.name)
  if (option === undefined || isLatest(option)) return chooseAmong(library, candidates, target, first.name)
  return chooseAmong(library, await filterByVersion(library, candidates, target), option, text)
}

/** Filters sources of one name by version. */
async function filterByVersion(
  library: SourceState,
  candidates: readonly Source[],
  target: string,
): Promise<readonly Source[]> {
  const { best, among } = await chooseVersion(library, candidates, target)
  if (best === null) throw unknownVersion(target, candidates[0]?.name ?? '', writeVersions(among))
  return candidates.filter((source) => {
    return isLatest(target) ? source === best.source : among.some((version) => version.source === source)
  })
}

/** Selects the version among sources of one name. */
async function chooseAmong(
  library: SourceState,
  candidates: readonly Source[],
  requested: string | undefined,
  name: string,
): Promise<Choice> {
  if (requested === ANY) return { sources: candidates, notices: [] }
  const [first, ...others] = candidates
  if (first !== undefined && others.length === 0 && isLatest(requested)) {
    if (await isComplete(library, first)) return { sources: [first], notices: [] }
    return { sources: [first], notices: [writeIncomplete(first, await readShortfall(library, first))] }
  }
  const choice = await chooseVersion(library, candidates, requested)
  const source = choice.best?.source ?? (isLatest(requested) ? first : undefined)
  if (source === undefined) throw unknownVersion(choice.target, name, writeVersions(choice.versions))
  return { sources: [source], notices: [...writeChoice(source, choice), ...describeDoubts(choice)] }
}

/** Returns the sources that a text may name, and the version after its `@` if the whole text names no source. */
function parseSourceText(
  all: readonly Source[],
  text: string,
  address: string | undefined,
): { readonly candidates: Source[]; readonly target?: string } {
  const named = all.filter(({ name }) => name === text)
  const candidates = named.length > 0 ? named : matchSources(all, text, address)
  const at = text.indexOf('@')
  if (candidates.length > 0 || at < 1) return { candidates }
  return { candidates: all.filter(({ name }) => name === text.slice(0, at)), target: text.slice(at + 1).trim() }
}

/** Selects a version for every name that has it. */
async function chooseAll(library: SourceState, all: readonly Source[], version: string): Promise<Choice> {
  const requested = version.trim()
  if (requested === ANY || all.length === 0) return { sources: all, notices: [] }
  const chosen: Source[] = []
  const notices: string[] = []
  let leftOut = 0
  for (const sharedName of new Set(all.map(({ name }) => name))) {
    const candidates = all.filter(({ name }) => name === sharedName)
    const choice = await chooseVersion(library, candidates, requested)
    const hasNoVersions = choice.versions.length === 0
    if (choice.best !== null) chosen.push(choice.best.source)
    else if (hasNoVersions && isLatest(requested)) chosen.push(...candidates)
    else if (hasNoVersions) leftOut += candidates.length
    notices.push(...describeDoubts(choice))
  }
  if (chosen.length === 0) {
    const versioned = all.filter((source) => source.version !== null)
    throw unknownVersion(requested, 'any source', writeSome(versioned.map(writeLabel)))
  }
  if (leftOut > 0) notices.push(`${leftOut === 1 ? '1 source' : `${leftOut} sources`} without a version left out`)
  return { sources: chosen, notices }
}

const MAX_LABELS = 20

/** Joins the first `MAX_LABELS` labels and counts the rest. */
function writeSome(labels: readonly string[]): string {
  const more = labels.length - MAX_LABELS
  return more > 0 ? `${labels.slice(0, MAX_LABELS).join(', ')} and ${more} more` : labels.join(', ')
}

/** Creates the error for a version that no source of the name has. */
export function unknownVersion(version: string, name: string, versions: string): PharosError {
  const list = versions === '' ? '; there are none' : `; there are ${versions}`
  return new PharosError('VERSION_UNKNOWN', { version, name, versions: list })
}

/** Reports the selected version if there was a choice. */
function writeChoice(source: Source, { versions, hasUnversioned }: VersionChoice): string[] {
  const others = [
    ...(versions.length > 1 ? [`versions: ${writeVersions(versions)}`] : []),
    ...(hasUnversioned && versions.length > 0 ? [`there is also ${quoteSpaced(source.name)} without a version`] : []),
  ]
  return others.length === 0 ? [] : [`searched ${writeLabel(source)}; ${others.join('; ')}`]
}

function isLatest(requested: string | undefined): boolean {
  return requested === undefined || requested === '' || requested.toLowerCase() === 'latest'
}
