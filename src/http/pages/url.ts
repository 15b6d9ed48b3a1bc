import type { Context } from 'hono'
import { html } from 'hono/html'
import { countOf } from '../../core/text/count.ts'
import type { Addresses } from '../../library/addresses.ts'
import { isFolder } from '../../library/folder.ts'
import { DISCOVERY_WORDS, type LedgerRow, REASON_WORDS, STATE_WORDS } from '../../library/ledger-words.ts'
import type { Library } from '../../library/library.ts'
import { type Explanation, explainUrl } from '../../library/operations/explain.ts'
import { labelOf, type Source } from '../../library/source.ts'
import type { PageText } from '../../library/store.ts'
import { renderPage } from './layout.ts'
import {
  type Html,
  type Part,
  writeAddress,
  writeFacts,
  writeFilters,
  writeHref,
  writeMoment,
  writeOutsideLink,
  writePill,
  writeText,
} from './parts.ts'
import { readText } from './query.ts'

/** A page and whether what it is about is known. */
export interface AddressPage {
  readonly isKnown: boolean
  readonly page: Html
}

/** How many sources are asked what they would do with an address that none of them knows. */
const MOST_SOURCES = 10
/** How many chunks of a page are listed. */
const MOST_CHUNKS = 200

/** `/url?url=…`: everything that is known about one address, in every source that knows it. */
export async function renderUrl(c: Context, library: Library, addresses: Addresses): Promise<AddressPage> {
  const url = readText(c, 'url')
  if (url === undefined) return { isKnown: true, page: renderForm() }
  const [entries, sources] = await Promise.all([addresses.find(url), library.store.listSources()])
  const parts: Html[] = []
  for (const { sourceId, key } of entries) {
    const source = sources.find(({ id }) => id === sourceId)
    const facts = source === undefined ? undefined : await readFacts(library, source, key)
    if (source !== undefined && facts !== undefined) parts.push(writeKnown(source, facts))
  }
  const isKnown = parts.length > 0
  const body = isKnown ? parts : await writeUnknown(library, sources, url)
  return {
    isKnown,
    page: renderPage({
      title: 'Address',
      section: 'URLs',
      body: html`<p>${writeOutsideLink(url)}</p>${body}${writeForm(url)}`,
    }),
  }
}

function renderForm(): Html {
  return renderPage({
    title: 'Address',
    section: 'URLs',
    body: html`<p>Give an address, and this page tells what became of it and why.</p>${writeForm('')}`,
  })
}

function writeForm(url: string): Html {
  const field = html`<label>Address<input type="text" name="url" value="${url}" required autocomplete="off"></label>`
  return html`<div class="controls">${writeFilters('/url', [field])}</div>`
}

/** Everything one source knows of an address. */
interface AddressFacts {
  readonly row: LedgerRow
  /** The one that holds its content, where that is another. */
  readonly target: LedgerRow | undefined
  readonly aliases: Explanation['aliases']
  /** What the scope would say of it now; null lets it through. */
  readonly refusal: Explanation['refusal']
  readonly text: PageText | undefined
}

async function readFacts(library: Library, source: Source, key: string): Promise<AddressFacts | undefined> {
  const { store } = library
  const row = await store.findRow(source.id, key)
  if (row === undefined) return undefined
  const { url } = row
  const target = row.target === null || row.target === key ? undefined : await store.findRow(source.id, row.target)
  const aliases = await store.listAliases(source.id, url)
  // Links that are no addresses are in the ledger as well, and the scope says nothing about them, nor about files.
  const isJudged = URL.canParse(url) && !isFolder(source)
  const refusal = isJudged ? (await explainUrl(library, source, url)).refusal : null
  return { row, target, aliases, refusal, text: await store.readPageText(source.id, key) }
}

/** Its status and what else is known of it; many only say the status once more. */
function writeAnswer({ status, detail }: AddressFacts['row']): Html {
  return html`${status ?? ''} ${detail === null || detail === `answered ${status}` ? '' : writeText(detail)}`
}

