import { PharosError } from '../../core/errors.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { CrawlKind } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'
import type { ChunkImport } from './parse-import.ts'

/**
 * Returns the stored chunks of an interrupted import, so that it can resume; a refresh or retry throws `CRAWL_UNFINISHED` meanwhile. A
 * completed import throws `SOURCE_IMPORTED`, because only its sender can send it again. Undefined for sources that are not imported.
 */
export async function findImport(
  { imports }: Pick<Library, 'imports'>,
  source: Source,
  kind: CrawlKind,
): Promise<ChunkImport | undefined> {
  if (treeKindOf(source.url) !== 'import') return undefined
  const stored = await imports?.read(source.id)
  if (stored === undefined) throw new PharosError('SOURCE_IMPORTED', { source: writeLabel(source) })
  if (kind !== 'recrawl' && kind !== 'add')
    throw new PharosError('CRAWL_UNFINISHED', { source: writeLabel(source), kind: 'import' })
  return stored
}

/** Throws `SOURCE_IMPORTED` for a completed import, without reading it. */
export async function refuseImported({ imports }: Pick<Library, 'imports'>, source: Source): Promise<void> {
  if (treeKindOf(source.url) !== 'import' || (await imports?.list())?.includes(source.id) === true) return
  throw new PharosError('SOURCE_IMPORTED', { source: writeLabel(source) })
}
