import type { Context } from 'hono'
import { html } from 'hono/html'
import { patternLabel } from '../../core/address-labels.ts'
import { withoutCodes, writeNoteTitle } from '../../core/note-title.ts'
import { countOf } from '../../core/text/count.ts'
import { writeReaderUrl } from '../../core/url/reader-url.ts'
import { severityOf } from '../../library/jobs/events/severity.ts'
import type { Library } from '../../library/library.ts'
import type { PageAnalysis, StoredAnalysis } from '../../library/ports/findings.ts'
import type { PageText } from '../../library/ports/store.ts'
import { isDocumentation, labelOf, type Source } from '../../library/source.ts'
import {
  type AddressDescription,
  describeAddress,
  type KnownAddress,
  type UnknownAddress,
} from '../../library/sources/describe-address.ts'
import type { Explanation } from '../../library/sources/explain.ts'
import { DISCOVERY_WORDS, type LedgerRow, STATE_WORDS, writeReason } from '../../library/sources/ledger-words.ts'
import { listAddressEvents } from '../records/address-records.ts'
import { renderPage } from './layout.ts'
import {
  type Html,
  type Part,
  placeHref,
  repeatsStatus,
  splitName,
  writeAddress,
  writeAddressForm,
  writeFacts,
  writeHref,
  writeMoment,
  writeOutsideLink,
  writePercent,
  writePill,
  writePlaceLink,
  writeText,
} from './parts.ts'
import { readText } from './query.ts'

/** A rendered page, and whether its address is known (otherwise the status is 404). */
export interface AddressPage {
  readonly isKnown: boolean
  readonly page: Html
}

/** How many places of a page are listed. */
const MAX_PLACES = 50
/** How many chunks of a page are listed. */
const MAX_CHUNKS = 200

/** `/url?url=…`: the history of one address in every source that knows it. */
export async function renderUrl(c: Context, library: Library): Promise<AddressPage> {
  const url = readText(c, 'url')
  if (url === undefined) return { isKnown: true, page: renderForm() }
  const description = await describeAddress(library, url)
  const { known, unknown } = description
  const body =
    unknown === null
      ? [writeHistory(description), ...known.map(writeKnown), writeHub(description)]
      : writeUnknown(description, unknown)
  return {
    isKnown: unknown === null,
    page: renderPage({
      title: known.map(({ text }) => text?.title ?? '').find((title) => title !== '') ?? writePathOf(url),
      section: 'URLs',
      body: html`<p>${writeOutsideLink(url)}</p>${description.url === url ? '' : html`<p class="quiet">It is another spelling of ${writeAddress(description.url)}</p>`}${body}${writeForm(url)}`,
    }),
  }
}

/** The path of an address, as its name while no title is known. */
function writePathOf(url: string): string {
  const path = URL.parse(url)?.pathname ?? ''
  return path === '' || path === '/' ? url : path
}

function renderForm(): Html {
  return renderPage({
    title: 'Address',
    section: 'URLs',
    body: html`<p>Enter an address to see its state and the reason for it.</p>${writeForm('')}`,
  })
}

function writeForm(url: string): Html {
  return html`<div class="controls">${writeAddressForm('/url', url)}</div>`
}

/** The history of the address, oldest first. */
function writeHistory(description: AddressDescription): Html {
  const events = listAddressEvents(description)
  return html`<section class="panel"><h2>History</h2><ol class="outline">${events.map(
    ({ at, text, url }) =>
      html`<li>${writeMoment(at, 'at', 'exact')}: it ${writeText(text)}${url === null ? '' : html`, see ${writeAddress(url)}`}</li>`,
  )}</ol><p><a href="${writeHref('/api/url-details', { url: description.url })}">The same as JSON</a></p></section>`
}

/** The HTTP status and its detail, unless the detail only repeats the status. */
function writeAnswer({ status, detail }: LedgerRow): Html {
  return html`${status ?? ''} ${detail === null || repeatsStatus(detail, status) ? '' : writeText(detail)}`
}

