import { messageOf, PharosError } from '../../core/errors.ts'
import type { CrawlEvent, CrawlSummary } from '../../crawl/events.ts'
import type { SettledCounts } from '../../crawl/ledger.ts'
import type { CrawlInput } from '../crawl/crawl-source.ts'
import { createNoteLogger } from '../crawl/log-notes.ts'
import { withdrawAfterFailure, withdrawUseless } from '../crawl/withdraw-source.ts'
import type { CrawlEmbedding } from '../embed/embed-during-crawl.ts'
import type { Library } from '../library.ts'
import type { Job, JobProgress, Jobs } from '../ports/jobs.ts'
import { isTree } from '../ports/tree.ts'
import { labelOf, type Source } from '../source.ts'
import { FILTER_REASONS } from '../sources/describe-source.ts'

/** Options of background crawls. */
export interface JobsOptions {
  /** How long an ended job stays in memory, in milliseconds. @default 1 h */
  readonly retentionMs?: number
  /** Maximum number of concurrent jobs; more are refused. @default 8 */
  readonly maxRunning?: number
  /** Called whenever a job has ended. */
  readonly onEnd?: () => void
}

const RETENTION_MS = 3_600_000
const CANCEL_TIMEOUT_MS = 500
const MAX_RUNNING = 8
/** Maximum number of failed, and of filtered, addresses listed per job. */
const MAX_LISTED = 20

/** Runs crawls of a library in the background of this process. */
export function createJobs(library: Library, options: JobsOptions = {}): Jobs {
  const { clock } = library
  const { retentionMs = RETENTION_MS, maxRunning = MAX_RUNNING, onEnd } = options
  // Jobs by crawl id, in the order of their last start.
  const jobs = new Map<string, RunningJob>()
  /** Number of jobs requested but not yet recorded. */
  let startingCount = 0
  let isClosed = false

  const forgetOld = () => {
    for (const [id, { endedAt }] of jobs) {
      if (endedAt !== null && clock.now() - endedAt >= retentionMs) jobs.delete(id)
    }
  }
  const begin = async (source: Source, input: CrawlInput): Promise<RunningJob> => {
    const running = [...jobs.values()].filter(({ endedAt }) => endedAt === null)
    // A second crawl of the same source is refused later, with another error.
    const isSameSource = running.some(({ sourceId }) => sourceId === source.id)
    if (!isSameSource && running.length + startingCount >= maxRunning) {
      const count = running.length + startingCount
      const what = count === 1 ? '1 crawl is under way' : `${count} crawls are under way`
      throw new PharosError('JOBS_FULL', { count, what, rule: 'are allowed at once' })
    }
    const job = new RunningJob(library, source, input)
    startingCount++
    try {
      await job.begin()
    } finally {
      startingCount--
    }
    return job
  }
  return {
    async start(source, input) {
      if (isClosed) throw new PharosError('INTERRUPTED')
      forgetOld()
      const job = await begin(source, input)
      // A resumed job becomes the newest again.
      jobs.delete(job.crawlId)
      jobs.set(job.crawlId, job)
      void job.untilEnded().then(onEnd)
      if (isClosed) await job.stop()
      return job.crawlId
    },
    async cancel(crawlId) {
      const job = jobs.get(crawlId)
      if (job === undefined || job.endedAt !== null) return false
      const stopped = new AbortController()
      const timeout = clock.sleep(CANCEL_TIMEOUT_MS, stopped.signal).catch(() => undefined)
      await Promise.race([job.stop(), timeout])
      stopped.abort()
      return true
    },
    find(crawlId) {
      forgetOld()
      return jobs.get(crawlId)
    },
    list() {
      forgetOld()
      return [...jobs.values()].reverse()
    },
    async close() {
      isClosed = true
      await Promise.all([...jobs.values()].map((job) => job.stop()))
    },
  }
}

/** A crawl in this process, with counts taken from its events. */
class RunningJob implements Job {
  readonly sourceId: string
  readonly startedAt: number
  endedAt: number | null = null
  summary: CrawlSummary | null = null
  error: string | null = null
  readonly #library: Library
  readonly source: Source
  readonly #input: CrawlInput
  readonly #abort = new AbortController()
  readonly #tally = new Tally()
  readonly #logNotes: (event: CrawlEvent) => Promise<void>
  #crawlId = ''
  #work: Promise<void> = Promise.resolve()

  constructor(library: Library, source: Source, input: CrawlInput) {
    this.#library = library
    this.source = source
    this.#input = input
    this.sourceId = source.id
    this.#logNotes = createNoteLogger(library, source)
    this.startedAt = library.clock.now()
  }

  get crawlId(): string {
    return this.#crawlId
  }

  get progress(): JobProgress {
    return this.#tally.progress
  }

