import { messageOf } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { CrawlRequest, JobView } from '../jobs/dispatcher.ts'
import { createSourceRequest } from '../jobs/source-request.ts'
import { type Library, machineOf, type SourceState } from '../library.ts'
import { isLost } from '../ports/workers.ts'
import type { Source } from '../source.ts'
import { claimRefresh, listScheduled, noteRefreshProblem } from './claim-due.ts'
import { isDue } from './schedule.ts'

/** Poll interval while nothing is due soon: other processes may change schedules. */
const MAX_WAIT_MS = 30_000
/** Minimum pause between two looks, for short intervals and while all slots are taken. */
const MIN_WAIT_MS = 1000

/** Marks the job of a refresh that a schedule has started. */
export const SCHEDULED_FLAG = '--scheduled'

/** The part of a dispatcher that refreshing needs. */
export interface RefreshDispatcher {
  readonly slots: number
  list(): readonly RefreshJob[]
  enqueue(request: CrawlRequest): Promise<unknown>
}

type RefreshJob = Pick<JobView, 'sourceId' | 'url' | 'args' | 'endedAt'>

/** Options of {@link keepRefreshing}. */
export interface RefreshingOptions {
  /** Opens the library if it is not open. */
  readonly library: () => Promise<Library>
  readonly dispatcher: RefreshDispatcher
  readonly clock: Clock
  readonly warn: (message: string) => void
}

/**
 * Starts the refreshes that are due, until aborted. Several servers may do this for one library: each refresh is claimed in the library, and
 * what is due is read from there every time.
 */
export async function keepRefreshing(
  { library, dispatcher, clock, warn }: RefreshingOptions,
  signal: AbortSignal,
): Promise<void> {
  let lastWarning = ''
  const warnOnce = (error: unknown): number => {
    const message = `could not look for sources that are due for a refresh; retrying: ${messageOf(error)}`
    if (!signal.aborted && message !== lastWarning) warn(message)
    lastWarning = message
    return MAX_WAIT_MS
  }
  while (!signal.aborted) {
    const waitMs = await library()
      .then((opened) => startDue(opened, dispatcher))
      .catch(warnOnce)
    await clock.sleep(waitMs, signal).catch(() => undefined)
  }
}

/** Queues the refreshes that are due, as far as there are free slots for them. Returns how long to wait before the next look. */
export async function startDue(
  library: SourceState & Pick<Library, 'imports' | 'workers'>,
  dispatcher: RefreshDispatcher,
): Promise<number> {
  const now = library.clock.now()
  const isReadable = await createReadableCheck(library)
  const scheduled = (await listScheduled(library)).filter(isReadable)
  const due = scheduled.filter(({ refresh }) => isDue(refresh, now))
  let freeSlots = countFreeSlots(dispatcher)
  for (const source of due) {
    if (freeSlots <= 0) break
    if (hasOpenJob(dispatcher, source) || !(await claimRefresh(library, source.id))) continue
    freeSlots--
    try {
      const { args, ...request } = await createSourceRequest(library, source, { kind: 'recrawl' })
      await dispatcher.enqueue({ ...request, args: [...args, SCHEDULED_FLAG] })
    } catch (error) {
      await noteRefreshProblem(library, source.id, messageOf(error))
    }
  }
  const next = scheduled.find(({ refresh }) => !isDue(refresh, now))
  const untilNext = next === undefined ? MAX_WAIT_MS : next.refresh.dueAt - now
  return Math.max(MIN_WAIT_MS, Math.min(untilNext, due.length === 0 ? MAX_WAIT_MS : BUSY_WAIT_MS))
}

/**
 * Creates a check whether any worker can read a source. Workers take jobs on every machine, so a local tree is left to `pharos refresh
 * --due` there, unless all workers are on its machine.
 */
async function createReadableCheck({ workers }: Pick<Library, 'workers'>): Promise<(source: Source) => boolean> {
  const present = (await workers?.list())?.filter((worker) => !isLost(worker)) ?? []
  const machines = present.map(({ name }) => machineOf({ id: name }))
  return ({ settings: { machine } }) => machine === undefined || machines.every((one) => one === machine)
}

/** Poll interval while something is due that could not be started yet. */
const BUSY_WAIT_MS = 5000

/** Refreshes leave one slot to crawls that a user starts, unless there is only one. */
function countFreeSlots(dispatcher: RefreshDispatcher): number {
  const { slots } = dispatcher
  const running = dispatcher.list().filter((job) => isOpen(job) && job.args.includes(SCHEDULED_FLAG)).length
  return Math.min(slots, Math.max(1, slots - 1)) - running
}

function hasOpenJob(dispatcher: RefreshDispatcher, { id, url }: Source): boolean {
  return dispatcher.list().some((job) => isOpen(job) && (job.sourceId === id || looseKey(job.url) === looseKey(url)))
}

function isOpen({ endedAt }: RefreshJob): boolean {
  return endedAt === null
}
