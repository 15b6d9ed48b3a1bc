import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Library } from '../library.ts'
import { milestonesMet } from './milestones-met.ts'

/** What has to be known of a site before its history is worth the requests. */
const HISTORY_MILESTONES: readonly string[] = ['full-understanding', 'depth2-coverage', 'articles-identified-1k']

/** Refuses with what is missing where not enough is known of a host for a crawl of its history. */
export async function requireUnderstood(
  library: Pick<Library, 'jobLog' | 'planMemory' | 'store'>,
  host: string,
): Promise<void> {
  const { unmet } = await milestonesMet(library, host, HISTORY_MILESTONES)
  if (unmet.length > 0) throw new PharosError('CRAWL_UNPREPARED', { host, missing: unmet.join(', ') })
}

/** The same for what starts at an address: a source that starts there may have turned out to be at another host. */
export async function requireUnderstoodStart(library: Library, url: string): Promise<void> {
  const source = (await library.store.listSources()).find((one) => looseKey(one.url) === looseKey(url))
  await requireUnderstood(library, new URL(source?.siteUrl ?? url).host)
}
