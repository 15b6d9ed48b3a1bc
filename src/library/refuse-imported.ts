import { PharosError } from '../core/errors.ts'
import { treeKindOf } from '../core/url/tree-url.ts'
import type { CrawlKind } from '../crawl/events.ts'
import type { Library } from './library.ts'
import type { ChunkImport } from './parse-import.ts'
import { labelOf, type Source } from './source.ts'

/**
 * Refuses with `SOURCE_IMPORTED` to read what was imported once more: whoever imported it has it, and nobody else. Only an import that was
 * broken off is still there, and goes on; anything else waits for that with `CRAWL_UNFINISHED`. Undefined for what was not imported.
 */
export async function findImport(
  { imports }: Library,
  source: Source,
  kind: CrawlKind,
): Promise<ChunkImport | undefined> {
  if (treeKindOf(source.url) !== 'import') return undefined
  const kept = await imports?.read(source.id)
  if (kept === undefined) throw new PharosError('SOURCE_IMPORTED', { source: labelOf(source) })
  if (kind !== 'recrawl' && kind !== 'add')
    throw new PharosError('CRAWL_UNFINISHED', { source: labelOf(source), kind: 'import' })
  return kept
}

/** Refuses the same without reading what is there. */
export async function refuseImported({ imports }: Library, source: Source): Promise<void> {
  if (treeKindOf(source.url) !== 'import' || (await imports?.list())?.includes(source.id) === true) return
  throw new PharosError('SOURCE_IMPORTED', { source: labelOf(source) })
}
