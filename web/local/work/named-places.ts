import type { Chunk } from '../../../src/core/model.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { compareUtf8 } from '../../../src/core/text/order.ts'
import type { NamedPlace } from './operations.ts'

/** The headings of each file, in the order of files and lines. Keys of data are no headings, and definitions of code have a list of their own. */
export function listHeadings(pack: Pack): NamedPlace[] {
  return listPlaces(pack, ({ kind, symbol, headingPath }) => (kind === 'json' || symbol !== null ? [] : headingPath))
}

/** The definitions of code, by name. Keys of data are none. */
export function listSymbols(pack: Pack): NamedPlace[] {
  const places = listPlaces(pack, ({ kind, symbol }) => (kind === 'json' || symbol === null ? [] : [symbol]))
  return places.sort((a, b) => compareUtf8(a.names[0] ?? '', b.names[0] ?? ''))
}

/** What has a name, each once where several chunks in a row have it. */
function listPlaces({ chunks, refs }: Pack, namesOf: (chunk: Chunk) => readonly string[]): NamedPlace[] {
  const places: NamedPlace[] = []
  for (const [i, chunk] of chunks.entries()) {
    const names = namesOf(chunk)
    const last = places.at(-1)
    const isSame = last?.path === chunk.path && last.names.join('\n') === names.join('\n')
    if (names.length === 0 || isSame) continue
    places.push({ names, path: chunk.path, line: chunk.startLine, ref: refs[i] ?? '' })
  }
  return places
}
