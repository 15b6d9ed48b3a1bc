import { fenceFor } from '../../core/extract/write/escape.ts'
import { FenceReader } from '../../core/markdown/fences.ts'
import type { Kind } from '../../core/model.ts'
import { writePlain } from '../../core/retrieval/plain-text.ts'
import { findMatches, writeSnippet } from '../../core/search/snippet.ts'
import { textAnalyzer } from '../../core/text/analyzer.ts'
import { tokenize } from '../../core/text/tokenize.ts'
import { listHeadings, listPackageFacts, shortenChunk, writeSimilar } from '../../library/search/display-text.ts'
import type {
  HitExplanation,
  PageMention,
  Passage,
  RerankerRank,
  SearchAnswer,
  Widening,
  WideningFilter,
} from '../../library/search.ts'
import { countOf, printable, printableLine, writeLink } from '../terminal.ts'
import { MAX_COLUMNS, type Screen, writeTextLines } from './text-lines.ts'

const INDENT = '   '

/** Maximum number of text lines per hit. */
const MAX_HIT_LINES = 3

/** The hits of an answer in the order in which they are numbered, with passages or without. */
export function listHits({ passages, more }: SearchAnswer, isFull: boolean): (Passage | PageMention)[] {
  return isFull ? [...passages, ...more] : groupByPage({ passages, more }).map(([best]) => best)
}

/** The hits of each page, best page first. */
function groupByPage({
  passages,
  more,
}: Pick<SearchAnswer, 'passages' | 'more'>): [Passage | PageMention, ...Passage[]][] {
  const pages = new Map<string, [Passage | PageMention, ...Passage[]]>()
  for (const hit of [...passages, ...more]) {
    const key = `${hit.sourceId} ${hit.url.replace(/#.*/s, '')}`
    const hitsOfPage = pages.get(key)
    if (hitsOfPage === undefined) pages.set(key, [hit])
    else if ('text' in hit) hitsOfPage.push(hit)
  }
  return [...pages.values()]
}

/** Writes each page of an answer in a few lines: its address, and the lines that match best. */
export function writeHits({ query, passages, more }: SearchAnswer, screen: Screen): string {
  const terms = termsOf({ query, passages })
  const width = Math.min(screen.columns, MAX_COLUMNS) - INDENT.length
  const hits = groupByPage({ passages, more }).map(([best, ...others], i) => [
    ...writeLocation(i + 1, best, screen),
    ...pickLines([best, ...others], terms, width).flatMap((line) => writeTextLines(line, terms, screen, INDENT)),
  ])
  return hits.map((lines) => lines.join('\n')).join('\n\n')
}

