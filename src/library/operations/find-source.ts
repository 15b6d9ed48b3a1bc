import { PharosError } from '../../core/errors.ts'
import { findNearest } from '../../core/text/nearest.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { urlKey } from '../../core/url/key.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'

/** The source that is meant by an id, a name, name@version or the start URL. */
export async function findSource(library: Library, text: string): Promise<Source> {
  const sources = await library.store.listSources()
  const matches =
    firstMatches(sources, (source) => source.id === text) ??
    firstMatches(sources, (source) => labelOf(source) === text) ??
    firstMatches(sources, (source) => source.name === text) ??
    firstMatches(sources, (source) => urlKey(text) !== undefined && urlKey(source.url) === urlKey(text)) ??
    []
  const [only] = matches
  if (only !== undefined && matches.length === 1) return only
  if (matches.length > 1) {
    const labels = matches.map(labelOf).join(', ')
    const isOneName = matches.every(({ name }) => name === only?.name)
    const problem = isOneName ? `${text} has several versions: say which,` : `several sources start at ${text}:`
    throw new PharosError('USAGE', { problem: `${problem} ${labels}` })
  }
  const nearest = findNearest(text, sources.map(labelOf))
  const help = nearest === undefined ? '' : `, did you mean ${nearest}?`
  throw new PharosError('SOURCE_UNKNOWN', {
    source: hideCredentials(text),
    library: library.store.location,
    nearest: help,
  })
}

function firstMatches(sources: readonly Source[], matches: (source: Source) => boolean): Source[] | undefined {
  const found = sources.filter(matches)
  return found.length === 0 ? undefined : found
}
