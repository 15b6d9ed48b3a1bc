import type { CrawlInput } from '../crawl/crawl-source.ts'
import { refuseImported } from '../import/refuse-imported.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import type { CrawlRequest } from './dispatcher.ts'

/** The flag of a first crawl whose source is removed if no page is read. */
export const TRIAL_FLAG = '--trial'

/**
 * Creates the request for a crawl of an existing source. Throws for an imported source, unless its import was interrupted. HTTP headers are
 * left out, because arguments are stored.
 */
export async function createSourceRequest(
  library: Pick<Library, 'imports'>,
  source: Source,
  { kind, headers: _, ...options }: CrawlInput,
  isTrial = false,
): Promise<CrawlRequest> {
  await refuseImported(library, source)
  const { id, url } = source
  const args = [`--source=${id}`, `--kind=${kind}`, `--options=${JSON.stringify(options)}`]
  return { url, sourceId: id, args: isTrial ? [...args, TRIAL_FLAG] : args }
}