  /** Resolves once the crawl is recorded; the crawl itself continues in the background. */
  async begin(): Promise<void> {
    // Imported lazily: the engine loads the public suffix list, which is slow.
    const { crawlSource } = await import('../crawl/crawl-source.ts')
    const events = crawlSource(this.#library, this.source, this.#input, this.#abort.signal)
    const first = await events.next()
    if (first.done === true || first.value.type !== 'started') {
      throw new PharosError('INTERNAL', { problem: `the crawl of ${labelOf(this.source)} did not start` })
    }
    this.#crawlId = first.value.crawlId
    await this.#logNotes(first.value)
    // A resumed run over a tree checks every file again, so its counts start at zero.
    if (first.value.isResumed && !isTree(this.source))
      this.#tally.resumeFrom(await this.#library.store.countSettled(this.sourceId, this.#crawlId))
    this.#work = this.#read(events, await this.#embed())
  }

  /** Never rejects. */
  untilEnded(): Promise<void> {
    return this.#work
  }

  /** Stops the crawl and waits for its end. */
  async stop(): Promise<void> {
    this.#abort.abort(new PharosError('INTERRUPTED'))
    await this.#work
  }

  /** Embeds new pages during the crawl if the library is configured to. */
  async #embed(): Promise<CrawlEmbedding | undefined> {
    if (this.#library.embedsNew !== true) return undefined
    const { embedDuringCrawl } = await import('../embed/embed-during-crawl.ts')
    return embedDuringCrawl(this.#library, this.source)
  }

  async #read(events: AsyncIterable<CrawlEvent>, embedding: CrawlEmbedding | undefined): Promise<void> {
    try {
      for await (const event of events) {
        this.#tally.note(event)
        embedding?.note(event)
        await this.#logNotes(event)
        if (event.type === 'ended') this.summary = event.summary
      }
      if (this.summary !== null) await withdrawUseless(this.#library, this.source, this.summary)
    } catch (error) {
      this.error = messageOf(error)
      // The failure of the crawl matters more than that of the removal.
      await withdrawAfterFailure(this.#library, this.source, this.#input.kind, error).catch(() => undefined)
    } finally {
      this.endedAt = this.#library.clock.now()
    }
    if (embedding === undefined) return
    await embedding.stop()
    const { beginEmbedding } = await import('../embed/embed-during-crawl.ts')
    // A failure is ignored: the server embeds the rest, and every search reports problems with the model.
    await beginEmbedding(this.#library, this.source, this.#abort.signal).catch(() => undefined)
  }
}

/** Reasons for which the scope refuses an address. */
const FILTERS: ReadonlySet<string> = new Set(FILTER_REASONS)

/** Counters of a crawl. */
class Tally {
  #indexed = 0
  #unchanged = 0
  #queued = 0
  #errors = 0
  #filtered = 0
  readonly #errorUrls: JobProgress['errorUrls'][number][] = []
  readonly #filteredUrls: JobProgress['filteredUrls'][number][] = []

  get progress(): JobProgress {
    return {
      pagesCrawled: this.#indexed,
      pagesSkipped: this.#unchanged,
      pagesTotal: this.#indexed + this.#unchanged + this.#errors + this.#queued,
      errors: this.#errors,
      errorUrls: [...this.#errorUrls],
      filtered: this.#filtered,
      filteredUrls: [...this.#filteredUrls],
    }
  }

  /** Starts from the counts before the interruption. */
  resumeFrom({ indexed, unchanged, failed }: SettledCounts): void {
    this.#indexed = indexed
    this.#unchanged = unchanged
    this.#errors = failed
  }

  note(event: CrawlEvent): void {
    switch (event.type) {
      case 'enqueued':
        this.#queued++
        return
      case 'settled':
        this.#settle(event)
        return
      case 'dropped':
        if (!FILTERS.has(event.reason)) return
        this.#filtered++
        if (this.#filteredUrls.length < MAX_LISTED) {
          this.#filteredUrls.push({ url: event.url, reason: event.reason, pattern: event.pattern })
        }
        return
      case 'progress':
        // Only this event counts addresses left over from an earlier run.
        this.#queued = event.queued
        return
      case 'ended':
        this.#queued = event.summary.ledger.states.pending + event.summary.ledger.states.leased
    }
  }

  #settle({ url, state, reason, detail }: Extract<CrawlEvent, { type: 'settled' }>): void {
    if (state === 'pending' || state === 'leased') return
    this.#queued = Math.max(0, this.#queued - 1)
    if (state === 'indexed') this.#indexed++
    if (state === 'unchanged') this.#unchanged++
    if (state !== 'failed') return
    this.#errors++
    if (this.#errorUrls.length < MAX_LISTED) {
      this.#errorUrls.push({ url, reason: [reason, detail].filter((part) => part !== null).join(', ') })
    }
  }
}
