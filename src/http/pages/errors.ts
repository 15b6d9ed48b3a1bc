import type { Context } from 'hono'
import { html } from 'hono/html'
import { writeSentence } from '../../core/text/capitalize.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import type { Addresses, ErrorGroup } from '../../library/ports/addresses.ts'
import { REASON_WORDS } from '../../library/sources/ledger-words.ts'
import { type JobCounts, renderPage } from './layout.ts'
import {
  type Html,
  type Row,
  repeatsStatus,
  writeAddress,
  writeHref,
  writeMoment,
  writePill,
  writeTable,
  writeText,
} from './parts.ts'
import { readNumber } from './query.ts'

/** `/errors`: the most recent failures, with similar ones grouped. */
export async function renderErrors(c: Context, addresses: Addresses, since: JobCounts): Promise<Html> {
  const rows = Math.min(Math.max(readNumber(c, 'rows') ?? 1000, 1), 5000)
  const groups = await addresses.groupErrors(rows)
  const count = groups.reduce((sum, group) => sum + group.count, 0)
  return renderPage({
    title: 'Errors',
    section: 'Errors',
    live: { news: 'errors', since },
    body: html`<p class="quiet">The last ${writeNumber(rows)} failed addresses, grouped by host, status and reason, most frequent first.</p>
${writeTable({
  caption: `${countOf(count, 'failure')} in ${countOf(groups.length, 'group')}`,
  columns: [
    { label: 'Host', look: 'address' },
    { label: 'Count', look: 'number' },
    { label: 'Status', look: 'word' },
    { label: 'Why' },
    { label: 'Last', look: 'time' },
    { label: 'Examples', look: 'wide' },
  ],
  rows: groups.map(groupRow),
  empty: html`<p>No address has failed.</p>`,
})}`,
  })
}

function groupRow(group: ErrorGroup): Row {
  const all = writeHref('/urls', {
    host: group.host,
    state: 'failed',
    reason: group.reason ?? undefined,
    status: group.status ?? undefined,
  })
  return {
    cells: [
      html`<a class="text" href="${writeHref('/domains', { host: group.host })}">${writeText(group.host)}</a>`,
      html`<a href="${all}">${writeNumber(group.count)}</a>`,
      group.status === null ? html`<span class="pill">no answer</span>` : writePill(String(group.status)),
      group.reason === null
        ? ''
        : html`<span title="${group.reason}">${writeSentence(REASON_WORDS[group.reason])}</span>`,
      writeMoment(group.lastAt),
      group.examples.map(
        ({ url, detail }) =>
          html`<div>${writeAddress(url)}<small>${detail === null || repeatsStatus(detail, group.status) ? '' : writeText(detail)}</small></div>`,
      ),
    ],
  }
}
