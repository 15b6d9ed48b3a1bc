import { PharosError, usageError } from '../../core/errors.ts'
import { getOrAdd } from '../../core/get-or-add.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import { NOTHING_SETTLED, type SettledCounts } from '../../crawl/ledger.ts'
import type { CrawlInput } from '../crawl/crawl-source.ts'
import type { Library } from '../library.ts'
import type { Job, JobProgress, Jobs } from '../ports/jobs.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'
import { reportSource } from '../sources/source-status.ts'
import type { Dispatcher, JobView } from './dispatcher.ts'
import { createSourceRequest } from './source-request.ts'
import { waitUpTo } from './wait-up-to.ts'

/** How long an ended job stays in memory. */
const RETENTION_MS = 3_600_000
/** How long `cancel` waits for the job to end. */
const CANCEL_TIMEOUT_MS = 500
/** How long a process may take to report its crawl id; after that, `start` returns the job id instead. */
const CRAWL_ID_TIMEOUT_MS = 10_000
/** Number of recent crawls of a source to search for one that has just ended. */
const MAX_RECENT_CRAWLS = 10

/**
 * Exposes the jobs of a server as crawls of sources, including jobs that other clients started. A queued job is named by its job id, and
 * also by its crawl id once it runs. Closing does not stop the jobs, because the server owns them.
 */
export function createDispatchedJobs(dispatcher: Dispatcher, library: Library): Jobs {
  const { clock } = library
  // Jobs by id, in the order in which this process first saw them.
  const jobs = new Map<string, DispatchedJob>()
  let isClosed = false

  const track = (view: JobView, sourceId: string, before?: EarlierWork): DispatchedJob => {
    return getOrAdd(jobs, view.id, () => new DispatchedJob(dispatcher, library, { ...view, sourceId }, before))
  }
  const refresh = () => {
    // Oldest request first.
    for (const view of [...dispatcher.list()].reverse()) if (view.sourceId !== null) track(view, view.sourceId)
    for (const [id, { endedAt }] of jobs) {
      if (endedAt !== null && clock.now() - endedAt >= RETENTION_MS) jobs.delete(id)
    }
  }
  const listAll = (): readonly DispatchedJob[] => {
    refresh()
    return [...jobs.values()].reverse()
  }
  const find = (id: string) => listAll().find(({ jobId, crawlId }) => crawlId === id || jobId === id)
  const isCrawled = (sourceId: string) =>
    dispatcher.list().some((view) => view.sourceId === sourceId && view.endedAt === null)
  /** Applies the checks of the crawl itself before a process is started. */
  const check = async (source: Source, { headers = {}, scope = {} }: CrawlInput): Promise<EarlierWork> => {
    if (Object.keys(headers).length > 0) {
      const problem = 'headers cannot be given to a crawl that a server runs, because it would have to store them'
      throw usageError(problem)
    }
    // Imported lazily: the module loads the public suffix list, which is slow.
    const { resolveScope } = await import('../crawl/add-source.ts')
    resolveScope(source.scope, scope)
    const report = await reportSource(library, source)
    if (isClosed) throw new PharosError('INTERRUPTED')
    if (report.isRunning || isCrawled(source.id)) throw new PharosError('CRAWL_RUNNING', { source: writeLabel(source) })
    const { crawl, isInterrupted } = report
    const counts = crawl === null ? NOTHING_SETTLED : await library.store.countSettled(source.id, crawl.id)
    return { source, isInterrupted, crawlId: crawl?.id ?? '', counts }
  }
  return {
    async start(source, input) {
      const before = await check(source, input)
      const view = await dispatcher.enqueue(
        await createSourceRequest(library, source, input, input.kind === 'add' && !before.isInterrupted),
      )
      const job = track(view, source.id, before)
      await waitForCrawlId(dispatcher, library, view.id)
      const { status, problem } = dispatcher.find(view.id) ?? view
      if (status === 'failed' && job.crawlId === view.id) {
        const advice = `\`pharos status ${source.id}\` shows the state of the source`
        throw new PharosError('CRAWL_START_FAILED', { problem: problem ?? 'its process ended', advice })
      }
      return job.crawlId
    },
    async cancel(crawlId) {
      const job = find(crawlId)
      if (job === undefined || job.endedAt !== null) return false
      const { stopped } = await dispatcher.stop(job.jobId, 'cancelled')
      await waitUpTo(library.clock, job.ended, CANCEL_TIMEOUT_MS)
      return stopped
    },
    find,
    list: listAll,
    async close() {
      isClosed = true
    },
  }
}

