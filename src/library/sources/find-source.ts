import { PharosError, usageError } from '../../core/errors.ts'
import { findNearest } from '../../core/text/nearest.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { looseKey, urlKey } from '../../core/url/key.ts'
import { readImportUrl } from '../../core/url/tree-url.ts'
import type { Library } from '../library.ts'
import { isSamePath } from '../ports/tree.ts'
import { writeLabel } from '../search/display-text.ts'
import { labelOf, type Source } from '../source.ts'

/**
 * Finds the source for an id, a name, name@version, a start address, a folder path, or an address of a repository or package in any form.
 */
export async function findSource(library: Pick<Library, 'store' | 'trees'>, text: string): Promise<Source> {
  const sources = await library.store.listSources()
  const matches = matchSources(sources, text, library.trees?.addressOf(text))
  const [only] = matches
  if (only === undefined) throw unknownSource(library, text, sources)
  if (matches.length > 1) throw ambiguousSource(text, matches)
  return only
}

/**
 * Lists the sources that a text may name, by the first criterion that matches: id, name and version, name, then start address. `address` is
 * the text resolved as a path.
 */
export function matchSources(sources: readonly Source[], text: string, address: string = text): Source[] {
  const key = urlKey(text) && looseKey(text)
  return (
    firstMatches(sources, (source) => source.id === text) ??
    firstMatches(sources, (source) => labelOf(source) === text) ??
    firstMatches(sources, (source) => source.name === text) ??
    firstMatches(sources, (source) => key !== undefined && looseKey(source.url) === key) ??
    firstMatches(sources, (source) => source.url === address || isSamePath(source.url, address)) ??
    firstMatches(sources, (source) => key !== undefined && looseKey(readImportUrl(source.url)) === key) ??
    []
  )
}

/** Creates the error for a text that names several sources. */
export function ambiguousSource(text: string, matches: readonly Source[]): PharosError {
  const labels = matches.map(writeLabel).join(', ')
  const isOneName = matches.every(({ name }) => name === matches[0]?.name)
  const shown = hideCredentials(text)
  const problem = isOneName ? `${shown} has several versions, name one:` : `several sources start at ${shown}:`
  return usageError(`${problem} ${labels}`)
}

/** Creates the error for an unknown source, with similar names, or all names if there are few. */
export function unknownSource(library: Pick<Library, 'store'>, text: string, sources: readonly Source[]): PharosError {
  const labels = sources.map(labelOf)
  const near = listNear(text, [...labels, ...sources.map(({ name }) => name)])
  const all =
    labels.length === 0 || labels.length > MAX_NAMED ? '' : `; there are ${sources.map(writeLabel).join(', ')}`
  return new PharosError('SOURCE_UNKNOWN', {
    source: hideCredentials(text),
    library: library.store.location,
    nearest: near.length === 0 ? all : `, did you mean ${near.join(', ').replace(/, ([^,]*)$/, ' or $1')}?`,
  })
}

/** Lists similar names: by spelling first, nearest first, then names that contain the text. */
function listNear(text: string, names: readonly string[]): string[] {
  const rest = new Set(names)
  const near: string[] = []
  for (let next = findNearest(text, rest); next !== undefined; next = findNearest(text, rest)) {
    near.push(next)
    rest.delete(next)
    if (near.length === MAX_NEAR) return near
  }
  const part = text.trim().toLowerCase()
  const containing = part.length < 3 ? [] : [...rest].filter((name) => name.toLowerCase().includes(part))
  return [...near, ...containing].slice(0, MAX_NEAR)
}

/** Maximum number of suggested names. */
const MAX_NEAR = 5

/** Maximum number of sources listed in the error. */
const MAX_NAMED = 8

function firstMatches(sources: readonly Source[], matches: (source: Source) => boolean): Source[] | undefined {
  const found = sources.filter(matches)
  return found.length === 0 ? undefined : found
}
