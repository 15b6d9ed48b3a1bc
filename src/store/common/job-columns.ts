import type { NoteFrame, ProgressFrame } from '../../library/jobs/events/frames.ts'
import type { JobEntry, JobRecord, StoredNote } from '../../library/ports/job-log.ts'
import { parseStored } from './damage.ts'

/** The columns of a job. */
export interface JobColumns extends Omit<JobEntry, 'args' | 'process' | 'progress'> {
  readonly args: string
  readonly pid: number | null
  readonly processBegan: string | null
  readonly progress: string | null
}

/** The columns of a note. */
export interface NoteColumns extends Omit<StoredNote, 'details'> {
  readonly details: string | null
}

/** The table for each kind of note. */
export const NOTE_TABLES = { problem: 'crawl_problems', milestone: 'crawl_milestones' } as const

/** A new job as it is stored, before anything has happened in it. */
export function toColumns(job: JobRecord): JobColumns {
  return {
    ...job,
    args: JSON.stringify(job.args),
    pid: job.process?.pid ?? null,
    processBegan: job.process?.began ?? null,
    progress: job.progress && JSON.stringify(job.progress),
    events: 0,
    lastEventAt: null,
  }
}

/** Converts a stored job, whose JSON was written by {@link toColumns}. */
export function toEntry({ args, pid, processBegan, progress, ...job }: JobColumns): JobEntry {
  return {
    ...job,
    args: parseStored<string[]>(args),
    process: pid === null ? null : { pid, began: processBegan },
    progress: progress === null ? null : parseStored<ProgressFrame>(progress),
  }
}

/** A job without its event counts. */
export function toRecord({ events, lastEventAt, ...job }: JobEntry): JobRecord {
  return job
}

/** Converts a stored note. */
export function toNote({ details, ...note }: NoteColumns): StoredNote {
  return { ...note, details: details === null ? null : parseStored<NoteFrame['details']>(details) }
}
