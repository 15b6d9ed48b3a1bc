import type { Context } from 'hono'
import { html } from 'hono/html'
import { patternLabel } from '../../core/address-labels.ts'
import { PAGE_CLASSES } from '../../core/model.ts'
import { writeSentence } from '../../core/text/capitalize.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { Library } from '../../library/library.ts'
import type { AddressConditions, AddressCursor, AddressEntry, Addresses } from '../../library/ports/addresses.ts'
import { isDocumentation } from '../../library/source.ts'
import { LEDGER_STATES, REASON_WORDS, REASONS } from '../../library/sources/ledger-words.ts'
import { parseAddressCursor, writeAddressCursor } from '../records/address-cursor.ts'
import { type JobCounts, renderPage } from './layout.ts'
import {
  type Html,
  type PagerLinks,
  type Part,
  type Row,
  writeAddress,
  writeChoice,
  writeControls,
  writeField,
  writeFilters,
  writeHref,
  writeMoment,
  writeMoreFilters,
  writePager,
  writePercent,
  writePill,
  writeTable,
  writeText,
} from './parts.ts'
import { readLimit, readMoment, readNumber, readShare, readText, readWord } from './query.ts'

const PATH = '/urls'
/** Counting stops here: larger totals are not useful, and would need a scan of all rows. */
const MAX_COUNTED = 10_000

/** `/urls`: the addresses of all sources, most recently requested first. */
export async function renderUrls(
  c: Context,
  addresses: Addresses,
  since: JobCounts,
  { store }: Pick<Library, 'store'>,
): Promise<Html> {
  const fields = Object.fromEntries(FIELDS.map((name) => [name, readField(c, name)]))
  const filter = readFilter(c)
  const limit = readLimit(c, 50, 500)
  const newerThan = readCursor(c, 'newer')
  const olderThan = readCursor(c, 'older')
  const cursor = newerThan ?? olderThan
  const isTowardsNewer = newerThan !== undefined
  const found = await addresses.list({
    ...filter,
    limit: limit + 1,
    order: isTowardsNewer ? 'oldest' : 'newest',
    ...(cursor === undefined ? {} : { cursor }),
  })
  // A list that fits on one page is already counted; a second count would scan all addresses when few match.
  const isComplete = cursor === undefined && found.length <= limit
  const count = isComplete ? found.length : await addresses.count(filter, MAX_COUNTED)
  const isFiltered = Object.keys(filter).length > 0
  const rowsOnPage = found.slice(0, limit)
  const items = isTowardsNewer ? rowsOnPage.toReversed() : rowsOnPage
  const documentation = new Set((await store.listSources()).filter(isDocumentation).map(({ id }) => id))
  const isClassAsked = filter.classification !== undefined || filter.minConfidence !== undefined
  const links = linksOf(items, fields, {
    hasNewer: isTowardsNewer ? found.length > limit : olderThan !== undefined,
    hasOlder: isTowardsNewer || found.length > limit,
  })
  return renderPage({
    title: 'URLs',
    section: 'URLs',
    ...(cursor === undefined ? { live: { news: 'visited', since } } : {}),
    body: html`${items.length === 0 && !isFiltered ? '' : writeControls(writeUrlFilters(fields, filter), links)}
${writeTable({
  caption: html`${writeNumber(items.length)} of ${count < MAX_COUNTED ? countOf(count, 'address') : `${writeNumber(MAX_COUNTED)} addresses or more`}, most recently requested first`,
  columns: [
    { label: 'Address', look: 'address' },
    { label: 'State', look: 'word' },
    { label: 'Why' },
    { label: 'Status', look: 'number' },
    { label: 'Depth', look: 'number minor' },
    { label: 'Words', look: 'number minor' },
    { label: 'Class', look: 'word' },
    { label: 'Requested', look: 'time' },
  ],
  rows: items.map((entry) => entryRow(entry, isClassAsked || !documentation.has(entry.sourceId))),
  empty: isFiltered
    ? html`<p>No address passes these filters.</p><p><a href="${PATH}">Show all</a></p>`
    : html`<p>No address is known yet.</p><p><a href="/">Start a crawl</a></p>`,
})}
${items.length > 20 ? writePager(links) : ''}`,
  })
}

const FIELDS = [
  'host',
  'includeSubdomains',
  'state',
  'reason',
  'status',
  'text',
  'from',
  'to',
  'classification',
  'minCombinedConfidence',
  'limit',
] as const

