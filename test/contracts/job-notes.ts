import type { NoteFrame, QueueFrame } from '../../src/library/jobs/events/frames.ts'
import type { JobNote, JobRecord, RetentionRule } from '../../src/library/ports/job-log.ts'

/** A rule that removes nothing. */
export const KEEP_ALL: RetentionRule = {
  eventsPerJob: Number.MAX_SAFE_INTEGER,
  events: Number.MAX_SAFE_INTEGER,
  notes: Number.MAX_SAFE_INTEGER,
  eventsSince: 0,
  jobs: Number.MAX_SAFE_INTEGER,
}

/** A queued job. */
export function jobOf(id: string, more: Partial<JobRecord> = {}): JobRecord {
  return {
    id,
    url: `https://${id}.test/`,
    args: [],
    process: null,
    status: 'queued',
    createdAt: 10,
    startedAt: null,
    endedAt: null,
    crawlId: null,
    sourceId: null,
    restarts: 0,
    progress: null,
    problem: null,
    code: null,
    signal: null,
    ...more,
  }
}

/** The data of a queue event. */
export function frameOf(url: string, more: Partial<QueueFrame> = {}): QueueFrame {
  return { action: 'enqueued', url, depth: 1, host: 'a.test', reason: null, queueSize: 1, alias: null, ...more }
}

/** A queue event of a job. */
export function event(jobId: string, url: string, more: Partial<QueueFrame> & { readonly at?: number } = {}): JobNote {
  const { at = 1, ...frame } = more
  return { jobId, at, type: 'queue', data: frameOf(url, frame) }
}

/** A problem or milestone of a job. */
export function note(
  type: 'problem' | 'milestone',
  jobId: string,
  target: string,
  more: Partial<NoteFrame> & { readonly at?: number } = {},
): JobNote {
  const { at = 1, ...frame } = more
  return { jobId, at, type, data: { kind: 'k', scope: null, target, message: null, details: null, ...frame } }
}
