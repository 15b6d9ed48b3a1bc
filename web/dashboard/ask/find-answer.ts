import { STATE_LABELS } from '../../../src/core/address-labels.ts'
import { writeSentence } from '../../../src/core/text/capitalize.ts'
import { writeReaderUrl } from '../../../src/core/url/reader-url.ts'
import { completeAddress, TYPED_ADDRESS } from '../../../src/core/url/typed-address.ts'
import type { LedgerRow, SearchPage, UrlPage } from '../api.ts'
import { request, writeQuery } from '../request.ts'

/** `GET /api/url-details`. */
interface AddressDetails {
  readonly url: string
  readonly story: readonly { readonly ts: string; readonly text: string; readonly url: string | null }[]
  readonly sources: readonly {
    readonly source: { readonly id: string; readonly name: string; readonly version: string | null }
    readonly row: LedgerRow
    readonly words: { readonly state: string; readonly reason: string | null }
  }[]
}

/** Something to choose: a page to open, or an address to ask about. */
export type AskOption = { readonly label: string; readonly note: string } & (
  | { readonly href: string }
  | { readonly ask: string }
)

/** What is known about the typed text. */
export interface AskAnswer {
  /** The text that this answers. */
  readonly text: string
  /** What the library knows about an address. */
  readonly details: AddressDetails | null
  /** Why it knows nothing. */
  readonly problem: string | null
  readonly options: readonly AskOption[]
}

/** The answer to nothing. */
export const NO_ANSWER: AskAnswer = { text: '', details: null, problem: null, options: [] }

/** How many passages and addresses are offered. */
const MAX_OPTIONS = 5

/** Finds what the library knows about an address or about words. */
export async function findAnswer(text: string, signal: AbortSignal): Promise<AskAnswer> {
  if (text === '') return NO_ANSWER
  return TYPED_ADDRESS.test(text) ? explainAddress(text, signal) : findWords(text, signal)
}

/** Where a text leads before its answer arrived: an address to its history, words to the search page. */
export function writeDirectHref(text: string): string {
  return TYPED_ADDRESS.test(text) ? writeHistoryHref(completeAddress(text)) : writeSearchHref(text)
}

function writeHistoryHref(url: string): string {
  return `/url${writeQuery({ url })}`
}

/** The search page with the results for a text. */
function writeSearchHref(text: string): string {
  return `#/search${writeQuery({ q: text })}`
}

async function explainAddress(text: string, signal: AbortSignal): Promise<AskAnswer> {
  const url = completeAddress(text)
  const [answer, similar] = await Promise.all([
    request<AddressDetails>(`/api/url-details${writeQuery({ url })}`, { signal }),
    listAddresses(text, signal),
  ])
  const history: AskOption = { label: 'Show its history', note: url, href: writeHistoryHref(url) }
  const searching = createSearchOption(text)
  if ('refusal' in answer) {
    const others = similar.filter((option) => option.label !== url)
    const add = { label: 'Add a source that has it', note: '', href: `#/sources${writeQuery({ add: '1', url })}` }
    const problem = writeSentence(answer.refusal.message)
    return { text, details: null, problem, options: [...others, history, add, searching] }
  }
  const details = answer.value
  const stored = details.sources.filter(({ row }) => row.hasPage)
  const reading = stored.map(({ source }) => ({
    label: 'Read it',
    note: source.version === null ? source.name : `${source.name}@${source.version}`,
    href: writeReaderUrl({ sourceId: source.id, url: details.url }),
  }))
  const explaining = details.sources.map(({ source }) => ({
    label: 'Show it among the addresses of its source',
    note: source.name,
    href: `#/sources/${encodeURIComponent(source.id)}${writeQuery({ explain: details.url })}`,
  }))
  return { text, details, problem: null, options: [...reading, history, ...explaining, searching] }
}

async function findWords(text: string, signal: AbortSignal): Promise<AskAnswer> {
  const query = writeQuery({ q: text, limit: MAX_OPTIONS, tokens: 500 })
  const [found, addresses] = await Promise.all([
    request<SearchPage>(`/api/search${query}`, { signal }),
    listAddresses(text, signal),
  ])
  const page = 'value' in found ? found.value : null
  const passages = [...(page?.passages ?? []), ...(page?.more ?? [])].slice(0, MAX_OPTIONS)
  const hits = passages.map(({ title, headingPath, source, sourceId, url }) => ({
    label: [title, ...headingPath.slice(-1)].filter((part, i, all) => part !== '' && part !== all[i - 1]).join(' › '),
    note: source,
    href: writeReaderUrl({ sourceId, url }),
  }))
  const searching = createSearchOption(text, page?.relevance === 'none' ? 'no good match' : '')
  const isFirst = (hit: AskOption, i: number) =>
    hits.findIndex(({ label, note }) => label === hit.label && note === hit.note) === i
  return { text, details: null, problem: null, options: [searching, ...hits.filter(isFirst), ...addresses] }
}

function createSearchOption(text: string, note = ''): AskOption {
  return { label: `Search for “${text}”`, note, href: writeSearchHref(text) }
}

/** Addresses that contain a text; choosing one shows its history. */
async function listAddresses(text: string, signal: AbortSignal): Promise<AskOption[]> {
  const found = await request<UrlPage>(`/api/urls${writeQuery({ q: text, limit: MAX_OPTIONS })}`, { signal })
  if ('refusal' in found) return []
  return found.value.items.map(({ url, state }) => ({ label: url, note: `${STATE_LABELS[state]} – why?`, ask: url }))
}
