import { maskSecretFields } from '../../core/secrets.ts'
import type { Clock } from '../../crawl/ports.ts'
import type { Feed } from './events/feed.ts'
import { type Frame, type ProgressFrame, parseFrame } from './events/frames.ts'
import type { LogWriter } from './events/log-writer.ts'
import { severityOf } from './events/severity.ts'
import {
  addEarlierProgress,
  createStoredProgress,
  milestoneKey,
  noteError,
  noteFiltered,
  setStage,
  type TrackedJob,
} from './tracked-job.ts'

/** Receivers of the output of a crawl process. */
export interface OutputReceivers {
  readonly feed: Pick<Feed, 'tell'>
  readonly writer: Pick<LogWriter, 'change' | 'note'>
  readonly clock: Clock
  /** Called on the first progress report of a job. */
  readonly onFirstReport: () => void
}

/** Minimum interval between two progress lines that a job sends to the feed as `log` events. */
const PROGRESS_LOG_INTERVAL_MS = 10_000

/** Handles one line of a crawl process: a frame, or text for people. */
export function handleCrawlOutput(
  receivers: OutputReceivers,
  job: TrackedJob,
  stream: 'stdout' | 'stderr',
  line: string,
): void {
  // `abort` is as expensive as parsing four frames, even on an aborted signal.
  if (!job.silenceAbort.signal.aborted) job.silenceAbort.abort()
  job.lastActivityAt = receivers.clock.now()
  const frame = stream === 'stdout' ? parseFrame(line) : undefined
  if (frame !== undefined) handleFrame(receivers, job, frame, job.lastActivityAt)
  if (frame !== undefined && frame.type !== 'ERROR') return
  if (stream === 'stderr' && line.trim() !== '') job.lastErrorLine = line
  // Errors are sent as `log`, because `error` is the connection's own event in EventSource.
  receivers.feed.tell('log', job.id, { stream, line: maskSecretFields(line) })
}

function handleFrame(receivers: OutputReceivers, job: TrackedJob, frame: Frame, at: number): void {
  const { feed, writer } = receivers
  const { id: jobId } = job
  switch (frame.type) {
    case 'PROGRESS':
      handleProgress(receivers, job, frame, at)
      return
    case 'QUEUE':
      noteFiltered(job, frame.data)
      writer.note({ jobId, at, type: 'queue', data: frame.data })
      feed.tell('queue', jobId, { ...frame.data })
      return
    case 'CACHE':
      job.meter.noteCached()
      feed.tell('cache', jobId, { ...frame.data })
      return
    case 'ERROR':
      noteError(job, frame.data)
      return
    case 'PROBLEM':
      writer.note({ jobId, at, type: 'problem', data: frame.data })
      feed.tell('problem', jobId, { ...frame.data, severity: severityOf(frame.data.kind) })
      return
    case 'MILESTONE':
      if (job.milestones.has(milestoneKey(frame.data))) return
      job.milestones.add(milestoneKey(frame.data))
      writer.note({ jobId, at, type: 'milestone', data: frame.data })
      feed.tell('milestone', jobId, { ...frame.data })
  }
}

function handleProgress(
  { feed, writer, clock, onFirstReport }: OutputReceivers,
  job: TrackedJob,
  frame: Extract<Frame, { type: 'PROGRESS' }>,
  at: number,
): void {
  // `own` counts the work of this process alone, which only the view of workers shows.
  const { own = frame.data, ...data } = frame.data
  recordOwnWork(job, data, own, at)
  const progress = addEarlierProgress(job, data)
  // The process has made progress since its last start, so the count of restarts without progress begins again.
  if (data.visited > 0) job.fruitlessRestarts = 0
  const crawlId = data.crawlId ?? job.crawlId
  const sourceId = data.sourceId ?? job.sourceId
  job.progress = progress
  job.crawlId = crawlId
  job.sourceId = sourceId
  job.meter.note(progress, at)
  // Stored as soon as it is shown: a server that continues after a kill must not show less.
  writer.change(job.id, { progress: createStoredProgress(job), crawlId, sourceId }, true)
  const isFirst = job.stage === 'preparing'
  if (isFirst) setStage(job, 'running', clock.now())
  feed.tell('progress', job.id, { ...progress, running: true, stage: job.stage })
  if (isFirst) onFirstReport()
  if (at - job.progressLoggedAt >= PROGRESS_LOG_INTERVAL_MS && progress.visited > job.loggedVisits) {
    job.progressLoggedAt = at
    job.loggedVisits = progress.visited
    feed.tell('log', job.id, { stream: 'server', line: writeProgressLine(progress) })
  }
}

function recordOwnWork(
  job: TrackedJob,
  progress: ProgressFrame,
  own: NonNullable<ProgressFrame['own']>,
  at: number,
): void {
  const { visits, bytes } = job.earlierOwnWork
  job.ownWork = { visits: visits + own.visited, bytes: bytes + own.bytes }
  job.ownMeter.note({ ...progress, visited: job.ownWork.visits, bytes: job.ownWork.bytes }, at)
}

/** Example: `120 pages visited, 112 saved, 3 errors; 41 addresses queued` */
function writeProgressLine({ visited, saved, errors, queueSize }: ProgressFrame): string {
  return `${visited} pages visited, ${saved} saved, ${errors} errors; ${queueSize} addresses queued`
}
