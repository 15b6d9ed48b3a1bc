import type { Chunk } from '../../../src/core/model.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { compareUtf8 } from '../../../src/core/text/order.ts'
import type { NamedLocation } from './operations.ts'

/**
 * The headings of each file, ordered by file and line. Excludes keys of JSON files, and definitions in code, which have their own list.
 */
export function listHeadings(pack: Pack): NamedLocation[] {
  return listNamedLocations(pack, ({ kind, symbol, headingPath }) =>
    kind === 'json' || symbol !== null ? [] : headingPath,
  )
}

/** The definitions in code, sorted by name. Excludes keys of JSON files. */
export function listSymbols(pack: Pack): NamedLocation[] {
  const locations = listNamedLocations(pack, ({ kind, symbol }) => (kind === 'json' || symbol === null ? [] : [symbol]))
  return locations.sort((a, b) => compareUtf8(a.names[0] ?? '', b.names[0] ?? ''))
}

/** Lists named locations; consecutive chunks with the same names are listed once. */
function listNamedLocations({ chunks, refs }: Pack, namesOf: (chunk: Chunk) => readonly string[]): NamedLocation[] {
  const locations: NamedLocation[] = []
  for (const [i, chunk] of chunks.entries()) {
    const names = namesOf(chunk)
    const last = locations.at(-1)
    const isSame = last?.path === chunk.path && last.names.join('\n') === names.join('\n')
    if (names.length === 0 || isSame) continue
    locations.push({ names, path: chunk.path, line: chunk.startLine, ref: refs[i] ?? '' })
  }
  return locations
}
