import type { Library, SourceState } from '../library.ts'
import type { Source } from '../source.ts'
import { findOtherMachine } from '../sources/other-machine.ts'
import { isBeingCrawled } from '../sources/source-status.ts'
import { beginAttempt, isDue, scheduleAfterProblem } from './schedule.ts'

/** A source with a schedule. */
export type ScheduledSource = Source & Required<Pick<Source, 'refresh'>>

/** Lists the sources with a schedule, most overdue first. Local trees of other machines are left out, because they cannot be read here. */
export async function listScheduled({ store, runner }: Pick<Library, 'store' | 'runner'>): Promise<ScheduledSource[]> {
  const scheduled = (await store.listSources()).filter(
    (source): source is ScheduledSource =>
      source.refresh !== undefined && findOtherMachine({ runner }, source) === undefined,
  )
  return scheduled.sort((a, b) => a.refresh.dueAt - b.refresh.dueAt)
}

/**
 * Claims the refresh of a source for this process. Returns false if the source is not due any more, because another process has claimed it,
 * and if it is being crawled. The claim needs no release: the end of the crawl, or time, makes the source due again.
 */
export async function claimRefresh(
  library: SourceState & Pick<Library, 'workers'>,
  sourceId: string,
): Promise<boolean> {
  const { store, clock, workers } = library
  if (await isBeingCrawled(library, sourceId)) return false
  const jobs = (await workers?.listJobs(0)) ?? []
  if (jobs.some(({ record }) => record.sourceId === sourceId)) return false
  let isClaimed = false
  await store.updateSource(sourceId, ({ refresh }) => {
    const now = clock.now()
    isClaimed = refresh !== undefined && isDue(refresh, now)
    return refresh === undefined || !isClaimed ? {} : { refresh: beginAttempt(sourceId, refresh, now) }
  })
  return isClaimed
}

/** Records why a claimed refresh failed, unless its crawl has recorded that. */
export function noteRefreshProblem(
  { store }: Pick<Library, 'store'>,
  sourceId: string,
  problem: string,
): Promise<void> {
  return store.updateSource(sourceId, (stored) => scheduleAfterProblem(stored, problem))
}