function writeKnown({ source, row, target, aliases, refusal, text, storedAnalysis }: KnownAddress): Html {
  const { reason, pattern, detail } = row
  return html`<section class="panel"><h2><a href="/#/sources/${encodeURIComponent(source.id)}">${writeText(labelOf(source))}</a></h2>
${writeFacts([
  ['State', html`${writePill(row.state)} ${STATE_WORDS[row.state]}`],
  ['Why', reason === null ? null : html`<span title="${reason}">${writeReason({ reason, pattern })}</span>`],
  [patternLabel(reason), pattern === null || pattern === '' ? null : html`<code>${writeText(pattern)}</code>`],
  ['Content', target === null ? null : html`held by ${writeAddress(target.url)}`],
  [
    'Found',
    html`${DISCOVERY_WORDS[row.discovery]}${row.discovery === 'folder' ? '' : `, ${countOf(row.depth, 'link')} from the start`}`,
  ],
  ['Found on', row.foundOn === null ? null : writeAddress(row.foundOn)],
  ['Attempts', row.attempts === 0 ? null : `${row.attempts} since its last good answer`],
  ['Last answer', row.status === null && detail === null ? null : writeAnswer(row)],
  ['Next due', row.dueAt === null ? null : writeMoment(row.dueAt)],
  ['Version', source.version === null ? null : writeText(source.version)],
  [
    'Also known as',
    aliases.length === 0
      ? null
      : aliases.map(
          ({ other, classification, ...found }) =>
            html`<div>${writeAddress(other)} <span class="quiet">${classification}, ${describeOther(found, row.key)}</span></div>`,
        ),
  ],
  ['The scope now', refusal === null || refusal.reason === reason ? null : writeRefusal(refusal)],
])}
${storedAnalysis === null || (storedAnalysis.analysis === null && isDocumentation(source)) ? '' : writeClassification(storedAnalysis)}
${writeContent(source, text)}
<details><summary>Technical details</summary>${writeFacts([
    ['Content hash', row.contentHash === null ? null : html`<code>${writeText(row.contentHash)}</code>`],
    ['ETag', row.etag === null ? null : html`<code>${writeText(row.etag)}</code>`],
    ['Last-Modified', row.lastModified === null ? null : writeText(row.lastModified)],
    ['JSON', html`<a href="${explainHref(source, row.url)}">The same as JSON</a>`],
  ])}</details></section>`
}

/** The stored page as an outline of its chunks. */
function writeContent(source: Source, text: PageText | null): Part {
  if (text === null) return html`<p class="quiet">The library holds no content of it.</p>`
  const shown = text.chunks.slice(0, MAX_CHUNKS)
  const rest = text.chunks.length - shown.length
  return html`<h2>${writeText(text.title)}</h2>
<p class="quiet">The library holds it, in ${countOf(text.chunks.length, 'chunk')}. <a href="${writeReaderUrl({ sourceId: source.id, url: text.url })}">Read it</a></p>
<ol class="outline">${shown.map(
    ({ headingPath, symbol, startLine, endLine }) =>
      html`<li>${writeText(symbol ?? (headingPath.length === 0 ? text.title : headingPath.join(' › ')))} <span class="quiet">lines ${startLine}–${endLine}</span></li>`,
  )}</ol>${rest > 0 ? html`<p class="quiet">and ${countOf(rest, 'chunk')} more</p>` : ''}`
}

/** Describes an alias: whether it exists, its kind and its state. `key` is that of the shown address. */
function describeOther(
  { isThere, row, kind }: Pick<KnownAddress['aliases'][number], 'isThere' | 'row' | 'kind'>,
  key: string,
): string {
  if (row?.key === key) return 'another spelling of this one'
  const state = row === null ? 'never requested' : STATE_WORDS[row.state]
  const what = kind === null ? '' : `, of the kind ${kind}`
  return isThere === null ? state : isThere ? `exists${what}: ${state}` : `does not exist: ${state}`
}

/** The hub at this address, with the verdicts and problems of plans and crawls. */
function writeHub({ hub, verdict, problems }: AddressDescription): Part {
  if (hub === null && verdict === null && problems.length === 0) return ''
  return html`<section class="panel"><h2>Findings of crawl plans</h2>${writeFacts([
    [
      'Hub',
      hub === null
        ? null
        : html`of ${hub.placeId === null ? writeText(hub.placeSlug ?? 'a place') : html`<a class="text" href="${placeHref(hub.placeId)}">${writeText(hub.placeSlug ?? 'a place')}</a>`}${hub.topicLabel === null ? '' : html` and the topic ${writeText(hub.topicLabel)}`}, with ${countOf(hub.navLinks, 'navigation link')} and ${countOf(hub.articleLinks, 'article link')}; <a href="${writeHref('/hubs', { host: hub.host })}">hubs of the host</a>`,
    ],
    [
      verdict?.origin === 'guessed' ? 'Guessed as a hub' : 'Listed as a hub',
      verdict === null
        ? null
        : html`${writePill(verdict.state)} by the pattern <code>${writeText(verdict.pattern)}</code>`,
    ],
    [
      'Problems',
      problems.length === 0
        ? null
        : problems.map(
            ({ kind, message, at }) =>
              html`<div>${writePill(severityOf(kind))} ${writeNoteTitle(kind)}: ${writeText(withoutCodes(message ?? ''))} ${writeMoment(at)}</div>`,
          ),
    ],
  ])}</section>`
}

/** The classification and analysis of the content. */
function writeClassification({ classification, analysis, analysedAt }: StoredAnalysis): Html {
  const { kind, confidence, url, content } = classification
  return html`<h2>What it is</h2>
${writeFacts([
  ['Class', html`${writePill(kind)} ${writePercent(confidence)} sure`],
  ['Signals of the address', writeSignals({ ...url })],
  ['Signals of the content', writeSignals({ ...content })],
  [
    'Analysed',
    analysedAt === null ? html`not yet; <a href="/analysis/ssr">analyse the pages</a>` : writeMoment(analysedAt),
  ],
])}
${analysis === null ? '' : writeAnalysis(analysis, kind === 'nav')}`
}