/** Picks the lines that contain most of the terms, in their original order. The best line may use the rows that the others leave free. */
function pickLines(hits: readonly (Passage | PageMention)[], terms: readonly string[], width: number): string[] {
  const lines = hits.flatMap((hit) => ('text' in hit ? writePlainLines(hit) : [hit.line]))
  const wanted = new Set(terms)
  const rated = lines
    .map((line, index) => ({ line, index, matches: countMatches(line, wanted) }))
    .sort((a, b) => b.matches - a.matches || a.index - b.index)
  // A hit by meaning or headings alone has no matching line, so its first line is shown.
  const picked = rated.filter(({ line, matches }, i) => line !== '' && (matches > 0 || i === 0)).slice(0, MAX_HIT_LINES)
  return picked
    .map(({ line, index }, i) => {
      const rows = i === 0 ? MAX_HIT_LINES - picked.length + 1 : 1
      // Snippets are cut between words and need space for the ellipses.
      const chars = rows * width - 2 - (rows - 1) * WRAP_SLACK
      const snippet = writeSnippet(line, terms, { chars, visitTokens: textAnalyzer.visitTokens })
      // Escapes a leading `#`, so that a code comment does not look like a heading.
      return { index, line: snippet.replace(/^#/, '\\#') }
    })
    .sort((a, b) => a.index - b.index)
    .map(({ line }) => line)
}

/** The approximate number of columns that wrapping leaves unused at the end of a line. */
const WRAP_SLACK = 8

/** The lines of a passage without headings, which are shown above it. */
function writePlainLines({ text, kind }: Passage): string[] {
  const fences = new FenceReader()
  const lines = text.split('\n').flatMap((line) => {
    const part = kind === 'markdown' ? fences.read(line) : 'code'
    if (part === 'code') return [line.trim()]
    return part !== undefined || HEADING.test(line) ? [] : [writePlain(line).trim()]
  })
  return lines.filter((line) => line !== '')
}

const HEADING = /^#{1,6} /

function countMatches(line: string, terms: ReadonlySet<string>): number {
  return new Set(findMatches(line, terms, textAnalyzer.visitTokens).map(({ term }) => term)).size
}

/** A page mention has no list of matched terms, so the words of the query are used for it. */
function termsOf({ query, passages }: Pick<SearchAnswer, 'query' | 'passages'>): string[] {
  return [...passages.flatMap((passage) => passage.terms), ...wordsOf(query)]
}

/** The heading path, address and name of a hit, without its text. */
function writeLocation(rank: number, hit: Passage | PageMention, screen: Screen): string[] {
  const { colors } = screen
  return [
    writeHeading(rank, hit, screen),
    `${INDENT}${writeAddress(hit.url, screen)}  ${colors.dim([printableLine(shortenChunk(hit.chunk)), ...meaningNote(hit)].join(', '))}`,
    ...packageOf(hit).map((line) => `${INDENT}${line}`),
    ...similarOf(hit).map((line) => `${INDENT}${colors.dim(line)}`),
  ]
}

/** Writes an answer with the text of its passages for a terminal. */
export function writeAnswer({ query, passages, more }: SearchAnswer, screen: Screen, now: number): string {
  const { colors } = screen
  const passageTexts = passages.map((passage, i) => {
    const facts = [shortenChunk(passage.chunk), linesOf(passage), ...agesOf(passage, now), ...notesOf(passage)].join(
      ', ',
    )
    return [
      writeHeading(i + 1, passage, screen),
      `${INDENT}${writeAddress(passage.url, screen)}`,
      ...packageOf(passage).map((line) => `${INDENT}${line}`),
      `${INDENT}${colors.dim(printableLine(facts))}`,
      ...similarOf(passage).map((line) => `${INDENT}${colors.dim(line)}`),
      '',
      ...writeTextLines(passage.text.trimEnd(), passage.terms, screen, INDENT),
      ...(passage.explain === undefined
        ? []
        : ['', ...writeScore(passage.score, passage.explain).map((line) => `${INDENT}${colors.dim(line)}`)]),
    ].join('\n')
  })
  const terms = termsOf({ query, passages })
  const otherPages = more.map((page, i) => {
    return [
      ...writeLocation(passages.length + i + 1, page, screen),
      ...(page.line === '' ? [] : writeTextLines(page.line.replace(/\s+/g, ' '), terms, screen, INDENT)),
    ].join('\n')
  })
  const title = otherPages.length === 0 ? [] : [colors.dim('other pages that match:')]
  return [...passageTexts, ...title, ...otherPages].join('\n\n')
}

function wordsOf(query: string): string[] {
  return tokenize(query).filter((word) => !textAnalyzer.isStopWord(word))
}

function writeHeading(rank: number, hit: Passage | PageMention, { colors }: Screen): string {
  return `${colors.dim(String(rank).padEnd(INDENT.length - 1))} ${colors.bold(printableLine(writeHeadingPath(hit)))}`
}

function writeAddress(url: string, { colors, hasLinks }: Screen): string {
  const text = colors.cyan(printableLine(url))
  return hasLinks ? writeLink(text, url) : text
}

/**
 * Writes an answer as Markdown for a pipe. Each passage is in a fence longer than any inside it, so that its text cannot break out of the
 * quotation.
 */
export function writeMarkdownAnswer({ passages, more }: SearchAnswer): string {
  const passageTexts = passages.map((passage, i) => {
    const text = printable(passage.text.trimEnd())
    const fence = fenceFor(text, 3)
    const facts = [shortenChunk(passage.chunk), linesOf(passage), ...datesOf(passage), ...notesOf(passage)].join(', ')
    const score =
      passage.explain === undefined ? [] : ['', '```text', ...writeScore(passage.score, passage.explain), '```']
    return [
      `## ${i + 1}. ${printableLine(writeHeadingPath(passage))}`,
      '',
      `<${printableLine(passage.url)}>`,
      ...packageOf(passage),
      printableLine(`chunk ${facts}`),
      ...similarOf(passage),
      '',
      `${fence}${LANGUAGES[passage.kind]}`,
      text,
      fence,
      ...score,
    ].join('\n')
  })
  const otherPages = more.map((page, i) => {
    const line = page.line === '' ? [] : [`   > ${printableLine(page.line)}`]
    return [
      `${passages.length + i + 1}. ${printableLine(writeHeadingPath(page))}`,
      `   <${printableLine(page.url)}>`,
      ...packageOf(page).map((line) => `   ${line}`),
      `   ${printableLine(`chunk ${shortenChunk(page.chunk)}`)}`,
      ...similarOf(page).map((similar) => `   ${similar}`),
      ...line,
    ].join('\n')
  })
  return [
    ...passageTexts,
    ...(otherPages.length === 0 ? [] : [`## Other pages that match\n\n${otherPages.join('\n')}`]),
  ].join('\n\n')
}

/** The language of the code fence for each kind, by the names that highlighters know. */
const LANGUAGES: Readonly<Record<Kind, string>> = {
  markdown: 'markdown',
  html: 'markdown',
  json: 'json',
  java_script: 'javascript',
  python: 'python',
  go: 'go',
  rust: 'rust',
  java: 'java',
  c: 'c',
  cpp: 'cpp',
  ruby: 'ruby',
  shell: 'sh',
  text: 'text',
  image: 'markdown',
  unknown: 'text',
}

function writeHeadingPath(hit: Pick<Passage, 'title' | 'headingPath'>): string {
  return listHeadings(hit).join(' > ')
}

function linesOf({ startLine, endLine }: Pick<Passage, 'startLine' | 'endLine'>): string {
  return startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`
}

/** Turns the parameters in a notice of a search into flags: `language=any` → `--language any` */
export function writeParametersAsFlags(notice: string): string {
  return notice.replace(/\b(duplicates|language)=([a-z]+)/g, '--$1 $2')
}

/** The version of a package that was read and its web page, in one line. */
function packageOf(page: Passage | PageMention): string[] {
  const facts = listPackageFacts(page)
  return facts.length === 0 ? [] : [printableLine(facts.join(', '))]
}

/** The near-duplicates that a page represents, in one line. */
function similarOf({ similar = [], ...page }: Passage | PageMention): string[] {
  return similar.length === 0 ? [] : [printableLine(writeSimilar(similar, page))]
}

/** Says that a passage was found by meaning alone, or truncated. */
function notesOf(passage: Passage): string[] {
  return [...meaningNote(passage), ...(passage.isCut ? ['cut to fit (--tokens)'] : [])]
}

function meaningNote(hit: Passage | PageMention): string[] {
  return 'terms' in hit && hit.terms.length === 0 ? ['by meaning alone'] : []
}

/** When a page was last checked and last changed, as ages. */
export function agesOf({ checkedAt, changedAt }: Pick<Passage, 'checkedAt' | 'changedAt'>, now: number): string[] {
  const [checked, changed] = [writeAge(checkedAt, now), writeAge(changedAt, now)]
  return checked === changed ? [`checked and changed ${checked}`] : [`checked ${checked}`, `changed ${changed}`]
}

function datesOf({ checkedAt, changedAt }: Passage): string[] {
  return [`checked ${dateOf(checkedAt)}`, `changed ${dateOf(changedAt)}`]
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

const AGE_UNITS = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** `just now`, `5 minutes ago`, `1 day ago` */
export function writeAge(at: number, now: number): string {
  const [unit, ms] = AGE_UNITS.find(([, length]) => now - at >= length) ?? []
  return unit === undefined ? 'just now' : `${countOf(Math.floor((now - at) / ms), unit)} ago`
}

/** Explains a score in aligned lines. */
function writeScore(score: number, explanation: HitExplanation): string[] {
  const { words, wordScore, linkShare, definition, prior, pageBonus, similarity, fusion, reranker } = explanation
  const parts = (words?.parts ?? []).map((part) => ({
    score: part.score,
    what: part.word,
    why: `${part.terms.join(', ')}; ${writeCounts(part.fields)}; ${countOf(part.documents, 'chunk')} in all`,
  }))
  const pairs = words === null || words.pairs === 0 ? [] : [{ score: words.pairs, what: 'neighbouring words', why: '' }]
  const rows = [...parts, ...pairs]
  const width = rows.reduce((longest, { what }) => Math.max(longest, what.length), 0)
  return [
    `score ${score.toFixed(4)}: ${fusion}`,
    ...(reranker === null ? [] : [`${figure(reranker.score)}  reranker: ${writeRankChange(reranker)}`]),
    ...(similarity === null ? [] : [`${figure(similarity)}  meaning: cosine with the question`]),
    isSemanticOnly(explanation)
      ? `${figure(wordScore)}  words: not among the best; found by meaning`
      : `${figure(wordScore)}  words:`,
    ...rows.map(({ score: part, what, why }) => `${figure(part)}    ${what.padEnd(width)}  ${why}`.trimEnd()),
    ...(linkShare === 0 ? [] : [`${percent(linkShare)}  of the text is link text, whose words count less`]),
    ...(definition === 0 ? [] : [`${figure(definition)}  the text defines the name`]),
    ...(prior === 1
      ? []
      : [`${percent(prior)}  of the score is kept, because the page is a changelog, an index or similar`]),
    ...(pageBonus === 0 ? [] : [`${figure(pageBonus)}  the words of the whole page, and its other hits`]),
  ].map(printableLine)
}

/** Whether a hit was found by meaning alone. */
function isSemanticOnly({ words, wordScore, similarity }: HitExplanation): boolean {
  return words === null && wordScore === 0 && similarity !== null
}

/** `place 2 instead of 7` */
function writeRankChange({ place, placeBefore }: RerankerRank): string {
  return place === placeBefore ? `place ${place}, unchanged` : `place ${place} instead of ${placeBefore}`
}

/** `2 in head, 5 in body` */
function writeCounts(fields: Readonly<Record<string, number>>): string {
  return Object.entries(fields)
    .map(([field, count]) => `${count} in ${field}`)
    .join(', ')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`.padStart(9)
}

function figure(score: number): string {
  return score.toFixed(4).padStart(9)
}

/** The flag of each filter. */
const FLAGS: Readonly<Record<WideningFilter, string>> = {
  sources: '--source',
  version: '--version',
  path: '--path',
  kind: '--kind',
  heading: '--heading',
  symbol: '--symbol',
  contentType: '--content-type',
  language: '--language',
  minScore: '--min-score',
  query: '',
}

/** Says that nothing was found, and which filters to widen. */
export function writeNoHits(widen: readonly Widening[]): string {
  const words = widen.filter(({ pages }) => pages > 0).map(writeWidening)
  if (words.length > 0) return printableLine(`nothing found; ${words.join('; ')}`)
  const filters = widen.map(({ filter, value }) => `${FLAGS[filter]} ${value}`.trim()).join(', ')
  const fewer = filters === '' ? '' : `, or fewer filters than ${filters},`
  return printableLine(`nothing found; other words${fewer} may find something`)
}

function writeWidening({ filter, value, pages, instead }: Widening): string {
  const others = instead.length === 0 ? '' : ` (${instead.join(', ')})`
  return `without ${FLAGS[filter]} ${value}: ${countOf(pages, 'page')}${others}`
}
