import { listDefinitions } from '../../../src/core/pack/definition.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { compareUtf8 } from '../../../src/core/text/order.ts'
import type { NamedLocation } from './operations.ts'

/**
 * The headings of each file, ordered by file and line; consecutive chunks with the same headings are listed once. Excludes keys of JSON
 * files, and definitions in code, which have their own list.
 */
export function listHeadings({ chunks, refs }: Pack): NamedLocation[] {
  const locations: NamedLocation[] = []
  for (const [i, { path, kind, symbol, headingPath: names, startLine: line }] of chunks.entries()) {
    const last = locations.at(-1)
    const isSame = last?.path === path && last.names.join('\n') === names.join('\n')
    if (kind === 'json' || symbol !== null || names.length === 0 || isSame) continue
    locations.push({ names, path, line, ref: refs[i] ?? '' })
  }
  return locations
}

/** The definitions in code, sorted by name. */
export function listSymbols(pack: Pack): NamedLocation[] {
  const definitions = listDefinitions(pack).sort((a, b) => compareUtf8(a.name, b.name))
  return definitions.map(({ name, ...rest }) => ({ names: [name], ...rest }))
}
