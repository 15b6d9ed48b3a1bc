import { CRAWL_TYPE_SEEDS } from '../../src/library/crawl/crawl-types.ts'
import type { NoteFrame } from '../../src/library/jobs/events/frames.ts'
import type {
  JobChange,
  JobEntry,
  JobLog,
  JobNote,
  JobRecord,
  LogPage,
  NoteFilter,
  QueueEvent,
  RetentionRule,
  StoredNote,
} from '../../src/library/ports/job-log.ts'
import { mergeEntries, type OtherCrawlColumns, toOtherEntry } from '../../src/store/common/job-columns.ts'

/** An in-memory job history, with the ended crawls of the store. */
export function createMemoryJobLog(listEndedCrawls: () => readonly OtherCrawlColumns[] = () => []): JobLog {
  /** Jobs by id, in the order in which they were added. */
  const jobs = new Map<string, JobEntry>()
  const events: QueueEvent[] = []
  const problems: StoredNote[] = []
  const milestones: StoredNote[] = []
  const lastIds = { queue: 0, problem: 0, milestone: 0 }

  const countEvent = (jobId: string, at: number): void => {
    const job = jobs.get(jobId)
    if (job === undefined) return
    jobs.set(jobId, { ...job, events: job.events + 1, lastEventAt: Math.max(job.lastEventAt ?? at, at) })
  }
  const appendOne = (note: JobNote): void => {
    const { jobId, at, type } = note
    if (type === 'milestone' && milestones.some((kept) => isSameMilestone(kept, note))) return
    const id = ++lastIds[type]
    if (type === 'queue') {
      events.push({ ...note.data, id, jobId, at })
      countEvent(jobId, at)
    } else {
      const notes = type === 'problem' ? problems : milestones
      notes.push({ ...note.data, id, jobId, at })
    }
  }
  const listOthers = (): JobEntry[] => {
    const isOf = ({ id, startedAt, sourceId, url }: OtherCrawlColumns, job: JobEntry) =>
      (job.sourceId === null ? job.url === url : job.sourceId === sourceId) &&
      (job.crawlId === id || (job.createdAt <= startedAt && startedAt <= (job.endedAt ?? Infinity)))
    return listEndedCrawls()
      .filter((crawl) => ![...jobs.values()].some((job) => isOf(crawl, job)))
      .map(toOtherEntry)
  }
  const trim = (rule: RetentionRule): number => {
    const all = [...jobs.values()]
    const surplusJobs = new Set(
      all
        .filter(isOver)
        .sort((a, b) => (a.endedAt ?? Number.NEGATIVE_INFINITY) - (b.endedAt ?? Number.NEGATIVE_INFINITY))
        .slice(0, Math.max(0, all.length - rule.jobs))
        .map(({ id }) => id),
    )
    const jobsWithOldEvents = new Set(
      all.filter((job) => isOver(job) && (job.endedAt ?? Infinity) < rule.eventsSince).map(({ id }) => id),
    )
    for (const id of surplusJobs) jobs.delete(id)
    let removed = surplusJobs.size
    removed += removeWhere(events, ({ jobId }) => surplusJobs.has(jobId) || jobsWithOldEvents.has(jobId))
    removed += removeWhere(problems, ({ jobId }) => surplusJobs.has(jobId))
    removed += removeWhere(milestones, ({ jobId }) => surplusJobs.has(jobId))
    const surplusEvents = new Set(
      [...Map.groupBy(events, ({ jobId }) => jobId).values()].flatMap((ofJob) => dropLast(ofJob, rule.eventsPerJob)),
    )
    removed += removeWhere(events, (event) => surplusEvents.has(event))
    removed += events.splice(0, Math.max(0, events.length - rule.events)).length
    removed += problems.splice(0, Math.max(0, problems.length - rule.notes)).length
    removed += milestones.splice(0, Math.max(0, milestones.length - rule.notes)).length
    return removed
  }

  return {
    add: async (job) => {
      if (jobs.has(job.id)) throw new TypeError(`job ${job.id} already exists`)
      jobs.set(job.id, { ...structuredClone(job), events: 0, lastEventAt: null })
    },
    change: async (id, change: JobChange) => {
      const job = jobs.get(id)
      if (job !== undefined) jobs.set(id, { ...job, ...structuredClone(change) })
    },
    find: async (id) => jobs.get(id) ?? listOthers().find((other) => other.id === id),
    list: async (limit) => {
      // Among jobs with the same start time, the last one added counts as newest.
      const newest = [...jobs.values()].reverse().sort(byStart)
      const others = listOthers()
      return { total: newest.length + others.length, items: mergeEntries(newest, others, limit) }
    },
    listOpen: async () =>
      [...jobs.values()]
        .filter((job) => !isOver(job))
        .sort((a, b) => a.createdAt - b.createdAt)
        .map(toRecord),
    append: async (notes) => {
      for (const note of structuredClone(notes)) appendOne(note)
    },
    listQueueEvents: async (jobId, { action, ...page }) =>
      listPage(
        events.filter((event) => event.jobId === jobId && (action === undefined || event.action === action)),
        page,
      ),
    listProblems: async (filter) => listNotes(problems, filter),
    listMilestones: async (filter) => listNotes(milestones, filter),
    trim: async (rule) => trim(rule),
    listTypes: async () => CRAWL_TYPE_SEEDS,
  }
}

/** Whether a job has already reached the same milestone. */
function isSameMilestone(kept: StoredNote, { jobId, data }: Extract<JobNote, { data: NoteFrame }>): boolean {
  return kept.jobId === jobId && kept.kind === data.kind && kept.scope === data.scope
}

function isOver({ status }: JobEntry): boolean {
  return status !== 'queued' && status !== 'running'
}

/** Sorts queued jobs first, then by start time, newest first. */
function byStart(a: JobEntry, b: JobEntry): number {
  const queuedFirst = Number(b.status === 'queued') - Number(a.status === 'queued')
  return queuedFirst || (b.startedAt ?? b.createdAt) - (a.startedAt ?? a.createdAt)
}

function toRecord({ events, lastEventAt, ...job }: JobEntry): JobRecord {
  return job
}

function listNotes(notes: readonly StoredNote[], { jobId, kind, scope, ...page }: NoteFilter): StoredNote[] {
  const matching = notes
    .filter((note) => jobId === undefined || note.jobId === jobId)
    .filter((note) => kind === undefined || note.kind === kind)
    .filter((note) => scope === undefined || note.scope === scope)
  return listPage(matching, page)
}

/** Returns a page of `rows`, newest first; `rows` are sorted by id, oldest first. */
function listPage<T extends { readonly id: number }>(rows: readonly T[], { limit, before, after }: LogPage): T[] {
  const within = rows.filter(({ id }) => id < (before ?? Infinity) && id > (after ?? -Infinity))
  const part = after === undefined ? within.slice(Math.max(0, within.length - limit)) : within.slice(0, limit)
  return part.reverse()
}

/** All entries except the last `kept`. */
function dropLast<T>(rows: readonly T[], kept: number): readonly T[] {
  return rows.slice(0, Math.max(0, rows.length - kept))
}

function removeWhere<T>(rows: T[], shouldRemove: (row: T) => boolean): number {
  const kept = rows.filter((row) => !shouldRemove(row))
  const removed = rows.length - kept.length
  rows.splice(0, rows.length, ...kept)
  return removed
}
