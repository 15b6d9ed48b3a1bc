import type { Library } from '../library.ts'
import type { CrawlInput } from '../operations/crawl-source.ts'
import { refuseImported } from '../refuse-imported.ts'
import type { Source } from '../source.ts'
import type { CrawlOrder } from './dispatcher.ts'

/**
 * What the process of a crawl of a known source is told; refused for what was imported, unless that was
 * broken off. Fields for its site are left out: what it is told
 * is kept.
 */
export async function writeSourceOrder(
  library: Library,
  source: Source,
  { kind, headers: _, ...options }: CrawlInput,
): Promise<CrawlOrder> {
  await refuseImported(library, source)
  const { id, url } = source
  return { url, sourceId: id, args: [`--source=${id}`, `--kind=${kind}`, `--options=${JSON.stringify(options)}`] }
}
