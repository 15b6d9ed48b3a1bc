import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Library } from '../library.ts'
import { splitMilestones } from './split-milestones.ts'

/** Milestones required before a history crawl is worth its requests. */
const HISTORY_MILESTONES: readonly string[] = ['full-understanding', 'depth2-coverage', 'articles-identified-1k']

/** Throws with the missing milestones if too little is known about a host for a history crawl. */
export async function requireHostMilestones(
  library: Pick<Library, 'jobLog' | 'plans' | 'store'>,
  host: string,
): Promise<void> {
  const { unmet } = await splitMilestones(library, host, HISTORY_MILESTONES)
  if (unmet.length > 0) throw new PharosError('CRAWL_UNPREPARED', { host, missing: unmet.join(', ') })
}

/** Checks the milestones of the host of a start address. The source with that start may have moved to another host. */
export async function requireStartMilestones(
  library: Pick<Library, 'jobLog' | 'plans' | 'store'>,
  url: string,
): Promise<void> {
  const source = (await library.store.listSources()).find((one) => looseKey(one.url) === looseKey(url))
  await requireHostMilestones(library, new URL(source?.siteUrl ?? url).host)
}
