import type { Chunk } from '../model.ts'
import { SearchIndex } from '../search/search-index.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { findDefinition } from './definition.ts'
import type { Pack } from './pack.ts'

/** What is indexed of a chunk, with the weight of a match in each. */
export const FIELDS = { title: 0.5, heading: 1, symbol: 1, path: 1, body: 1 } as const

/** Indexes every chunk of a pack under the key given for it. */
export function indexChunks(pack: Pack, keyOf: (chunk: Chunk, position: number) => string): SearchIndex {
  const index = new SearchIndex({ fields: FIELDS, analyzer: textAnalyzer })
  const titles = findTitles(pack)
  pack.chunks.forEach((chunk, i) => {
    index.add(keyOf(chunk, i), {
      title: titles.get(chunk.path) ?? '',
      heading: [...chunk.headingPath, findDefinition(chunk)?.text ?? ''],
      symbol: chunk.symbol ?? '',
      path: chunk.path,
      body: chunk.content,
    })
  })
  return index
}

/** The titles of files: the first line of a web page, which is its `<title>`; elsewhere the first outermost heading. */
function findTitles(pack: Pack): Map<string, string> {
  const titles = new Map<string, string>()
  for (const { path, kind, headingPath, content } of pack.chunks) {
    const title = kind === 'html' ? content.slice(0, 400).split('\n', 1)[0] : headingPath[0]
    if (title !== undefined && kind !== 'json' && !titles.has(path)) titles.set(path, title)
  }
  return titles
}
