import type { Context } from 'hono'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import { labelOfCode } from '../../core/address-labels.ts'
import { maskSecretFields } from '../../core/secrets.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { writeSpan } from '../../core/text/duration.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { QUEUE_ACTIONS } from '../../library/jobs/events/frames.ts'
import type { JobEntry, JobLog, JobStatus, QueueEvent } from '../../library/ports/job-log.ts'
import { cutPage } from './cut-page.ts'
import { renderPage } from './layout.ts'
import {
  clipShowable,
  type Html,
  type Row,
  writeAddress,
  writeChoice,
  writeControls,
  writeCounters,
  writeFacts,
  writeFilters,
  writeHref,
  writeMoment,
  writeOutsideLink,
  writePager,
  writePill,
  writeTable,
  writeText,
} from './parts.ts'
import { readLimit, readNumber, readWord } from './query.ts'

const MAX_JOBS = 200

/** `/queues/ssr`: the crawls, newest first. */
export async function renderQueues(c: Context, log: JobLog): Promise<Html> {
  const limit = readLimit(c, 50, MAX_JOBS)
  const { total, items } = await log.list(limit)
  return renderPage({
    title: 'All crawls',
    section: 'All crawls',
    live: {},
    body: html`${writeTable({
      caption: html`${items.length < total ? `The newest ${writeNumber(items.length)} of ${writeNumber(total)}` : countOf(total, 'crawl')}`,
      columns: [
        { label: 'Crawl', look: 'address' },
        { label: 'Status', look: 'word' },
        { label: 'New or changed', look: 'number' },
        { label: 'Unchanged', look: 'number' },
        { label: 'Errors', look: 'number' },
        { label: 'Not read', look: 'number' },
        { label: 'Took', look: 'word' },
        { label: 'Started', look: 'time' },
      ],
      rows: items.map(jobRow),
      empty: html`<p>Nothing has been crawled yet.</p><p><a href="/">Start a crawl</a></p>`,
      live: { event: 'jobs', blank: jobRow(BLANK_JOB), most: MAX_JOBS },
    })}`,
  })
}

const BLANK_JOB: JobFacts = {
  id: '',
  url: '',
  status: 'queued',
  startedAt: null,
  endedAt: null,
  progress: null,
}

type JobFacts = Pick<JobEntry, 'id' | 'url' | 'status' | 'startedAt' | 'endedAt' | 'progress'>

/** The status of a job; a crawl that left addresses out because of its page limit is not just done. */
function writeStatus({ status, progress }: Pick<JobEntry, 'status' | 'progress'>): Html {
  return writePill(status === 'done' && (progress?.unread ?? 0) > 0 ? 'page limit' : status, 'status')
}

function jobRow({ id, url, startedAt, endedAt, progress, ...job }: JobFacts): Row {
  const count = (name: 'saved' | 'unchanged' | 'errors' | 'unread') =>
    html`<span data-field="${name}">${writeNumber(progress?.[name] ?? 0)}</span>`
  return {
    id,
    cells: [
      html`<a class="text" href="${queueHref(id)}" data-field="id" data-base="/queues/" data-end="/ssr" data-text="url">${clipShowable(maskSecretFields(url))}</a>`,
      writeStatus({ ...job, progress }),
      ...(['saved', 'unchanged', 'errors', 'unread'] as const).map(count),
      html`<span data-field="took">${startedAt === null || endedAt === null ? '' : writeSpan(endedAt - startedAt)}</span>`,
      writeMoment(startedAt, 'startedAt'),
    ],
  }
}

/** `/queues/latest`: the address of the newest queue, or the list when there is none. */
export async function findLatestQueue(log: JobLog): Promise<string> {
  const { items } = await log.list(MAX_JOBS)
  const [newest] = items.toSorted((a, b) => latestOf(b) - latestOf(a))
  return newest === undefined ? '/queues/ssr' : queueHref(newest.id)
}

function latestOf({ endedAt, startedAt, createdAt }: JobEntry): number {
  return endedAt ?? startedAt ?? createdAt
}

function queueHref(id: string): string {
  return `/queues/${encodeURIComponent(id)}/ssr`
}

