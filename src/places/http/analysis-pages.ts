import type { Context } from 'hono'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import { labelOfCode } from '../../core/address-labels.ts'
import { PharosError } from '../../core/errors.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { runHref } from '../../http/advice.ts'
import { renderPage } from '../../http/pages/layout.ts'
import {
  type Html,
  type Row,
  writeCounters,
  writeDetails,
  writeFacts,
  writeHref,
  writeMoment,
  writePages,
  writePill,
  writeTable,
  writeText,
} from '../../http/pages/parts.ts'
import { readLimit, readNumber } from '../../http/pages/query.ts'
import type { HttpPorts } from '../../http/ports.ts'
import { readForm } from '../../http/server/read-body.ts'
import type { AnalysisRun, RunEvent, RunProgress } from '../ports/analyses.ts'
import { NO_PROGRESS } from '../runs/begin-run.ts'
import { runBody } from './analysis-routes.ts'
import { withAnalysisStores } from './place-stores.ts'
import { durationOf, startAnalysis } from './run-records.ts'

const PATH = '/analysis/ssr'
const MAX_RUNS = 200
const MAX_EVENTS = 200
const NO_RUNS = { total: 0, items: [] as readonly AnalysisRun[] }

/** `/analysis/ssr`: the runs, newest first, and how to begin one. */
export async function renderAnalyses(c: Context, ports: HttpPorts): Promise<Html> {
  const limit = readLimit(c, 50, MAX_RUNS)
  const offset = readNumber(c, 'offset') ?? 0
  const { total, items } = await withAnalysisStores(
    ports,
    ({ analyses }) => analyses.listRuns({ limit, offset }),
    () => NO_RUNS,
  )
  const [last] = items
  const now = Date.now()
  return renderPage({
    title: 'Analysis',
    section: 'Analysis',
    ...(offset === 0 ? { live: {} } : {}),
    body: html`<p class="quiet">A run analyses all stored pages that are new, changed or last analysed by an older version: their kind, topics and places.${last === undefined ? '' : html` <a href="/analysis/latest">Go to the latest one</a>`}</p>
${
  last === undefined
    ? ''
    : writeCounters([
        ['Runs', 'runs', total],
        ['Pages in the last run', 'lastPages', last.progress.pages],
      ])
}
${writeStartForm()}
${writeTable({
  caption:
    items.length < total
      ? `${writeNumber(items.length)} of ${countOf(total, 'run')}, newest first`
      : countOf(total, 'run'),
  columns: [
    { label: 'Run', look: 'word' },
    { label: 'Status', look: 'word' },
    { label: 'Stage', look: 'word' },
    { label: 'Started', look: 'time' },
    { label: 'Took', look: 'number' },
    { label: 'Pages', look: 'number' },
    { label: 'Articles', look: 'number' },
    { label: 'Mentions of places', look: 'number' },
    { label: 'Hubs', look: 'number' },
    { label: 'Options', look: 'wide' },
  ],
  rows: items.map((run) => runRow(run, now)),
  empty: html`<p>Nothing has been analysed yet.</p><p class="quiet">Press the button above, or run <code>pharos analyze</code>.</p>`,
  ...(offset === 0 ? { live: { event: 'analysis', blank: runRow(BLANK_RUN, 0), most: MAX_RUNS } } : {}),
})}
${writePages({ path: PATH, query: { limit: c.req.query('limit') }, offset, limit, total })}`,
  })
}

