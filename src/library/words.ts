import type { Passage, SimilarPage } from './search.ts'

/** `2026-02-20T10:30:00Z` */
export function writeTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}Z`
}

/** The same for what may not have happened. */
export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : writeTime(ms)
}

/** Text of others on one line of ours: whatever it holds, it cannot begin another. */
export function oneLine(text: string): string {
  return (ODD_SPACE.test(text) ? text.replace(SPACE, ' ') : text).trim()
}

/** The same in quotes: whatever it holds, nobody can take it for a word of ours. */
export function quote(text: string): string {
  return JSON.stringify(oneLine(text))
}

const SPACE = /[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu
/** All of them but single spaces, which nearly every text has and which stay as they are. */
const ODD_SPACE = /[^\S ]| {2}|[\p{Cc}\u202a-\u202e\u2066-\u2069]/u

/** Where a text comes from, with everything that is needed to cite it and to ask for it again. */
export interface Citation {
  readonly title: string
  readonly url: string
  readonly headingPath: readonly string[]
  readonly startLine: number
  readonly endLine: number
  /** Name of the source, with its version where it has one. */
  readonly source: string
  readonly checkedAt: number
  readonly changedAt: number
  /** As `get_chunk` takes it; null where the text is no chunk. */
  readonly chunk: string | null
}

/**
 * `"Title" — https://… — "Guide" > "Install" — lines 3-9 — guide@2.0 — checked … — changed … — chunk guide@2.0/12ab…`: stands in a
 * block of its own before the text, which is left as it is.
 */
export function writeCitation(citation: Citation): string {
  const { title, url, headingPath, startLine, endLine, source, checkedAt, changedAt, chunk } = citation
  return [
    quote(title),
    oneLine(url),
    ...(headingPath.length === 0 ? [] : [writeHeadings(headingPath)]),
    `lines ${startLine}-${endLine}`,
    oneLine(source),
    `checked ${writeTime(checkedAt)}`,
    `changed ${writeTime(changedAt)}`,
    ...(chunk === null ? [] : [`chunk ${oneLine(chunk)}`]),
  ].join(' — ')
}

/** What a page stands for, in a line, each by what it differs in: `also: v1.0, de, fr, mirror` */
export function writeSimilar(similar: readonly SimilarPage[], shown: Pick<Passage, 'source' | 'version'>): string {
  const names = similar.map(({ url, source, version, language, isTranslation }) => {
    const isVersion = version !== null && shown.version !== null && version !== shown.version
    const facts = [...(isVersion ? [`v${version}`] : []), ...(isTranslation === true ? [language ?? ''] : [])]
    return oneLine(facts.join(' ') || (source === shown.source ? url : source))
  })
  const [...all] = new Set(names)
  const rest = all.length - MOST_SIMILAR
  return `also: ${all.slice(0, MOST_SIMILAR).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

const MOST_SIMILAR = 10

/** `"Guide" > "Install"` */
export function writeHeadings(headingPath: readonly string[]): string {
  return headingPath.map(quote).join(' > ')
}
