import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { CrawlHistory, CrawlItem, CrawlList, LogEvent, NoteEvent, NoteList, ProgressEvent } from './api.ts'
import { createRateWindow, type RateWindow } from './home/rate-window.ts'
import { libraryOutage } from './library-outage.ts'
import { request, writeQuery } from './request.ts'

/** A problem or milestone that a job reported. */
export interface Note {
  readonly type: 'problem' | 'milestone'
  readonly at: number
  readonly kind: string
  readonly severity: string
  readonly message: string
  /** The subject of the note, usually an address. */
  readonly target: string
}

/** A job that is queued, running, or ended while this page was open. */
export interface LiveJob {
  readonly id: string
  readonly item: Signal<CrawlItem>
  readonly progress: Signal<ProgressEvent | null>
  readonly rates: RateWindow
  /** Milestones and problems are newest first. */
  readonly milestones: Signal<readonly Note[]>
  readonly problems: Signal<readonly Note[]>
  /** The log lines, oldest first. */
  readonly lines: Signal<readonly string[]>
}

/** A crawl that started within this time is charted from its start. */
const RECENT_START_MS = 10_000
const POLL_INTERVAL_MS = 5000
/** The page keeps this many notes and lines of a job; the server has all of them. */
const MAX_NOTES = 200
const MAX_LINES = 200

/** Queued and running jobs, newest first. */
export const liveJobs: Signal<readonly LiveJob[]> = signal([])

/** The items of {@link liveJobs}. */
export const liveItems: ReadonlySignal<readonly CrawlItem[]> = computed(() =>
  liveJobs.value.map(({ item }) => item.value),
)

/** Whether the server has listed its jobs yet: before, an empty list says nothing. */
export const areJobsListed: Signal<boolean> = signal(false)

/** Counts the jobs that ended while this page was open. Components that show the history reload when it changes. */
export const endedCount: Signal<number> = signal(0)

/** The state of the event stream. */
export const connection: Signal<'connecting' | 'open' | 'lost'> = signal('connecting')

const jobsById = new Map<string, LiveJob>()
/** Lines and notes can arrive before the list that contains their job. */
const pendingEvents = new Map<string, { readonly notes: Note[]; readonly lines: string[] }>()
const endedIds = new Set<string>()
let retryMs = 1000

/** Subscribes to the event stream of the server for as long as the page is open. */
export function connectLive(): void {
  const source = new EventSource('/events?logs=1')
  source.addEventListener('open', () => {
    retryMs = 1000
    connection.value = 'open'
    // A restarted server resumes jobs that ended with the previous process.
    endedIds.clear()
    void readJobs()
  })
  source.addEventListener('error', () => {
    connection.value = 'lost'
    // The browser reconnects by itself, unless the server rejected the connection.
    if (source.readyState !== EventSource.CLOSED) return
    source.close()
    // If the session has expired, this request redirects to the login page.
    void readJobs()
    setTimeout(connectLive, retryMs)
    retryMs = Math.min(retryMs * 2, 15_000)
  })
  const on = <T>(name: string, handle: (data: T) => void) =>
    source.addEventListener(name, (event) => {
      const data = parse<T>(event.data)
      if (data !== undefined) batch(() => handle(data))
    })
  on<CrawlList>('jobs', ({ items }) => {
    // The event lists only the jobs of this server, so crawls of other programs are kept as they are.
    const others = liveJobs.peek().flatMap(({ item }) => (item.peek().elsewhere ? [item.peek()] : []))
    applyList({ items: [...items, ...others] })
  })
  on<ProgressEvent>('progress', applyProgress)
  on<LogEvent>('log', addLine)
  on<NoteEvent>('problem', (data) => addNote('problem', data))
  on<NoteEvent>('milestone', (data) => addNote('milestone', data))
  on<{ readonly jobId: string }>('done', ({ jobId }) => endJob(jobId))
}

/** Fetches the list of jobs: at the start, and after the user acted on one. */
export async function readJobs(): Promise<void> {
  const answer = await request<CrawlList>('/api/crawls')
  if ('value' in answer) batch(() => applyList(answer.value))
}

// Crawls of other programs send no events, so the page polls.
setInterval(() => {
  if (!document.hidden && connection.value === 'open') void readJobs()
}, POLL_INTERVAL_MS)

let wasLibraryOut = false
effect(() => {
  const isLibraryOut = libraryOutage.value !== null
  // Once the library is back, requests that failed in the meantime are repeated.
  if (wasLibraryOut && !isLibraryOut) {
    endedCount.value = endedCount.peek() + 1
    void readJobs()
  }
  wasLibraryOut = isLibraryOut
})

function applyList({ items }: Pick<CrawlList, 'items'>): void {
  areJobsListed.value = true
  const openItems = items.filter(({ status, id }) => (status === 'running' || status === 'queued') && !endedIds.has(id))
  for (const item of openItems) {
    const job = jobsById.get(item.id)
    if (job === undefined) addJob(item)
    else job.item.value = item
    if (item.elsewhere) applyExternalProgress(item)
  }
  const jobs = openItems.flatMap(({ id }) => jobsById.get(id) ?? [])
  const isSame = jobs.length === liveJobs.value.length && jobs.every((job, i) => liveJobs.value[i] === job)
  if (isSame) return
  // A list can be older than the latest events: a job missing from it is only hidden until the next list.
  if (liveJobs.value.some((job) => !jobs.includes(job))) endedCount.value++
  liveJobs.value = jobs
}