/** The control that begins a run. It needs no script. */
function writeStartForm(): Html {
  const check = (name: string, label: string) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="1">${label}</label>`
  const number = (name: string, label: string) =>
    html`<label>${label}<input type="number" name="${name}" min="1" autocomplete="off"></label>`
  return html`<form class="panel start" method="post" action="/analysis/start">
<button type="submit">Perform Analysis</button>
<details><summary>Options</summary><div class="filters">${number('pageLimit', 'Page limit')}${number('domainLimit', 'Host limit')}${number('analysisVersion', 'Version of the rules')}${check('skipPages', 'skip pages')}${check('skipDomains', 'skip hosts')}${check('dryRun', 'dry run, store nothing')}${check('verbose', 'verbose log')}</div></details>
</form>`
}

/** `POST /analysis/start`: starts a run unless one is active, and returns the address of its page. */
export async function startRun(c: Context, ports: HttpPorts): Promise<string> {
  const form = await readForm(c.req.raw)
  const read = (name: string) => form.get(name)?.trim() ?? ''
  const counts = ['analysisVersion', 'pageLimit', 'domainLimit'].filter((name) => read(name) !== '')
  const flags = ['skipPages', 'skipDomains', 'dryRun', 'verbose'].filter((name) => read(name) !== '')
  const parsed = runBody.safeParse({
    ...Object.fromEntries(counts.map((name) => [name, Number(read(name))])),
    ...Object.fromEntries(flags.map((name) => [name, true])),
  })
  if (!parsed.success) {
    const field = String(parsed.error.issues[0]?.path[0] ?? '')
    const message = `${field}: expected a whole number from 1 on, got ${JSON.stringify(read(field).slice(0, 100))}`
    throw new HTTPException(400, { message })
  }
  try {
    const { id } = await startAnalysis(ports, withoutUndefined(parsed.data))
    return runHref(id)
  } catch (error) {
    // Only one run can be active, so a second click on the button opens the page of the active run.
    if (error instanceof PharosError && error.code === 'ANALYSIS_RUNNING') return runHref(String(error.details['run']))
    throw error
  }
}

const BLANK_RUN: RunFacts = {
  id: '',
  status: 'running',
  stage: 'db-setup',
  startedAt: null,
  endedAt: null,
  progress: NO_PROGRESS,
  options: null,
}

type RunFacts = Pick<AnalysisRun, 'id' | 'status' | 'stage' | 'endedAt' | 'progress'> & {
  readonly startedAt: number | null
  readonly options: AnalysisRun['options'] | null
}

function runRow(run: RunFacts, now: number): Row {
  const { id, status, stage, startedAt, endedAt, progress, options } = run
  const count = (name: 'pages' | 'articles' | 'places' | 'hubs') =>
    html`<span data-field="${name}">${writeNumber(progress[name])}</span>`
  return {
    id,
    cells: [
      html`<a class="mono" href="${runHref(id)}" data-field="id" data-base="/analysis/" data-end="/ssr" data-cut="8">${id.slice(0, 8)}</a>`,
      writePill(status, 'status'),
      html`<span data-field="stage">${labelOfCode(stage)}</span>`,
      writeMoment(startedAt, 'startedAt'),
      html`<span data-field="took">${startedAt === null ? '' : writeDuration(durationOf({ startedAt, endedAt }, now))}</span>`,
      count('pages'),
      count('articles'),
      count('places'),
      count('hubs'),
      html`<small>${options === null ? '' : writeOptions(options)}</small>`,
    ],
  }
}

/** The version of a run, and its options that differ from the defaults. */
function writeOptions(options: AnalysisRun['options']): string {
  const { analysisVersion, pageLimit, domainLimit, skipPages, skipDomains, dryRun, verbose } = options
  return [
    `version ${analysisVersion}`,
    pageLimit === null ? '' : `at most ${countOf(pageLimit, 'page')}`,
    domainLimit === null ? '' : `at most ${countOf(domainLimit, 'host')}`,
    skipPages ? 'pages skipped' : '',
    skipDomains ? 'hosts skipped' : '',
    dryRun ? 'dry run' : '',
    verbose ? 'verbose' : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** `/analysis/latest`: the address of the newest run, or the list when there is none. */
export async function findLatestRun(ports: HttpPorts): Promise<string> {
  const { items } = await withAnalysisStores(
    ports,
    ({ analyses }) => analyses.listRuns({ limit: 1, offset: 0 }),
    () => NO_RUNS,
  )
  return items[0] === undefined ? PATH : runHref(items[0].id)
}

/** `/analysis/:id/ssr`: one run and its events, newest first. While it is active, the script polls for updates. */
export async function renderRun(c: Context, ports: HttpPorts): Promise<Html> {
  const id = c.req.param('id') ?? ''
  if (!/^[\w-]{1,100}$/.test(id)) throw new HTTPException(400, { message: 'This is not the id of an analysis run.' })
  const limit = readLimit(c, 100, 500)
  const found = await withAnalysisStores(ports, async ({ analyses }) => {
    const run = await analyses.findRun(id)
    return run === undefined ? undefined : { run, events: await analyses.listEvents(id, limit) }
  })
  if (found === undefined) throw new HTTPException(404, { message: 'There is no analysis run with this id.' })
  const { run, events } = found
  const isActive = run.status === 'running'
  return renderPage({
    title: 'Analysis run',
    section: 'Analysis',
    ...(isActive
      ? { live: { poll: writeHref(`/api/analysis/${encodeURIComponent(id)}`, { eventsLimit: limit }) } }
      : {}),
    body: html`${writeRun(run)}
<nav class="pager" aria-label="Other runs"><a href="${PATH}">All runs</a><a href="${writeHref('/milestones/ssr', { job: 'analysis-run' })}">Milestones of runs</a><a href="/hubs">Hubs</a><a href="/gazetteer">Gazetteer</a></nav>
<h2>What happened</h2>
${writeTable({
  caption: html`The newest events of this run`,
  columns: [
    { label: 'When', look: 'time' },
    { label: 'Stage', look: 'word' },
    { label: 'Message', look: 'address' },
  ],
  rows: events.map(eventRow),
  empty: html`<p>Nothing has happened yet.</p>`,
  ...(isActive ? { live: { event: 'events', blank: eventRow(BLANK_EVENT), most: MAX_EVENTS } } : {}),
})}`,
  })
}

const BLANK_EVENT: EventFacts = { id: 0, at: null, stage: 'db-setup', message: '', details: null }

type EventFacts = Pick<RunEvent, 'id' | 'stage' | 'message' | 'details'> & { readonly at: number | null }

function eventRow({ id, at, stage, message, details }: EventFacts): Row {
  return {
    id: String(id),
    cells: [
      writeMoment(at, 'ts'),
      html`<span data-field="stage">${labelOfCode(stage)}</span>`,
      html`${writeText(message, 'message')}${writeDetails(stage === 'done' || isProgressOnly(details) ? null : details)}`,
    ],
  }
}

/** Whether an event only repeats the figures above the list. */
function isProgressOnly(details: RunEvent['details']): boolean {
  return Object.keys(details ?? {}).every((name) => name in NO_PROGRESS)
}

function writeRun(run: AnalysisRun): Html {
  const { progress, error, summary, options } = run
  const isIdle = run.status === 'completed' && progress.totalPages === 0
  const revision = summary?.['gazetteerRevision']
  return html`<section class="panel" data-run="${run.id}" aria-label="This run">
${writeFacts(
  [
    ['Status', writePill(run.status, 'status')],
    ['Stage', html`<span data-field="stage">${labelOfCode(run.stage)}</span>`],
    ['Started', writeMoment(run.startedAt, 'startedAt')],
    ['Ended', writeMoment(run.endedAt, 'endedAt')],
    ['Took', html`<span data-field="took">${writeDuration(durationOf(run, Date.now()))}</span>`],
    ['Options', writeOptions(run.options)],
  ],
  'pairs',
)}
${isIdle ? html`<p>${options.skipPages ? 'Pages were skipped, as requested.' : 'Nothing new to analyse: all stored pages were already analysed with these rules and places.'}</p>` : writeProgress(progress)}
${error === null ? html`<p class="bad" data-field="error"></p>` : html`<p class="bad" data-field="error">${writeText(error)}</p>`}
${writeFacts([
  ['Places of', typeof revision !== 'string' || revision === '' ? null : html`the gazetteer ${writeText(revision)}`],
  ['Id', html`<code>${run.id}</code>`],
])}</section>
${writeCounters([...(isIdle ? [] : listPageCounters(progress)), ...listHostCounters(progress)])}`
}

function writeProgress({ pages, totalPages }: RunProgress): Html {
  return html`<label class="progress">Pages <progress data-progress max="${Math.max(1, totalPages)}" value="${pages}">${pages}</progress> <span data-field="share">${writeNumber(pages)} of ${writeNumber(totalPages)}</span></label>`
}

type Counters = Parameters<typeof writeCounters>[0]

function listPageCounters(progress: RunProgress): Counters {
  return [
    ['Articles', 'articles', progress.articles],
    ['Navigation pages', 'navs', progress.navs],
    ['Other pages', 'others', progress.others],
    ['Mentions of places', 'places', progress.places],
    ['Hubs of places', 'hubs', progress.hubs],
    ['Failed', 'failed', progress.failed],
  ]
}

function listHostCounters(progress: RunProgress): Counters {
  return [
    ['Hosts', 'domains', progress.domains],
    ['With news', 'news', progress.news],
    ['Milestones', 'milestones', progress.milestones],
  ]
}
