import { messageOf, PharosError } from '../../core/errors.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { JobChange, JobLog, JobNote, JobRecord } from '../job-log.ts'

/** What a writer is made with. */
export interface LogWriterOptions {
  readonly jobLog: () => Promise<JobLog>
  readonly clock: Clock
  /** Says what could not be kept. */
  readonly warn: (message: string) => void
  /** So many notes wait at most while the log cannot be written. @default 20000 */
  readonly maxNotes?: number
}

/**
 * Writes the history of jobs behind the backs of those who make it: nobody has to wait for the disk. What cannot be written is tried again,
 * and bounded in memory meanwhile: the oldest queue events go first, which is counted and said.
 */
export interface LogWriter {
  /** Resolves when the job is kept, which may be never; a caller bounds how long it waits. */
  add(job: JobRecord): Promise<void>
  /** Soon, unless it is only about progress, which can wait for others. */
  change(id: string, change: JobChange, isUrgent?: boolean): void
  note(note: JobNote): void
  /** Resolves when all that was given before is written, or cannot be kept; while the log cannot be written, that may be never. */
  flush(): Promise<void>
  /** Tries once more to write what waits, and ends; resolves when that is done or failed. */
  close(): Promise<void>
}

/** Notes are written this often, or when there are as many as one transaction takes. */
const WRITE_MS = 250
const BATCH = 500
/** While nothing can be written, it is tried again in steps up to this. */
const MAX_PAUSE_MS = 5_000
const MAX_NOTES = 20_000
/** What fails this often for a reason that lies not in the library would fail for ever, and keep all else from being written. */
const MAX_TRIES = 5

/** What is to be written of a job: all of it, or what changed. */
type Entry = { readonly record: JobRecord } | { readonly change: JobChange }

/** Creates a writer to a log, which is opened when there is something to write. */
export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { clock, warn } = options
  const entries = new Map<string, Entry>()
  /** Those who wait until a job is kept. */
  const kept = new Map<string, () => void>()
  const notes = createNoteQueue(options.maxNotes ?? MAX_NOTES)
  let wake = new AbortController()
  let tries = 0
  let isRunning = false
  let isClosed = false
  let tail = Promise.resolve()

  const writeEntries = async (log: JobLog) => {
    for (const [id, entry] of entries) {
      entries.delete(id)
      try {
        await writeEntry(log, id, entry)
        kept.get(id)?.()
        kept.delete(id)
      } catch (error) {
        if (isWorthTrying(error, tries)) entries.set(id, merge(entry, entries.get(id)))
        else {
          kept.delete(id)
          warn(`what became of job ${id} cannot be kept: ${messageOf(error)}`)
        }
        throw error
      }
    }
  }
  const writeNotes = async (log: JobLog) => {
    const batch = notes.take(BATCH)
    if (batch.length === 0) return
    try {
      await log.append(batch)
    } catch (error) {
      if (isWorthTrying(error, tries)) notes.putBack(batch)
      else warn(`${batch.length} notes of jobs cannot be kept: ${messageOf(error)}`)
      throw error
    }
    // Whoever else waits for the processor gets it in between.
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
      if (tries > 0) warn('the history of jobs is written again')
      if (dropped > 0) warn(`${dropped} queue events were not kept: more came than could be written`)
      tries = 0
    } catch (error) {
      tries++
      if (tries === 1) warn(`the history of jobs cannot be written, which is tried again: ${messageOf(error)}`)
    }
  }
  const attempt = () => {
    tail = tail.then(writeAll)
    return tail
  }
  const run = async () => {
    isRunning = true
    while (!isClosed && (entries.size > 0 || notes.length > 0)) {
      await clock.sleep(Math.min(MAX_PAUSE_MS, WRITE_MS * 2 ** tries), wake.signal).catch(() => undefined)
      wake = new AbortController()
      // What is told in the same moment is written with it.
      await clock.sleep(0)
      if (!isClosed) await attempt()
    }
    isRunning = false
  }
  const schedule = (isUrgent: boolean) => {
    if (!isRunning && !isClosed) void run()
    if (isUrgent && tries === 0 && !wake.signal.aborted) wake.abort()
  }
  return {
    add(record) {
      entries.set(record.id, { record })
      schedule(true)
      return new Promise((resolve) => kept.set(record.id, resolve))
    },
    change(id, change, isUrgent = change.status !== undefined) {
      entries.set(id, merge(entries.get(id) ?? { change: {} }, { change }))
      schedule(isUrgent)
    },
    note(note) {
      notes.add(note)
      schedule(notes.length >= BATCH)
    },
    async flush() {
      while (!isClosed && (entries.size > 0 || notes.length > 0)) {
        if (tries === 0) await attempt()
        else await clock.sleep(WRITE_MS)
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

/** Both, as if they had come as one. */
function merge(entry: Entry, later: Entry | undefined): Entry {
  if (later === undefined || 'record' in later) return later ?? entry
  if ('record' in entry) return { record: { ...entry.record, ...later.change } }
  return { change: { ...entry.change, ...later.change } }
}

/** Trouble of the library passes; of anything else it is not known. */
function isWorthTrying(error: unknown, tries: number): boolean {
  return (error instanceof PharosError && error.code.startsWith('LIBRARY_')) || tries < MAX_TRIES
}

/** Notes in their order. When there are too many, queue events go first, the oldest of them before others. */
function createNoteQueue(most: number) {
  let notes: JobNote[] = []
  let dropped = 0
  const keepWithin = () => {
    if (notes.length <= most) return
    // Several at once, so that a queue that stays full does not go through all of them for each that comes.
    let surplus = notes.length - most + Math.ceil(most / 10)
    const before = notes.length
    notes = notes.filter(({ type }) => type !== 'queue' || --surplus < 0)
    if (notes.length > most) notes.splice(0, notes.length - most)
    dropped += before - notes.length
  }
  return {
    get length() {
      return notes.length
    },
    add(note: JobNote) {
      notes.push(note)
      keepWithin()
    },
    take(count: number): JobNote[] {
      return notes.splice(0, count)
    },
    putBack(batch: readonly JobNote[]) {
      notes.unshift(...batch)
      keepWithin()
    },
    /** How many were dropped since it was last asked. */
    forgetDropped(): number {
      const count = dropped
      dropped = 0
      return count
    },
  }
}