/** `/queues/:id/ssr`: the queue events of one job, newest first. */
export async function renderQueue(c: Context, log: JobLog): Promise<Html> {
  const id = c.req.param('id') ?? ''
  if (!/^[\w-]{1,100}$/.test(id)) throw new HTTPException(400, { message: 'This is not the id of a crawl.' })
  const job = await log.find(id)
  if (job === undefined)
    throw new HTTPException(404, { message: 'There is no crawl with this id, or its history was trimmed.' })
  const action = readWord(c, 'action', QUEUE_ACTIONS)
  const before = readNumber(c, 'before')
  const after = readNumber(c, 'after')
  const limit = readLimit(c, 50, 500)
  // Reads one extra entry, which tells whether there are more.
  const page = await log.listQueueEvents(id, {
    limit: limit + 1,
    ...withoutUndefined({ action, before, after }),
  })
  const { items, links } = cutPage(page, { before, after, limit }, queueHref(id), {
    action,
    limit: c.req.query('limit'),
  })
  const { newer, older } = await findNeighbors(log, id)
  const isLatest = before === undefined && after === undefined
  // A job that has ended produces no more events.
  const isLive = isLatest && OPEN_STATUSES.includes(job.status)
  return renderPage({
    title: `Crawl of ${maskSecretFields(job.url)}`,
    section: 'All crawls',
    ...(isLive ? { live: { jobId: id, match: { action: action ?? '' } } } : {}),
    body: html`${writeJob(job)}
<nav class="pager" aria-label="Other crawls">${newer === null ? '' : html`<a href="${newer}">← Newer crawl</a>`}${older === null ? '' : html`<a href="${older}">Older crawl →</a>`}${job.sourceId === null ? '' : html`<a href="/#/sources/${encodeURIComponent(job.sourceId)}">Its source</a>`}<a href="${writeHref('/problems/ssr', { job: id })}">Its problems</a><a href="${writeHref('/milestones/ssr', { job: id })}">Its milestones</a></nav>
${
  job.process === null && job.events === 0 && job.endedAt !== null
    ? html`<p class="quiet">This crawl ran outside this server, which keeps no events of its addresses.${job.sourceId === null ? '' : ' The page of its source lists them.'}</p>`
    : html`<h2>What happened to its addresses</h2>
${writeControls(writeFilters(queueHref(id), [writeChoice('Action', 'action', action, QUEUE_ACTIONS)]), links)}
${writeTable({
  caption: html`${countOf(items.length, 'event')} on this page, newest first; ${writeNumber(job.events)} altogether`,
  columns: [
    { label: 'Address', look: 'address' },
    { label: 'When', look: 'time' },
    { label: 'Action', look: 'word' },
    { label: 'Why', look: 'word' },
    { label: 'Depth', look: 'number minor' },
    { label: 'Left in the queue', look: 'number minor' },
  ],
  rows: items.map(eventRow),
  empty: html`<p>No such events${isLatest ? '' : ' on this page'}.</p>${isLatest ? '' : html`<p><a href="${links.latest}">Go to the latest</a></p>`}`,
  ...(isLive ? { live: { event: 'queue', blank: eventRow(BLANK_EVENT), most: limit } } : {}),
})}
${items.length > 20 ? writePager(links) : ''}`
}`,
  })
}

const OPEN_STATUSES: readonly JobStatus[] = ['queued', 'running']

const BLANK_EVENT: EventFacts = {
  action: 'enqueued',
  url: '',
  depth: null,
  reason: null,
  queueSize: 0,
  alias: null,
  at: null,
}

type EventFacts = Omit<QueueEvent, 'id' | 'jobId' | 'at' | 'host'> & { readonly at: number | null }

function eventRow(event: EventFacts): Row {
  return {
    cells: [
      html`${writeAddress(event.url)}<small data-field="alias">${event.alias === null ? '' : writeText(event.alias)}</small>`,
      writeMoment(event.at),
      writePill(event.action, 'action'),
      writeText(labelOfCode(event.reason ?? ''), 'reason'),
      html`<span data-field="depth">${event.depth ?? ''}</span>`,
      html`<span data-field="queueSize">${writeNumber(event.queueSize)}</span>`,
    ],
  }
}

function writeJob(job: JobEntry): Html {
  const { progress, startedAt, endedAt } = job
  return html`<section class="panel" data-job="${job.id}" aria-label="This job">${writeFacts([
    ['Start', writeOutsideLink(maskSecretFields(job.url))],
    ['Why', job.problem === null ? null : writeText(job.problem)],
  ])}
${writeFacts(
  [
    ['Status', writeStatus(job)],
    ['Started', startedAt === null ? null : writeMoment(startedAt, 'startedAt', 'exact')],
    ['Ended', writeMoment(endedAt, 'endedAt', 'exact')],
    ['Took', startedAt === null || endedAt === null ? null : writeSpan(endedAt - startedAt)],
    ['Restarted', job.restarts === 0 ? null : countOf(job.restarts, 'time')],
  ],
  'pairs',
)}
<details><summary>Technical details</summary>${writeFacts([
    ['Id', html`<code>${job.id}</code>`],
    ['Requested', writeMoment(job.createdAt, 'createdAt', 'exact')],
    ['Process', job.process === null ? null : String(job.process.pid)],
    ['Arguments', html`<code>${writeText(job.args.join(' '))}</code>`],
  ])}</details></section>
${writeCounters([
  ['Visited', 'visited', progress?.visited ?? 0],
  ['Downloaded', 'downloaded', progress?.downloaded ?? 0],
  ['New or changed', 'saved', progress?.saved ?? 0],
  ['Unchanged', 'unchanged', progress?.unchanged ?? 0],
  ['Errors', 'errors', progress?.errors ?? 0],
  ['In the queue', 'queueSize', progress?.queueSize ?? 0],
])}`
}

/** Links to the next newer and the next older queue, within the listed jobs. */
async function findNeighbors(
  log: JobLog,
  id: string,
): Promise<{ readonly newer: string | null; readonly older: string | null }> {
  const { items } = await log.list(MAX_JOBS)
  const index = items.findIndex((job) => job.id === id)
  const newer = index > 0 ? items[index - 1] : undefined
  const older = index === -1 ? undefined : items[index + 1]
  return {
    newer: newer === undefined ? null : queueHref(newer.id),
    older: older === undefined ? null : queueHref(older.id),
  }
}
