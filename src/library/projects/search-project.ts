import { escapeRegExp } from '../../core/escape-reg-exp.ts'
import type { Library } from '../library.ts'
import { writeLabel } from '../search/display-text.ts'
import { searchLibrary } from '../search/search-library.ts'
import type { SearchAnswer, SearchInput } from '../search.ts'
import type { Source } from '../source.ts'
import { findProject, isUsedBy, titleOf, withoutVersion } from './plan-project.ts'

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
  const own = project === undefined ? [] : all.filter((source) => isUsedBy(source, project))
  if (own.length === 0 || input.version !== undefined || (input.sources ?? []).length > 0) {
    return searchLibrary(library, preferOwnVersions(input, own), signal)
  }
  const named = findNamedVersion(input.query, own, all)
  if (named !== undefined && named.found.length > 0)
    return searchLibrary(library, withSources(input, named.found), signal)
  const { cursor, ...first } = input
  const answer = await searchLibrary(library, withSources(first, own), signal)
  const notices =
    named === undefined
      ? []
      : [`${named.name} ${named.version} is not in the library; the project uses ${writeLabel(named.own)}`]
  const packages = new Set(own.map(({ url }) => withoutVersion(url)))
  const others = all.filter(({ url }) => !packages.has(withoutVersion(url)))
  if (answer.relevance === 'strong' || others.length === 0) {
    const shown = cursor === undefined ? answer : await searchLibrary(library, withSources(input, own), signal)
    return { ...shown, notices: [...notices, ...shown.notices] }
  }
  const wider = await searchLibrary(library, withSources(input, [...own, ...others]), signal)
  return { ...wider, notices: [...notices, ...wider.notices] }
}

/** A name without a version means the versions that the project uses. */
function preferOwnVersions(input: SearchInput, own: readonly Source[]): SearchInput {
  if (input.version !== undefined || input.sources === undefined) return input
  const sources = input.sources.flatMap((text) => {
    const named = own.filter(({ name, url }) => name === text.trim() || titleOf(url) === text.trim())
    return named.length === 0 ? [text] : named.map(({ id }) => id)
  })
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
  /** Sources of the library with the named version. */
  readonly found: readonly Source[]
}

/** The other version of a package of the project that a question names, with the version of the project if the question names both. */
function findNamedVersion(query: string, own: readonly Source[], all: readonly Source[]): NamedVersion | undefined {
  for (const source of own) {
    const name = titleOf(source.url)
    const versions = listVersions(query, name)
    const others = versions.filter(({ version }) => !isVersion(source.version, version))
    const same = all.filter(({ url }) => withoutVersion(url) === withoutVersion(source.url))
    for (const { version, isCertain } of others) {
      const found = same.filter((other) => isVersion(other.version, version))
      if (found.length === 0 && !isCertain) continue
      const both = found.length > 0 && others.length < versions.length ? [...found, source] : found
      return { name, version, own: source, found: both }
    }
  }
  return undefined
}

/**
 * The versions of a package that a question names: `zod@3.22`, `zod (v3)`, `zod 3.x`, `version 3 of zod`, `in zod 3?`. A number inside of a
 * sentence counts only if the library has such a version: `retry 3 times` names none.
 */
function listVersions(query: string, title: string): { readonly version: string; readonly isCertain: boolean }[] {
  const name = title.split('-').map(escapeRegExp).join('[-\\s]')
  const version = '(\\d+(?:\\.\\d+)*)(?:\\.x)*'
  const sign = '(@\\s*v?|-v?|[\\s(]+(?:version\\s+|v\\s*)?)'
  const after = new RegExp(`(?<![\\w/@-])${name}(?:\\.js)?${sign}${version}(?![\\w.-]*\\w)`, 'gi')
  const before = new RegExp(
    `(?<![\\w.@-])(?:version\\s+|v\\s*)${version}\\s+of\\s+(?:the\\s+)?${name}(?![\\w/-])`,
    'gi',
  )
  return [
    ...[...query.matchAll(after)].map(({ 0: text, 1: between = '', 2: number = '', index }) => ({
      version: number,
      isCertain: /[@v]/i.test(between) || /^\s*(?:[?.!,;:)]|$)/.test(query.slice(index + text.length)),
    })),
    ...[...query.matchAll(before)].map(([, number = '']) => ({ version: number, isCertain: true })),
  ]
}

/** Whether a version is the given one, or one of its line: `3.22.4` is of `3` and of `3.22`. */
function isVersion(version: string | null, given: string): boolean {
  return version === given || version?.startsWith(`${given}.`) === true
}
