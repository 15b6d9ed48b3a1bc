import { escapeRegExp } from '../../core/escape-reg-exp.ts'
import type { Library } from '../library.ts'
import { searchLibrary } from '../search/search-library.ts'
import type { SearchAnswer, SearchInput } from '../search.ts'
import { labelOf, type Source } from '../source.ts'
import { findProject, isOf } from './plan-project.ts'

/**
 * Searches for the project that a folder belongs to: the packages at the versions it uses first, and the other sources if those do not
 * answer. Other versions of its packages are left out, unless the question or the input names one. Without a project, searches everything.
 */
export async function searchProject(
  library: Library,
  input: SearchInput,
  folder: string | undefined,
  signal?: AbortSignal,
): Promise<SearchAnswer> {
  if (folder === undefined) return searchLibrary(library, input, signal)
  const all = await library.store.listSources()
  const project = findProject(all, folder)
  const own = project === undefined ? [] : all.filter((source) => isOf(source, project))
  if (own.length === 0 || input.version !== undefined || (input.sources ?? []).length > 0) {
    return searchLibrary(library, preferOwnVersions(input, own), signal)
  }
  const named = findNamedVersion(input.query, own)
  const chosen = named === undefined ? own : findVersions(all, named)
  if (named !== undefined && chosen.length > 0) return searchLibrary(library, withSources(input, chosen), signal)
  const { cursor, ...first } = input
  const answer = await searchLibrary(library, withSources(first, own), signal)
  const notices =
    named === undefined
      ? []
      : [`${named.name} ${named.version} is not in the library; the project uses ${labelOf(named.own)}`]
  const names = new Set(own.map(({ name }) => name))
  const others = all.filter(({ id, name }) => !names.has(name) && !own.some((source) => source.id === id))
  if (answer.relevance === 'strong' || others.length === 0) {
    const shown = cursor === undefined ? answer : await searchLibrary(library, withSources(input, own), signal)
    return { ...shown, notices: [...notices, ...shown.notices] }
  }
  const wider = await searchLibrary(library, withSources(input, [...own, ...others]), signal)
  return { ...wider, notices: [...notices, ...wider.notices] }
}

/** A name without a version means the version that the project uses. */
function preferOwnVersions(input: SearchInput, own: readonly Source[]): SearchInput {
  if (input.version !== undefined || input.sources === undefined) return input
  const sources = input.sources.map((text) => own.find(({ name }) => name === text.trim())?.id ?? text)
  return { ...input, sources }
}

function withSources(input: SearchInput, sources: readonly Source[]): SearchInput {
  return { ...input, sources: sources.map(({ id }) => id) }
}

interface NamedVersion {
  readonly name: string
  readonly version: string
  /** The version that the project uses. */
  readonly own: Source
}

/** The other version of a package of the project that a question names: `zod 3`, `zod@3.22`, `zod v3`. */
function findNamedVersion(query: string, own: readonly Source[]): NamedVersion | undefined {
  for (const source of own) {
    const { name, version } = source
    const pattern = new RegExp(
      `(?<![\\w/@-])@?${escapeRegExp(name)}(?:\\.js)?[@\\s]\\s*v?(\\d+(?:\\.\\d+)*)(?![\\w.-])`,
      'i',
    )
    const [, given] = pattern.exec(query) ?? []
    if (given !== undefined && !isVersion(version, given)) return { name, version: given, own: source }
  }
  return undefined
}

function findVersions(all: readonly Source[], { name, version }: NamedVersion): Source[] {
  return all.filter((source) => source.name === name && isVersion(source.version, version))
}

/** Whether a version is the given one, or one of its line: `3.22.4` is of `3` and of `3.22`. */
function isVersion(version: string | null, given: string): boolean {
  return version === given || version?.startsWith(`${given}.`) === true
}