/** The fields of the folded filters. */
const MORE_FIELDS: readonly (typeof FIELDS)[number][] = [
  'includeSubdomains',
  'status',
  'classification',
  'minCombinedConfidence',
  'from',
  'to',
]

/** Other names that the API has for fields; this page accepts them too. */
const ALIASES: Readonly<Record<string, string>> = {
  text: 'q',
  classification: 'combinedHint',
  minCombinedConfidence: 'minConfidence',
}

function readField(c: Context, name: string): string | undefined {
  const alias = ALIASES[name]
  return readText(c, name) ?? (alias === undefined ? undefined : readText(c, alias))
}

function readFilter(c: Context): AddressConditions {
  const host = readText(c, 'host')?.toLowerCase()
  const state = readWord(c, 'state', LEDGER_STATES)
  const reason = readWord(c, 'reason', REASONS)
  const status = readNumber(c, 'status')
  const text = readField(c, 'text')
  const from = readMoment(c, 'from', 'start')
  const to = readMoment(c, 'to', 'end')
  const classification = readWord(c, 'classification', PAGE_CLASSES) ?? readWord(c, 'combinedHint', PAGE_CLASSES)
  const minConfidence = readShare(c, 'minCombinedConfidence') ?? readShare(c, 'minConfidence')
  return {
    ...(host === undefined ? {} : { host, includeSubdomains: readText(c, 'includeSubdomains') === '1' }),
    ...withoutUndefined({ state, reason, status, text, from, to }),
    ...withoutUndefined({ classification, minConfidence }),
  }
}

function writeUrlFilters(fields: Readonly<Record<string, string | undefined>>, filter: AddressConditions): Html {
  return writeFilters(PATH, [
    writeField('Text in the address', 'text', filter.text),
    writeField('Host', 'host', filter.host),
    writeChoice('State', 'state', filter.state, LEDGER_STATES),
    writeChoice('Why', 'reason', filter.reason, REASONS),
    writeMoreFilters(
      [
        html`<label class="check"><input type="checkbox" name="includeSubdomains" value="1"${filter.includeSubdomains === true ? html` checked` : ''}>include subdomains</label>`,
        writeField('Status', 'status', filter.status, 'number'),
        writeChoice('Class', 'classification', filter.classification, PAGE_CLASSES),
        writeField('Minimum confidence (%)', 'minCombinedConfidence', fields['minCombinedConfidence'], 'number'),
        writeField('From', 'from', fields['from'], 'date'),
        writeField('To', 'to', fields['to'], 'date'),
      ],
      MORE_FIELDS.some((name) => fields[name] !== undefined),
    ),
  ])
}

function entryRow(entry: AddressEntry, showsClass: boolean): Row {
  const { title, reason, pattern } = entry
  return {
    cells: [
      html`${writeAddress(entry.url)}<small>${title === null ? '' : writeText(title)}</small>`,
      writePill(entry.state),
      reason === null
        ? ''
        : html`<span title="${reason}">${writeSentence(REASON_WORDS[reason])}</span>${pattern === null || pattern === '' ? '' : html`<small>${patternLabel(reason)}: ${writeText(pattern)}</small>`}`,
      entry.status ?? '',
      entry.depth,
      entry.wordCount === null ? '' : writeNumber(entry.wordCount),
      showsClass ? writeClass(entry) : '',
      writeMoment(entry.at),
    ],
  }
}

function writeClass({ classification, confidence }: AddressEntry): Part {
  return classification === null ? '' : html`${writePill(classification)} ${writePercent(confidence ?? 0)}`
}

function linksOf(
  items: readonly AddressEntry[],
  fields: Readonly<Record<string, string | undefined>>,
  { hasNewer, hasOlder }: { readonly hasNewer: boolean; readonly hasOlder: boolean },
): PagerLinks {
  const first = items[0]
  const last = items.at(-1)
  return {
    latest: writeHref(PATH, fields),
    newer: hasNewer && first !== undefined ? writeHref(PATH, { ...fields, newer: writeAddressCursor(first) }) : null,
    older: hasOlder && last !== undefined ? writeHref(PATH, { ...fields, older: writeAddressCursor(last) }) : null,
  }
}

function readCursor(c: Context, name: string): AddressCursor | undefined {
  const text = readText(c, name)
  return text === undefined ? undefined : parseAddressCursor(text)
}
