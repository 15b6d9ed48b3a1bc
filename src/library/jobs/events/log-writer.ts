import { messageOf, PharosError } from '../../../core/errors.ts'
import { countOf } from '../../../core/text/count.ts'
import type { Clock } from '../../../crawl/ports.ts'
import type { JobChange, JobLog, JobNote, JobRecord } from '../../ports/job-log.ts'

/** Options of {@link LogWriter}. */
export interface LogWriterOptions {
  readonly jobLog: () => Promise<JobLog>
  readonly clock: Clock
  /** Receives warnings about entries that could not be written. */
  readonly warn: (message: string) => void
  /** Maximum number of notes in memory while the log cannot be written. @default 20000 */
  readonly maxNotes?: number
}

/** Interval between writes. */
const WRITE_INTERVAL_MS = 250
/** Maximum number of notes per transaction. */
const BATCH_SIZE = 500
/** Maximum back-off while writing fails. */
const MAX_RETRY_DELAY_MS = 5_000
const MAX_NOTES = 20_000
/** An entry that fails this often, for a reason other than the library, is dropped so that it does not block the rest. */
const MAX_FAILURES = 5

/** Pending write of a job: the whole record, or only changes. */
type Entry = { readonly record: JobRecord } | { readonly change: JobChange }

/**
 * Writes the history of jobs in the background, so that no caller waits for the disk. Failed writes are retried and memory is bounded
 * meanwhile: the oldest queue events are dropped first, counted and reported.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  readonly #entries = new Map<string, Entry>()
  /** Callers waiting until a job is stored. */
  readonly #waiters = new Map<string, () => void>()
  readonly #notes: NoteQueue
  #wake = new AbortController()
  #failures = 0
  #isRunning = false
  #isClosed = false
  #tail = Promise.resolve()

  constructor(options: LogWriterOptions) {
    this.#options = options
    this.#notes = new NoteQueue(options.maxNotes ?? MAX_NOTES)
  }

  /** Resolves when the job is stored, which may never happen; callers need a timeout. */
  add(record: JobRecord): Promise<void> {
    this.#entries.set(record.id, { record })
    this.#schedule(true)
    return new Promise((resolve) => this.#waiters.set(record.id, resolve))
  }

  /** Writes a change: at once if the change is urgent or includes a status, otherwise with the next write. */
  change(id: string, change: JobChange, isUrgent: boolean = change.status !== undefined): void {
    this.#entries.set(id, merge(this.#entries.get(id) ?? { change: {} }, { change }))
    this.#schedule(isUrgent)
  }

  note(note: JobNote): void {
    this.#notes.add(note)
    this.#schedule(this.#notes.length >= BATCH_SIZE)
  }

  /** Resolves when everything passed so far is written or dropped; may never resolve while the log cannot be written. */
  async flush(): Promise<void> {
    while (!this.#isClosed && (this.#entries.size > 0 || this.#notes.length > 0)) {
      if (this.#failures === 0) await this.#attempt()
      else await this.#options.clock.sleep(WRITE_INTERVAL_MS)
    }
    await this.#tail
  }

  /** Makes one last attempt to write, then closes; resolves whether it succeeds or not. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake.abort()
    await this.#attempt()
  }

  async #writeEntries(log: JobLog): Promise<void> {
    for (const [id, entry] of this.#entries) {
      this.#entries.delete(id)
      try {
        await writeEntry(log, id, entry)
        this.#waiters.get(id)?.()
        this.#waiters.delete(id)
      } catch (error) {
        if (isWorthRetrying(error, this.#failures)) this.#entries.set(id, merge(entry, this.#entries.get(id)))
        else {
          this.#waiters.delete(id)
          this.#options.warn(`the state of job ${id} could not be stored: ${messageOf(error)}`)
        }
        throw error
      }
    }
  }

  async #writeNotes(log: JobLog): Promise<void> {
    const batch = this.#notes.take(BATCH_SIZE)
    if (batch.length === 0) return
    try {
      await log.append(batch)
    } catch (error) {
      if (isWorthRetrying(error, this.#failures)) this.#notes.putBack(batch)
      else this.#options.warn(`${countOf(batch.length, 'job event')} could not be stored: ${messageOf(error)}`)
      throw error
    }
    // Yields to other work between two transactions.
    await this.#options.clock.sleep(0)
  }

  readonly #writeAll = async (): Promise<void> => {
    const { warn } = this.#options
    try {
      const log = await this.#options.jobLog()
      while (this.#entries.size > 0 || this.#notes.length > 0) {
        await this.#writeEntries(log)
        await this.#writeNotes(log)
      }
      const dropped = this.#notes.forgetDropped()
      if (this.#failures > 0) warn('the job history can be written again')
      if (dropped > 0) warn(`${dropped} job events were dropped: they came faster than they could be stored`)
      this.#failures = 0
    } catch (error) {
      this.#failures++
      if (this.#failures === 1) warn(`the job history cannot be written; retrying: ${messageOf(error)}`)
    }
  }

  #attempt() {
    this.#tail = this.#tail.then(this.#writeAll)
    return this.#tail
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    this.#isRunning = true
    while (!this.#isClosed && (this.#entries.size > 0 || this.#notes.length > 0)) {
      await clock
        .sleep(Math.min(MAX_RETRY_DELAY_MS, WRITE_INTERVAL_MS * 2 ** this.#failures), this.#wake.signal)
        .catch(() => undefined)
      this.#wake = new AbortController()
      // Waits one turn of the event loop, so that entries of the same turn are included.
      await clock.sleep(0)
      if (!this.#isClosed) await this.#attempt()
    }
    this.#isRunning = false
  }

  #schedule(isUrgent: boolean): void {
    if (!this.#isRunning && !this.#isClosed) void this.#run()
    if (isUrgent && this.#failures === 0 && !this.#wake.signal.aborted) this.#wake.abort()
  }
}

function writeEntry(log: JobLog, id: string, entry: Entry): Promise<void> {
  return 'record' in entry ? log.add(entry.record) : log.change(id, entry.change)
}

/** Combines two entries of the same job. */
function merge(entry: Entry, later: Entry | undefined): Entry {
  if (later === undefined || 'record' in later) return later ?? entry
  if ('record' in entry) return { record: { ...entry.record, ...later.change } }
  return { change: { ...entry.change, ...later.change } }
}

/** Library errors are temporary; other errors are retried up to the limit. */
function isWorthRetrying(error: unknown, failures: number): boolean {
  return (error instanceof PharosError && error.code.startsWith('LIBRARY_')) || failures < MAX_FAILURES
}

/** Queue of notes in order. When it is full, queue events are dropped first, oldest first. */
class NoteQueue {
  readonly #maxNotes: number
  #notes: JobNote[] = []
  #dropped = 0

  constructor(maxNotes: number) {
    this.#maxNotes = maxNotes
  }

  get length(): number {
    return this.#notes.length
  }

  add(note: JobNote): void {
    this.#notes.push(note)
    this.#dropSurplus()
  }

  take(count: number): JobNote[] {
    return this.#notes.splice(0, count)
  }

  putBack(batch: readonly JobNote[]): void {
    this.#notes.unshift(...batch)
    this.#dropSurplus()
  }

  /** Returns the number of notes dropped since the last call. */
  forgetDropped(): number {
    const count = this.#dropped
    this.#dropped = 0
    return count
  }

  #dropSurplus(): void {
    const before = this.#notes.length
    if (before <= this.#maxNotes) return
    // Drops a tenth at once, so that a full queue is not scanned for every new note.
    let surplus = before - this.#maxNotes + Math.ceil(this.#maxNotes / 10)
    this.#notes = this.#notes.filter(({ type }) => type !== 'queue' || --surplus < 0)
    if (this.#notes.length > this.#maxNotes) this.#notes.splice(0, this.#notes.length - this.#maxNotes)
    this.#dropped += before - this.#notes.length
  }
}