/** Waits until a job has a crawl id, is queued or has ended, with a timeout. */
async function waitForCrawlId(dispatcher: Dispatcher, library: Pick<Library, 'clock'>, jobId: string): Promise<void> {
  let check = () => {}
  const stop = dispatcher.feed.listen(() => check())
  const isWaitOver = () => {
    const view = dispatcher.find(jobId)
    return view === undefined || view.crawlId !== null || view.stage === 'queued' || view.stage === 'ended'
  }
  const waitOver = new Promise<void>((resolve) => {
    check = () => {
      if (isWaitOver()) resolve()
    }
    check()
  })
  await waitUpTo(library.clock, waitOver, CRAWL_ID_TIMEOUT_MS)
  stop()
}

/** A source before a job, and what its last crawl had settled, which the job may resume. */
interface EarlierWork {
  readonly source: Source
  readonly isInterrupted: boolean
  /** Empty if there was no crawl. */
  readonly crawlId: string
  readonly counts: SettledCounts
}

/** A job of the server, seen as a crawl of a source. */
class DispatchedJob implements Job {
  readonly jobId: string
  readonly sourceId: string
  readonly startedAt: number
  /** Resolves when the job has ended and its summary has been read. */
  readonly ended: Promise<void>
  endedAt: number | null = null
  summary: CrawlSummary | null = null
  readonly #dispatcher: Dispatcher
  readonly #library: Library
  readonly #before: EarlierWork | undefined
  #view: JobView

  constructor(
    dispatcher: Dispatcher,
    library: Library,
    view: JobView & { readonly sourceId: string },
    before: EarlierWork | undefined,
  ) {
    this.jobId = view.id
    this.sourceId = view.sourceId
    this.startedAt = view.startedAt ?? view.createdAt
    this.#dispatcher = dispatcher
    this.#library = library
    this.#before = before
    this.#view = view
    this.ended = this.#waitForEnd()
  }

  get crawlId(): string {
    return this.#now.crawlId ?? this.jobId
  }

  get source(): Source | undefined {
    return this.#before?.source
  }

  get error(): string | null {
    return this.#now.problem
  }

  get progress(): JobProgress {
    const { progress, trouble, crawlId } = this.#now
    // A resumed crawl includes the counts from before its interruption.
    const earlier = this.#before?.crawlId === crawlId ? this.#before.counts : NOTHING_SETTLED
    const pagesCrawled = earlier.indexed + (progress?.saved ?? 0)
    const pagesSkipped = earlier.unchanged + (progress?.unchanged ?? 0)
    const errors = earlier.failed + (progress?.errors ?? 0)
    return {
      pagesCrawled,
      pagesSkipped,
      pagesTotal: pagesCrawled + pagesSkipped + errors + (progress?.queueSize ?? 0),
      errors,
      errorUrls: trouble.errorUrls,
      filtered: trouble.filtered,
      filteredUrls: trouble.filteredUrls.map((one) => ({ ...one, pattern: null })),
    }
  }

  /** Current view of the job; the dispatcher forgets ended jobs, so the last view is kept. */
  get #now(): JobView {
    this.#view = this.#dispatcher.find(this.jobId) ?? this.#view
    return this.#view
  }

  async #waitForEnd(): Promise<void> {
    // If the dispatcher has forgotten the job, the last view stands.
    this.#view = await this.#dispatcher.wait(this.jobId).catch(() => this.#view)
    this.summary = await this.#readSummary().catch(() => null)
    this.endedAt = this.#view.endedAt
  }

  async #readSummary(): Promise<CrawlSummary | null> {
    const crawls = await this.#library.store.listCrawls(this.sourceId, MAX_RECENT_CRAWLS)
    return crawls.find(({ id }) => id === this.#view.crawlId)?.summary ?? null
  }
}