function writeKnown(source: Source, { row, target, aliases, refusal, text }: AddressFacts): Html {
  const { reason, pattern, detail } = row
  return html`<section class="panel"><h2>${writeText(labelOf(source))}</h2>
${writeFacts([
  ['State', html`${writePill(row.state)} ${STATE_WORDS[row.state]}`],
  ['Why', reason === null ? null : html`${REASON_WORDS[reason]} <span class="quiet">(${reason})</span>`],
  ['Rule', pattern === null || pattern === '' ? null : html`<code>${writeText(pattern)}</code>`],
  ['Content', target === undefined ? null : html`held by ${writeAddress(target.url)}`],
  [
    'Found',
    html`${DISCOVERY_WORDS[row.discovery]}, ${countOf(row.depth, 'link')} from the start, ${writeMoment(row.firstSeenAt)}`,
  ],
  ['Found on', row.foundOn === null ? null : writeAddress(row.foundOn)],
  ['Attempts', row.attempts === 0 ? null : `${row.attempts} since its last good answer`],
  ['Last answer', row.status === null && detail === null ? null : writeAnswer(row)],
  ['Checked', row.checkedAt === null ? 'never' : writeMoment(row.checkedAt)],
  ['Changed', row.changedAt === null ? null : writeMoment(row.changedAt)],
  ['Next due', row.dueAt === null ? null : writeMoment(row.dueAt)],
  ['Version', source.version === null ? null : writeText(source.version)],
  ['Content hash', row.contentHash === null ? null : html`<code>${writeText(row.contentHash)}</code>`],
  ['ETag', row.etag === null ? null : html`<code>${writeText(row.etag)}</code>`],
  ['Last-Modified', row.lastModified === null ? null : writeText(row.lastModified)],
  [
    'Also known as',
    aliases.length === 0
      ? null
      : aliases.map(
          (alias) =>
            html`<div>${writeAddress(alias.aliasUrl === row.url ? alias.url : alias.aliasUrl)} <span class="quiet">${alias.classification}</span></div>`,
        ),
  ],
  ['The scope now', refusal === null || refusal.reason === reason ? null : writeRefusal(refusal)],
])}
${writeContent(text)}
<p><a href="${explainHref(source, row.url)}">The same as JSON</a></p></section>`
}

/** The page that is stored, as the outline of its chunks. */
function writeContent(text: PageText | undefined): Part {
  if (text === undefined) return html`<p class="quiet">The library holds no content of it.</p>`
  const shown = text.chunks.slice(0, MOST_CHUNKS)
  const rest = text.chunks.length - shown.length
  return html`<h2>${writeText(text.title)}</h2>
<p class="quiet">The library holds it, in ${countOf(text.chunks.length, 'chunk')}.</p>
<ol class="outline">${shown.map(
    ({ headingPath, symbol, startLine, endLine }) =>
      html`<li>${writeText(symbol ?? (headingPath.length === 0 ? text.title : headingPath.join(' › ')))} <span class="quiet">lines ${startLine}–${endLine}</span></li>`,
  )}</ol>${rest > 0 ? html`<p class="quiet">and ${countOf(rest, 'chunk')} more</p>` : ''}`
}

/** What the sources would do with an address that none of them has seen. */
async function writeUnknown(library: Library, sources: readonly Source[], url: string): Promise<Html> {
  const verdicts: Html[] = []
  if (URL.canParse(url)) {
    for (const source of sources.filter((one) => !isFolder(one)).slice(0, MOST_SOURCES)) {
      verdicts.push(writeVerdict(source, await explainUrl(library, source, url)))
    }
  }
  return html`<div class="panel notice"><p>No source has seen this address.</p>
<p class="quiet">${URL.canParse(url) ? 'Check its spelling, or add a source that reaches it.' : 'It cannot be read as an address: it should begin with https:// or http://.'}</p></div>${verdicts}`
}

function writeVerdict(source: Source, { refusal, url }: Explanation): Html {
  return html`<section class="panel"><h2>${writeText(labelOf(source))}</h2>
<p>${refusal === null ? 'It has not seen this address. Its scope would let it through; nothing that was read leads to it.' : html`It has not seen this address. ${writeRefusal(refusal)}`}</p>
<p><a href="${explainHref(source, url)}">The same as JSON</a></p></section>`
}

function writeRefusal({ reason, pattern }: NonNullable<Explanation['refusal']>): Html {
  const rule = pattern === null || pattern === '' ? '' : html` (rule: <code>${writeText(pattern)}</code>)`
  return html`The scope would refuse it as ${reason}: ${REASON_WORDS[reason]}${rule}.`
}

function explainHref(source: Source, url: string): string {
  return writeHref('/api/explain', { source: source.id, url })
}
