import type { Chunk } from '../model.ts'
import { SearchIndex } from '../search/search-index.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import type { Pack } from './pack.ts'

/** What is indexed of a chunk, with the weight of a match in each. */
export const FIELDS = { title: 1, heading: 1, symbol: 1, path: 1, body: 1 } as const

/** Indexes every chunk of a pack under the key given for it. */
export function indexChunks(pack: Pack, keyOf: (chunk: Chunk, position: number) => string): SearchIndex {
  const index = new SearchIndex({ fields: FIELDS, analyzer: textAnalyzer })
  const titles = findTitles(pack)
  pack.chunks.forEach((chunk, i) => {
    index.add(keyOf(chunk, i), {
      title: titles.get(chunk.path) ?? '',
      heading: [...chunk.headingPath, signatureOf(chunk)],
      symbol: chunk.symbol ?? '',
      path: chunk.path,
      body: chunk.content,
    })
  })
  return index
}

/** The title of a file: the outermost heading of its first chunk. */
function findTitles(pack: Pack): Map<string, string> {
  const titles = new Map<string, string>()
  for (const chunk of pack.chunks) {
    if (!titles.has(chunk.path)) titles.set(chunk.path, chunk.kind === 'json' ? '' : (chunk.headingPath[0] ?? ''))
  }
  return titles
}

/** The line that names the chunk's symbol for the first time: where a definition states its signature. */
function signatureOf(chunk: Chunk): string {
  if (chunk.symbol === null || chunk.kind === 'json') return ''
  const name = chunk.symbol.slice(chunk.symbol.lastIndexOf('.') + 1)
  const at = chunk.content.indexOf(name)
  if (at < 0) return ''
  const start = chunk.content.lastIndexOf('\n', at) + 1
  const end = chunk.content.indexOf('\n', at)
  return chunk.content.slice(start, end < 0 ? undefined : end).slice(0, 400)
}
