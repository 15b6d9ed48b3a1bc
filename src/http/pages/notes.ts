import type { Context } from 'hono'
import { html } from 'hono/html'
import { findNoteUrl, MILESTONE_TITLES, PROBLEM_TITLES, withoutCodes, writeNoteTitle } from '../../core/note-title.ts'
import { writeSentence } from '../../core/text/capitalize.ts'
import { countOf } from '../../core/text/count.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { severityOf } from '../../library/jobs/events/severity.ts'
import type { JobLog, NoteFilter, StoredNote } from '../../library/ports/job-log.ts'
import { cutPage } from './cut-page.ts'
import { renderPage } from './layout.ts'
import {
  type Column,
  type Html,
  isWebUrl,
  type Part,
  type Row,
  writeAddress,
  writeChoice,
  writeControls,
  writeField,
  writeFilters,
  writeMoment,
  writePager,
  writePill,
  writeTable,
  writeText,
} from './parts.ts'
import { readLimit, readNumber, readText } from './query.ts'

/** The settings that differ between the list of problems and the list of milestones. */
interface NoteList {
  readonly title: 'Problems' | 'Milestones'
  readonly path: string
  readonly event: 'problem' | 'milestone'
  readonly kinds: readonly string[]
  readonly intro: Part
  readonly empty: string
  readonly list: (log: JobLog, filter: NoteFilter) => Promise<readonly StoredNote[]>
  /** The severity of a kind; null for lists without severities. */
  readonly severityOf: ((kind: string) => string) | null
}

const PROBLEMS: NoteList = {
  title: 'Problems',
  path: '/problems/ssr',
  event: 'problem',
  kinds: Object.keys(PROBLEM_TITLES),
  intro: html`What crawls expected on a site but did not find, and what obstructed them. Addresses that failed are under <a href="/errors">Errors</a>.`,
  empty: 'No problems are known.',
  list: (log, filter) => log.listProblems(filter),
  severityOf,
}

const MILESTONES: NoteList = {
  title: 'Milestones',
  path: '/milestones/ssr',
  event: 'milestone',
  kinds: Object.keys(MILESTONE_TITLES),
  intro: 'What crawls have reached and learned about a site on their way.',
  empty: 'No milestones have been reached yet.',
  list: (log, filter) => log.listMilestones(filter),
  severityOf: null,
}

/** `/problems/ssr` */
export function renderProblems(c: Context, log: JobLog): Promise<Html> {
  return renderNotes(c, log, PROBLEMS)
}

/** `/milestones/ssr` */
export function renderMilestones(c: Context, log: JobLog): Promise<Html> {
  return renderNotes(c, log, MILESTONES)
}

async function renderNotes(c: Context, log: JobLog, noteList: NoteList): Promise<Html> {
  const job = readText(c, 'job')
  const kind = readText(c, 'kind')
  const scope = readText(c, 'scope')
  const before = readNumber(c, 'before')
  const after = readNumber(c, 'after')
  const limit = readLimit(c, 100, 500)
  const page = await noteList.list(log, {
    limit: limit + 1,
    ...withoutUndefined({ jobId: job, kind, scope, before, after }),
  })
  const filters = { job, kind, scope, limit: c.req.query('limit') }
  const { items, links } = cutPage(page, { before, after, limit }, noteList.path, filters)
  const isLatest = before === undefined && after === undefined
  const isFiltered = job !== undefined || kind !== undefined || scope !== undefined || !isLatest
  const match = { jobId: job ?? '', kind: kind ?? '', scope: scope ?? '' }
  return renderPage({
    title: noteList.title,
    section: noteList.title,
    ...(isLatest ? { live: { match } } : {}),
    body: html`<p class="quiet">${noteList.intro}</p>
${
  items.length === 0 && !isFiltered
    ? ''
    : writeControls(
        writeFilters(noteList.path, [
          writeChoice('Kind', 'kind', kind, noteList.kinds, 'any', writeNoteTitle),
          writeField('Host', 'scope', scope),
          ...(job === undefined
            ? []
            : [
                html`<label class="check"><input type="checkbox" name="job" value="${job}" checked>of one crawl</label>`,
              ]),
        ]),
        links,
      )
}
${writeTable({
  caption: html`${countOf(items.length, noteList.event)} on this page, newest first`,
  columns: columnsOf(noteList),
  rows: items.map((note) => noteRow(note, noteList)),
  empty: html`<p>${isFiltered ? `No ${noteList.event}s pass these filters.` : noteList.empty}</p>`,
  ...(isLatest ? { live: { event: noteList.event, blank: noteRow(BLANK_NOTE, noteList), most: limit } } : {}),
})}
${items.length > 20 ? writePager(links) : ''}`,
  })
}

const BLANK_NOTE: NoteFacts = { jobId: '', at: null, kind: '', scope: null, target: null, message: null, details: null }

type NoteFacts = Omit<StoredNote, 'id' | 'at'> & { readonly at: number | null }

function columnsOf({ severityOf }: NoteList): readonly Column[] {
  return [
    { label: 'What', look: 'address' },
    ...(severityOf === null ? [] : [{ label: 'Severity', look: 'word' }]),
    { label: 'Host', look: 'word' },
    { label: 'When', look: 'time' },
    { label: 'Crawl', look: 'word' },
  ]
}

/** The message as a sentence, in which the address that it is about is a link; after the sentence if it does not name the address. */
function writeWhat({ message, target }: NoteFacts): Html {
  const sentence = writeSentence(withoutCodes(message ?? ''))
  if (target === null || target === '') return writeText(sentence, 'message')
  const { at, url } = findNoteUrl(sentence, target)
  const link = isWebUrl(url) ? writeAddress(url) : writeText(url)
  if (at === -1) return html`${writeText(sentence, 'message')} ${link}`
  return html`${writeText(sentence.slice(0, at))}${link}${writeText(sentence.slice(at + url.length))}`
}

function noteRow(note: NoteFacts, { severityOf }: NoteList): Row {
  return {
    cells: [
      html`<div class="what">${writeText(writeNoteTitle(note.kind), 'title')}</div>${writeWhat(note)}`,
      ...(severityOf === null ? [] : [writePill(severityOf(note.kind), 'severity')]),
      writeText(note.scope ?? '', 'scope'),
      writeMoment(note.at),
      html`<a href="/queues/${encodeURIComponent(note.jobId)}/ssr" data-field="jobId" data-base="/queues/" data-end="/ssr" data-label="Show">Show</a>`,
    ],
  }
}
