import type { Context } from 'hono'
import { html } from 'hono/html'
import { HTTPException } from 'hono/http-exception'
import { countOf, writeNumber } from '../../core/text/count.ts'
import type { Library } from '../../library/library.ts'
import type { Addresses, HostSummary } from '../../library/ports/addresses.ts'
import type { DomainAnalysis } from '../../library/ports/findings.ts'
import { LEDGER_STATES, type LedgerState, STATE_WORDS } from '../../library/sources/ledger-words.ts'
import { type JobCounts, renderPage } from './layout.ts'
import {
  type Html,
  type Row,
  writeCounters,
  writeFacts,
  writeField,
  writeFilters,
  writeHref,
  writeMoment,
  writePercent,
  writePill,
  writeTable,
  writeText,
} from './parts.ts'
import { readLimit, readText } from './query.ts'

/** `/domains`: the most recently crawled hosts with their summaries, or a single one with `host`. */
export async function renderDomains(
  c: Context,
  addresses: Addresses,
  since: JobCounts,
  { findings }: Pick<Library, 'findings'>,
): Promise<Html> {
  const host = readText(c, 'host')
  if (host !== undefined) return renderDomain(host, addresses, findings)
  const listed = await addresses.listHosts(readLimit(c, 100, 500))
  // Links name hosts that were never requested, and files have no host.
  const hosts = listed.filter(({ host: name, lastAt }) => name !== '' && lastAt !== null)
  const domains = await Promise.all(hosts.map((summary) => findings?.readDomain(summary.host)))
  return renderPage({
    title: 'Hosts',
    section: 'Hosts',
    live: { news: 'visited', since },
    body: html`<div class="controls">${writeFilters('/domains', [writeField('Host', 'host', '')])}</div>
${writeLegend()}
${writeTable({
  caption: `${countOf(hosts.length, 'host')}, most recently requested first`,
  columns: [
    { label: 'Host', look: 'address' },
    { label: 'Addresses', look: 'number' },
    { label: 'Pages', look: 'number' },
    { label: 'Failed', look: 'number' },
    { label: 'Kind', look: 'word' },
    { label: 'Balance', look: 'wide' },
    { label: 'Last requested', look: 'time' },
  ],
  rows: hosts.map((summary, i) => hostRow(summary, domains[i])),
  empty: html`<p>No host has been crawled yet.</p><p><a href="/">Start a crawl</a></p>`,
})}`,
  })
}

async function renderDomain(host: string, addresses: Addresses, findings: Library['findings']): Promise<Html> {
  const found = await addresses.describeHost(host.toLowerCase())
  if (found === undefined) throw new HTTPException(404, { message: `No address of the host ${host} is known.` })
  const domain = await findings?.readDomain(found.host)
  return renderPage({
    title: found.host,
    section: 'Hosts',
    body: html`${writeCounters([
      ['Addresses', 'addresses', found.addresses],
      ['Pages', 'pages', found.pages],
      ['Failed', 'failed', found.failed],
    ])}
<section class="panel">${writeBar(found)}${writeLegend()}
${writeFacts([
  ['Last requested', found.lastAt === null ? 'never' : writeMoment(found.lastAt)],
  ...LEDGER_STATES.filter((state) => found.states[state] > 0).map(
    (state) =>
      [
        writeNumber(found.states[state]),
        html`<a href="${writeHref('/urls', { host: found.host, state })}">${writePill(state)}</a> <span class="quiet">${STATE_WORDS[state]}</span>`,
      ] as const,
  ),
])}</section>
${domain === undefined ? '' : writeDomain(domain)}
<p><a href="${writeHref('/urls', { host: found.host })}">All its addresses</a> · <a href="${writeHref('/hubs', { host: found.host })}">Its hubs</a> · <a href="${writeHref('/gazetteer', { host: found.host })}">What its pages are about, on a map</a> · <a href="/domains">All hosts</a></p>`,
  })
}

/** The result of the domain analysis of a host. */
function writeDomain({ score, isNews, sections, datedRatio, languages, ...domain }: DomainAnalysis): Html {
  return html`<section class="panel"><h2>What it is</h2>${writeFacts(
    [
      ['Kind', html`${isNews ? 'news' : 'not news'} <span class="quiet">score ${score.toFixed(2)}</span>`],
      ['Pages', writeNumber(domain.pages)],
      ['Articles', writeNumber(domain.articles)],
      ['Sections', writeNumber(sections)],
      ['With a date', writePercent(datedRatio)],
      ['Country', domain.countryCode],
      ['Languages', languages.length === 0 ? null : writeText(languages.join(', '))],
      [
        'Asked to slow down',
        `${writeNumber(domain.rateLimited15)} in 15 minutes, ${writeNumber(domain.rateLimited60)} in an hour`,
      ],
      ['Analysed', writeMoment(domain.analysedAt)],
    ],
    'pairs',
  )}</section>`
}

function hostRow(summary: HostSummary, domain: DomainAnalysis | undefined): Row {
  return {
    cells: [
      html`<a href="${writeHref('/domains', { host: summary.host })}">${writeText(summary.host)}</a>`,
      html`<a href="${writeHref('/urls', { host: summary.host })}">${writeNumber(summary.addresses)}</a>`,
      writeNumber(summary.pages),
      summary.failed === 0
        ? '0'
        : html`<a href="${writeHref('/urls', { host: summary.host, state: 'failed' })}">${writeNumber(summary.failed)}</a>`,
      domain === undefined ? '' : domain.isNews ? 'news' : 'not news',
      writeBar(summary),
      writeMoment(summary.lastAt),
    ],
  }
}

/** Groups ledger states for readers: read, left out, failed, or still to read. */
const SHARES: readonly (readonly [name: string, label: string, states: readonly LedgerState[]])[] = [
  ['held', 'read', ['indexed', 'unchanged']],
  ['skipped', 'left out', ['skipped', 'gone']],
  ['failed', 'failed', ['failed']],
  ['open', 'to read', ['pending', 'leased']],
]

/** The states of a host as a bar. It is drawn with attributes, because the content security policy forbids inline styles. */
function writeBar({ states }: HostSummary): Html {
  const counts = SHARES.map(([name, label, shareStates]) => ({
    name,
    label,
    count: shareStates.reduce((sum, state) => sum + states[state], 0),
  }))
  const total = Math.max(
    1,
    counts.reduce((sum, { count }) => sum + count, 0),
  )
  let from = 0
  const parts = counts.map(({ name, count }) => {
    const width = (100 * count) / total
    const part = html`<rect class="${name}" x="${from.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="6"/>`
    from += width
    return part
  })
  const words = counts.map(({ count, label }) => `${writeNumber(count)} ${label}`).join(', ')
  return html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${words}"><title>${words}</title>${parts}</svg>`
}

function writeLegend(): Html {
  return html`<ul class="key">${SHARES.map(
    ([name, label]) =>
      html`<li><svg class="bar" viewBox="0 0 6 6" aria-hidden="true"><rect class="${name}" width="6" height="6"/></svg>${label}</li>`,
  )}</ul>`
}
