import { messageOf, PharosError } from '../../../core/errors.ts'
import { countOf } from '../../../core/text/count.ts'
import type { Clock } from '../../../crawl/ports.ts'
import type { JobChange, JobLog, JobNote, JobRecord } from '../../ports/job-log.ts'

/** Options of {@link createLogWriter}. */
export interface LogWriterOptions {
  readonly jobLog: () => Promise<JobLog>
  readonly clock: Clock
  /** Receives warnings about entries that could not be written. */
  readonly warn: (message: string) => void
  /** Maximum number of notes in memory while the log cannot be written. @default 20000 */
  readonly maxNotes?: number
}

/**
 * Writes the history of jobs in the background, so that no caller waits for the disk. Failed writes are retried and memory is bounded
 * meanwhile: the oldest queue events are dropped first, counted and reported.
 */
export interface LogWriter {
  /** Resolves when the job is stored, which may never happen; callers need a timeout. */
  add(job: JobRecord): Promise<void>
  /** Writes a change: at once if the change is urgent or includes a status, otherwise with the next write. */
  change(id: string, change: JobChange, isUrgent?: boolean): void
  note(note: JobNote): void
  /** Resolves when everything passed so far is written or dropped; may never resolve while the log cannot be written. */
  flush(): Promise<void>
  /** Makes one last attempt to write, then closes; resolves whether it succeeds or not. */
  close(): Promise<void>
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

/** Creates a writer whose log is opened on the first write. */
export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { clock, warn } = options
  const entries = new Map<string, Entry>()
  /** Callers waiting until a job is stored. */
  const waiters = new Map<string, () => void>()
  const notes = createNoteQueue(options.maxNotes ?? MAX_NOTES)
  let wake = new AbortController()
  let failures = 0
  let isRunning = false
  let isClosed = false
  let tail = Promise.resolve()

  const writeEntries = async (log: JobLog) => {
    for (const [id, entry] of entries) {
      entries.delete(id)
      try {
        await writeEntry(log, id, entry)
        waiters.get(id)?.()
        waiters.delete(id)
      } catch (error) {
        if (isWorthRetrying(error, failures)) entries.set(id, merge(entry, entries.get(id)))
        else {
          waiters.delete(id)
          warn(`the state of job ${id} could not be stored: ${messageOf(error)}`)
        }
        throw error
      }
    }
  }
  const writeNotes = async (log: JobLog) => {
    const batch = notes.take(BATCH_SIZE)
    if (batch.length === 0) return
    try {
      await log.append(batch)
    } catch (error) {
      if (isWorthRetrying(error, failures)) notes.putBack(batch)
      else warn(`${countOf(batch.length, 'job event')} could not be stored: ${messageOf(error)}`)
      throw error
    }
    // Yields to other work between two transactions.
    await clock.sleep(0)
  }
  const writeAll = async () => {
    try {
      const log = await options.jobLog()
      while (entries.size > 0 || notes.length > 0) {
        await writeEntries(log)
        await writeNotes(log)
      }
      const dropped = notes.forgetDropped()
      if (failures > 0) warn('the job history can be written again')
      if (dropped > 0) warn(`${dropped} job events were dropped: they came faster than they could be stored`)
      failures = 0
    } catch (error) {
      failures++
      if (failures === 1) warn(`the job history cannot be written; retrying: ${messageOf(error)}`)
    }
  }
  const attempt = () => {
    tail = tail.then(writeAll)
    return tail
  }
  const run = async () => {
    isRunning = true
    while (!isClosed && (entries.size > 0 || notes.length > 0)) {
      await clock
        .sleep(Math.min(MAX_RETRY_DELAY_MS, WRITE_INTERVAL_MS * 2 ** failures), wake.signal)
        .catch(() => undefined)
      wake = new AbortController()
      // Waits one turn of the event loop, so that entries of the same turn are included.
      await clock.sleep(0)
      if (!isClosed) await attempt()
    }
    isRunning = false
  }
  const schedule = (isUrgent: boolean) => {
    if (!isRunning && !isClosed) void run()
    if (isUrgent && failures === 0 && !wake.signal.aborted) wake.abort()
  }
  return {
    add(record) {
      entries.set(record.id, { record })
      schedule(true)
      return new Promise((resolve) => waiters.set(record.id, resolve))
    },
    change(id, change, isUrgent = change.status !== undefined) {
      entries.set(id, merge(entries.get(id) ?? { change: {} }, { change }))
      schedule(isUrgent)
    },
    note(note) {
      notes.add(note)
      schedule(notes.length >= BATCH_SIZE)
    },
    async flush() {
      while (!isClosed && (entries.size > 0 || notes.length > 0)) {
        if (failures === 0) await attempt()
        else await clock.sleep(WRITE_INTERVAL_MS)
      }
      await tail
    },
    async close() {
      isClosed = true
      wake.abort()
      await attempt()
    },
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
function createNoteQueue(maxNotes: number) {
  let notes: JobNote[] = []
  let dropped = 0
  const dropSurplus = () => {
    if (notes.length <= maxNotes) return
    // Drops a tenth at once, so that a full queue is not scanned for every new note.
    let surplus = notes.length - maxNotes + Math.ceil(maxNotes / 10)
    const before = notes.length
    notes = notes.filter(({ type }) => type !== 'queue' || --surplus < 0)
    if (notes.length > maxNotes) notes.splice(0, notes.length - maxNotes)
    dropped += before - notes.length
  }
  return {
    get length() {
      return notes.length
    },
    add(note: JobNote) {
      notes.push(note)
      dropSurplus()
    },
    take(count: number): JobNote[] {
      return notes.splice(0, count)
    },
    putBack(batch: readonly JobNote[]) {
      notes.unshift(...batch)
      dropSurplus()
    },
    /** Returns the number of notes dropped since the last call. */
    forgetDropped(): number {
      const count = dropped
      dropped = 0
      return count
    },
  }
}
