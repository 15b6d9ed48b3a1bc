import { isoOrNull } from '../../core/text/iso-time.ts'
import type { JobView } from './dispatcher.ts'
import type { ProgressFrame } from './events/frames.ts'

/** A job in the job list of the HTTP API. */
export interface JobItem
  extends Pick<JobView, 'id' | 'pid' | 'url' | 'paused' | 'status' | 'stage' | 'sourceId'>,
    Pick<ProgressFrame, 'visited' | 'downloaded' | 'errors' | 'queueSize'> {
  readonly startedAt: string | null
  readonly lastActivityAt: string | null
  readonly stageChangedAt: string
}

/** Converts a job to its list item. */
export function writeJobItem(job: JobView): JobItem {
  const { id, pid, url, paused, status, stage } = job
  return {
    id,
    pid,
    url,
    startedAt: isoOrNull(job.startedAt),
    paused,
    visited: job.progress?.visited ?? 0,
    downloaded: job.progress?.downloaded ?? 0,
    errors: job.progress?.errors ?? 0,
    queueSize: job.progress?.queueSize ?? 0,
    lastActivityAt: isoOrNull(job.lastActivityAt),
    status,
    stage,
    stageChangedAt: new Date(job.stageChangedAt).toISOString(),
    sourceId: job.sourceId,
  }
}

/** Payload of the `done` event of a job. */
export function writeDone(
  job: Pick<JobView, 'code' | 'signal' | 'status' | 'endedAt' | 'progress'>,
): Readonly<Record<'code' | 'signal' | 'endedAt' | 'status' | 'unread', string | number | null>> {
  const { code, signal, status, progress } = job
  // A process that was killed has not told what it left.
  const unread = progress?.unread || (status === 'done' ? 0 : (progress?.queueSize ?? 0))
  return { code, signal, endedAt: isoOrNull(job.endedAt), status, unread }
}
