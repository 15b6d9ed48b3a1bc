import { PharosError } from '../../core/errors.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import type { Library } from '../library.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'
import { createSchedule } from './schedule.ts'

/** Number of recent crawls of a source to search for one that completed. */
const MAX_RECENT_CRAWLS = 20

/** Sets how often a source is refreshed by itself; null for never. The interval counts from the last completed crawl. */
export async function setRefreshInterval(
  { store, clock }: Pick<Library, 'store' | 'clock'>,
  source: Source,
  everyMs: number | null,
): Promise<void> {
  const { id } = source
  if (everyMs === null) return store.updateSource(id, { refresh: null })
  if (treeKindOf(source.url) === 'import') throw new PharosError('SOURCE_IMPORTED', { source: writeLabel(source) })
  const now = clock.now()
  const completed = (await store.listCrawls(id, MAX_RECENT_CRAWLS)).find(({ state }) => state === 'completed')
  const from = Math.min(now, completed?.endedAt ?? now)
  await store.updateSource(id, ({ refresh }) =>
    refresh?.everyMs === everyMs ? {} : { refresh: createSchedule(id, everyMs, from) },
  )
}