/** Derives a progress report for a crawl that another program runs from the counts in the library. */
function applyExternalProgress({
  id,
  visited,
  saved = 0,
  unchanged = 0,
  errors,
  queueSize,
  sourceId,
}: CrawlItem): void {
  const job = jobsById.get(id)
  if (job === undefined || job.progress.peek()?.visited === visited) return
  job.rates.add(Date.now(), visited)
  const progress = { jobId: id, visited, saved, unchanged, errors, queueSize, bytes: 0, paused: false }
  job.progress.value = { ...progress, sourceId }
}

function addJob(item: CrawlItem): void {
  const pending = pendingEvents.get(item.id)
  pendingEvents.delete(item.id)
  const rates = createRateWindow()
  const [now, startedAt] = [Date.now(), item.startedAt === null ? Number.NaN : Date.parse(item.startedAt)]
  // For a recent crawl, the chart begins with a sample of zero pages at its start.
  if (now - startedAt < RECENT_START_MS && startedAt < now) rates.add(startedAt, 0)
  rates.add(now, item.visited)
  jobsById.set(item.id, {
    id: item.id,
    item: signal(item),
    progress: signal(null),
    rates,
    milestones: signal(pending?.notes.filter(({ type }) => type === 'milestone') ?? []),
    problems: signal(pending?.notes.filter(({ type }) => type === 'problem') ?? []),
    lines: signal(pending?.lines ?? []),
  })
  if (!item.elsewhere && item.status === 'running') void readNotes(item.id)
  if (item.status === 'running') void readHistory()
}

let isReadingHistory = false

/** Fetches what the server recorded about running crawls before this page was opened. */
async function readHistory(): Promise<void> {
  if (isReadingHistory) return
  isReadingHistory = true
  const answer = await request<CrawlHistory>('/api/crawl-history')
  isReadingHistory = false
  if (!('value' in answer)) return
  for (const { id, samples } of answer.value.items)
    jobsById.get(id)?.rates.addEarlier(samples.map(({ at, visited }) => ({ at, count: visited })))
}

/** Fetches the notes that a job reported before this page was opened. */
async function readNotes(job: string): Promise<void> {
  const query = writeQuery({ job, limit: MAX_NOTES })
  for (const type of ['milestone', 'problem'] as const) {
    const answer = await request<NoteList>(`/api/${type}s${query}`)
    if (!('value' in answer)) continue
    batch(() => {
      // Adds the oldest first, because each note is put in front of the others.
      for (const item of answer.value.items.toReversed()) addNote(type, item)
    })
  }
}

function applyProgress(progress: ProgressEvent): void {
  const job = jobsById.get(progress.jobId)
  if (job === undefined) {
    if (!endedIds.has(progress.jobId)) void readJobs()
    return
  }
  job.rates.add(Date.now(), progress.visited)
  job.progress.value = { ...job.progress.value, ...progress }
  const { stage, paused } = job.item.value
  // Reports from the crawl process itself have no stage, which means that it runs.
  const next = progress.stage ?? 'running'
  if (stage !== next || paused !== progress.paused) {
    job.item.value = { ...job.item.value, stage: next, paused: progress.paused }
  }
}

function addLine({ jobId, line, stream }: LogEvent): void {
  if (jobId === null || jobId === undefined) return
  const text = stream === 'stderr' ? `! ${line}` : line
  const job = jobsById.get(jobId)
  if (job === undefined) pendingEventsOf(jobId)?.lines.push(text)
  else job.lines.value = [...job.lines.value, text].slice(-MAX_LINES)
}

function addNote(type: Note['type'], { jobId, kind, severity, message, target, ts }: NoteEvent): void {
  const at = ts === undefined || ts === null ? Date.now() : Date.parse(ts)
  const note = { type, at, kind, severity: severity ?? 'info', message: message ?? '', target: target ?? '' }
  const job = jobsById.get(jobId)
  if (job === undefined) {
    pendingEventsOf(jobId)?.notes.unshift(note)
    return
  }
  const notes = type === 'milestone' ? job.milestones : job.problems
  // A note that arrived while the list was being fetched is in both.
  if (notes.value.some((known) => known.kind === kind && known.target === note.target)) return
  notes.value = [note, ...notes.value].toSorted((a, b) => b.at - a.at).slice(0, MAX_NOTES)
}

function pendingEventsOf(jobId: string): { readonly notes: Note[]; readonly lines: string[] } | undefined {
  if (endedIds.has(jobId) || pendingEvents.size > 50) return undefined
  const events = pendingEvents.get(jobId) ?? { notes: [], lines: [] }
  pendingEvents.set(jobId, events)
  return events.lines.length > MAX_LINES || events.notes.length > MAX_NOTES ? undefined : events
}

function endJob(jobId: string): void {
  if (endedIds.has(jobId)) return
  endedIds.add(jobId)
  jobsById.delete(jobId)
  liveJobs.value = liveJobs.value.filter(({ id }) => id !== jobId)
  endedCount.value++
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    // An event that cannot be parsed must not end the event stream.
    return undefined
  }
}
