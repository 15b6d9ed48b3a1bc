import { PharosError } from '../../core/errors.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import { ambiguousSource, matchSources, unknownSource } from './find-source.ts'
import {
  chooseVersion,
  describeDoubts,
  isComplete,
  type VersionChoice,
  writeIncomplete,
  writeVersions,
} from './find-version.ts'

/** Which sources are to be searched. */
export interface SourceChoiceInput {
  /** Ids, names, name@version, name@range or start URLs. @default all sources */
  readonly sources?: readonly string[] | undefined
  /** A version, a range, a name such as `stable`, `latest`, or `*` for all versions. */
  readonly version?: string | undefined
}

/** The sources that are meant. */
export interface ChosenSources {
  readonly sources: readonly Source[]
  /** What a reader has to know about the choice, one sentence each. */
  readonly notices: readonly string[]
}

/**
 * Chooses the sources that are meant. A name alone means its newest complete version; without names and version everything is
 * meant. A version without names holds for every name that has it.
 */
export async function chooseSources(
  library: Library,
  { sources: texts = [], version }: SourceChoiceInput,
): Promise<ChosenSources> {
  const all = await library.store.listSources()
  if (texts.length === 0)
    return version === undefined ? { sources: all, notices: [] } : chooseAll(library, all, version)
  const chosen = new Set<Source>()
  const notices = new Set<string>()
  for (const text of texts) {
    const { sources, notices: own } = await chooseNamed(library, all, text.trim(), version)
    for (const source of sources) chosen.add(source)
    for (const notice of own) notices.add(notice)
  }
  return { sources: [...chosen], notices: [...notices] }
}

/** Stands for all versions. */
const ANY = '*'

/** What is meant by one text. */
async function chooseNamed(
  library: Library,
  all: readonly Source[],
  text: string,
  version: string | undefined,
): Promise<ChosenSources> {
  const { candidates, target } = readText(all, text, library.folders?.addressOf(text))
  const [first, ...others] = candidates
  if (first === undefined) throw unknownSource(library, text, all)
  if (candidates.some(({ name }) => name !== first.name)) throw ambiguousSource(text, candidates)
  const asked = target ?? version?.trim()
  if (asked === ANY) return { sources: candidates, notices: [] }
  if (others.length === 0 && isLatest(asked)) {
    return { sources: [first], notices: (await isComplete(library, first)) ? [] : [writeIncomplete(first)] }
  }
  const choice = await chooseVersion(library, candidates, asked)
  const source = choice.best?.source ?? (isLatest(asked) ? first : undefined)
  if (source === undefined) throw unknownVersion(choice.target, first.name, writeVersions(choice.versions))
  return { sources: [source], notices: [...writeChoice(source, choice), ...describeDoubts(choice)] }
}

/** The sources that a text can mean, and the version in it, where that is more than the label of one. */
function readText(
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

/** The version that is meant, of every name that has it. */
async function chooseAll(library: Library, all: readonly Source[], version: string): Promise<ChosenSources> {
  const asked = version.trim()
  if (asked === ANY || all.length === 0) return { sources: all, notices: [] }
  const chosen: Source[] = []
  const notices: string[] = []
  let leftOut = 0
  for (const one of new Set(all.map(({ name }) => name))) {
    const named = all.filter(({ name }) => name === one)
    const choice = await chooseVersion(library, named, asked)
    const isOnly = choice.versions.length === 0
    if (choice.best !== null) chosen.push(choice.best.source)
    else if (isOnly && isLatest(asked)) chosen.push(...named)
    else if (isOnly) leftOut += named.length
    notices.push(...describeDoubts(choice))
  }
  if (chosen.length === 0) {
    const labels = all.filter((source) => source.version !== null).map(labelOf)
    throw unknownVersion(asked, 'any source', labels.slice(0, MAX_LABELS).join(', '))
  }
  if (leftOut > 0) notices.push(`${leftOut === 1 ? '1 source' : `${leftOut} sources`} without a version left out`)
  return { sources: chosen, notices }
}

const MAX_LABELS = 20

function unknownVersion(version: string, name: string, versions: string): PharosError {
  const there = versions === '' ? '; there are only docs without a version' : `; there are ${versions}`
  return new PharosError('VERSION_UNKNOWN', { version, name, versions: there })
}

/** Says which one was taken, where there was a choice. */
function writeChoice(source: Source, { versions, hasUnversioned }: VersionChoice): string[] {
  const others = [
    ...(versions.length > 1 ? [`versions: ${writeVersions(versions)}`] : []),
    ...(hasUnversioned && versions.length > 0 ? ['also docs without a version'] : []),
  ]
  return others.length === 0 ? [] : [`searched ${labelOf(source)}; ${others.join('; ')}`]
}

function isLatest(asked: string | undefined): boolean {
  return asked === undefined || asked === '' || asked.toLowerCase() === 'latest'
}
