import { countOf } from '../core/text/count.ts'
import type { Library } from '../library/library.ts'
import { writeLabel } from '../library/search/display-text.ts'
import { labelOf, type Source } from '../library/source.ts'

/** Says that failed pages need a browser, and how to enable one. */
export function writeUnrendered(count: number, { settings }: Source, isReadOnly: boolean): string {
  const [are, their, them] = count === 1 ? ['is', 'its', 'it'] : ['are', 'their', 'them']
  const { render } = settings
  const renderNote = render === 'http' ? '' : ` (read with render ${render})`
  const next = isReadOnly || render !== 'http' ? '' : `; recrawl_source with render auto reads ${them} in a browser`
  return `${countOf(count, 'page')} ${are} empty until ${their} scripts have run${renderNote}${next}`
}

/** One sentence for each named source that has unrendered pages, because a search cannot find their content. */
export async function listUnrendered(
  { store }: Pick<Library, 'store'>,
  names: readonly string[],
  isReadOnly: boolean,
): Promise<string[]> {
  if (names.length === 0) return []
  const sources = (await store.listSources()).filter((source) => names.includes(labelOf(source)))
  const notices = sources.map(async (source) => {
    const [crawl] = await store.listCrawls(source.id, 1)
    const count = crawl?.summary?.ledger.reasons['failed/needs-rendering'] ?? 0
    return count === 0 ? [] : [`${writeLabel(source)}: ${writeUnrendered(count, source, isReadOnly)}`]
  })
  return (await Promise.all(notices)).flat()
}