/** Words for signals whose names say too little. */
const SIGNAL_WORDS: Readonly<Record<string, string>> = {
  h2: 'second-level headings',
  h3: 'third-level headings',
  a: 'links',
  p: 'paragraphs',
  wordCount: 'words',
  slugLen: 'length of the last segment',
  pathDepth: 'segments',
  queryCount: 'parameters',
}

function writeSignals(signals: Readonly<Record<string, string | number | boolean | null>>): Html {
  const givenSignals = Object.entries(signals).filter(([, value]) => value !== null && value !== false && value !== '')
  const words = givenSignals.map(([name, value]) => {
    const word = SIGNAL_WORDS[name] ?? splitName(name)
    return value === true ? word : `${word} ${typeof value === 'number' ? Math.round(value * 1000) / 1000 : value}`
  })
  return html`<span class="quiet">${writeText(words.join(', '))}</span>`
}

/** The findings of the analysis. Navigation pages omit dates and sentiment, because those belong to the linked pages. */
function writeAnalysis({ author, section, language, findings, meta, ...page }: PageAnalysis, isNav: boolean): Html {
  const { keyPhrases, sentiment } = meta.deepAnalysis.findings
  return writeFacts([
    ['Author', author === null ? null : writeText(author)],
    ['Published', isNav || page.published_at === null ? null : writeText(page.published_at)],
    ['Modified', isNav || page.modified_at === null ? null : writeText(page.modified_at)],
    ['Section', section === null ? null : writeText(section)],
    [
      'Language',
      language === null
        ? null
        : html`${writeText(language)} <span class="quiet">according to the ${page.language_source}</span>`,
    ],
    ['Places', findings.places.length === 0 ? null : writeFoundPlaces(findings.places)],
    [
      'Key phrases',
      keyPhrases.length === 0
        ? null
        : html`${writeText(keyPhrases.map(({ phrase, frequency }) => `${phrase} (${frequency})`).join(', '))} <span class="quiet">best effort</span>`,
    ],
    [
      'Sentiment',
      isNav || sentiment === null
        ? null
        : html`${writePill(sentiment.label)} ${sentiment.score.toFixed(2)} <span class="quiet">best effort: ${countOf(sentiment.positive, 'good word')}, ${countOf(sentiment.negative, 'bad word')}</span>`,
    ],
  ])
}

/** The distinct places of a page, most frequent first. */
function writeFoundPlaces(places: PageAnalysis['findings']['places']): Part {
  const counts = new Map<number, { readonly name: string; count: number }>()
  for (const { place_id, place } of places) {
    const counted = counts.get(place_id) ?? { name: place, count: 0 }
    counted.count++
    counts.set(place_id, counted)
  }
  const sorted = [...counts].toSorted(([, a], [, b]) => b.count - a.count).slice(0, MAX_PLACES)
  return sorted.map(
    ([id, { name, count }], i) =>
      html`${i === 0 ? '' : ', '}${writePlaceLink({ id, name })} <span class="quiet">${count}</span>`,
  )
}

/** The page for an address that no source has seen. */
function writeUnknown(description: AddressDescription, { isAddress, nearest, scopeResults }: UnknownAddress): Html {
  const mayBeUnread = scopeResults.some(
    ({ explanation: { refusal, incomplete } }) => refusal === null && incomplete !== null,
  )
  const advice = mayBeUnread
    ? 'A source below has not read every page, so the address may be linked from a page that it has not read.'
    : isAddress
      ? 'Check its spelling, or add a source that reaches it.'
      : 'It cannot be read as an address: it should begin with https:// or http://.'
  return html`<div class="panel notice"><p>No source has seen this address.</p>
<p class="quiet">${advice}</p>
${nearest === null ? '' : html`<p>The page with the most similar address is ${writeAddress(nearest)}</p>`}</div>${scopeResults.map(({ source, explanation }) => writeScopeDecision(source, explanation))}${writeHub(description)}`
}

function writeScopeDecision(source: Source, explanation: Explanation): Html {
  const { refusal, url } = explanation
  return html`<section class="panel"><h2><a href="/#/sources/${encodeURIComponent(source.id)}">${writeText(labelOf(source))}</a></h2>
<p>It has not seen this address. ${refusal === null ? writeAbsence(explanation) : writeRefusal(refusal)}</p>
<p><a href="${explainHref(source, url)}">The same as JSON</a></p></section>`
}

function writeAbsence({ incomplete }: Explanation): string {
  return incomplete === null
    ? 'Its scope would let it through; no crawled page links to it.'
    : `Its scope would let it through, but its last crawl did not see everything: ${incomplete}.`
}

function writeRefusal({ reason, pattern }: NonNullable<Explanation['refusal']>): Html {
  const rule = pattern === null || pattern === '' ? '' : html` (rule: <code>${writeText(pattern)}</code>)`
  return html`The scope would refuse it: ${writeReason({ reason, pattern })}${rule}.`
}

function explainHref(source: Source, url: string): string {
  return writeHref('/api/explain', { source: source.id, url })
}
