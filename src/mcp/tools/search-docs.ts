import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { KINDS } from '../../core/model.ts'
import { CONTENT_TYPES } from '../../core/retrieval/content-type.ts'
import { describeDoubt, RELEVANCES } from '../../core/retrieval/relevance.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { CHARS_PER_TOKEN } from '../../core/text/estimate.ts'
import { writeTime } from '../../core/text/iso-time.ts'
import { clipText } from '../../core/text/lines.ts'
import { writeList } from '../../core/text/list.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { Library } from '../../library/library.ts'
import type { searchProject as SearchProject } from '../../library/projects/search-project.ts'
import {
  oneLine,
  quote,
  quoteSpaced,
  shortenChunk,
  writeCitation,
  writeMention,
} from '../../library/search/display-text.ts'
import {
  DEFAULT_TOKENS,
  DUPLICATES,
  LANGUAGE_CHOICES,
  type PageMention,
  type SearchAnswer,
  type SearchInput,
  type WideningFilter,
} from '../../library/search.ts'
import { writeToolRemedy } from '../../library/sources/shortfall.ts'
import { nonBlank, parseList, pickArgument, readNumber } from '../arguments.ts'
import { writeEmptyLibrary } from '../empty-library.ts'
import { cutPart } from '../page-part.ts'
import { countChars, PAGE_TEXT_RULE, type PageText } from '../page-text.ts'
import { flag, number, orNull, rare, text, texts, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'
import { listUnrendered } from '../unrendered-pages.ts'

const MAX_RESULTS = { minimum: 1, maximum: 50 } as const
const TOKENS = { minimum: 100, maximum: 50_000 } as const
/** Maximum number of sources or versions named in one line. */
const MAX_NAMED = 10
/** Maximum length of the question that is repeated when nothing was found. */
const MAX_ECHOED_CHARS = 200

/** Loaded by the first search and cached, because each import goes through the loader again. */
let search: typeof SearchProject | undefined

/** `search_docs`: finds passages that answer a question. */
export const searchDocs: Tool = createTool({
  name: 'search_docs',
  description: `Searches the indexed documentation; returns passages with citations. Use it before you answer from memory. Ask in a sentence, or with exact names. ${PAGE_TEXT_RULE}`,
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    query: z.string().describe('Question or names.'),
    source: texts('Name, name@version, id or URL; several with commas.'),
    library: unlisted(texts()),
    version: text('Exact, range (5.x), latest, or * for all.'),
    maxResults: number('1 to 50, default 10.'),
    limit: unlisted(number()),
    tokens: number('Budget of the answer.'),
    path: text('Glob or prefix of the URL path.'),
    kind: rare(z.enum(KINDS).optional().describe('Such as markdown or python.')),
    heading: text('Slugs, such as guide/install.'),
    sectionPath: unlisted(text()),
    symbol: text('Prefix of a defined name.'),
    contentType: rare(z.enum(CONTENT_TYPES).optional()),
    language: text('Such as en, or any.'),
    duplicates: rare(z.enum(DUPLICATES).optional().describe('Nearly identical pages. Default: group.')),
    minScore: rare(z.number().min(0).max(1).optional().describe('0 to 1.')),
    cursor: text('From the last answer.'),
    explain: rare(flag('Adds how each score came about.')),
  }),
  output: z.looseObject({
    query: z.string(),
    relevance: z.enum(RELEVANCES),
    // Kept short, because the schema is part of every tool list; the other fields are those of the HTTP API.
    passages: z.array(z.looseObject({ url: z.string(), chunk: z.string(), score: z.number() })),
    more: z.array(z.looseObject({ url: z.string() })),
    cursor: orNull(z.string()),
    notices: z.array(z.string()),
  }),
  async run(args, { library, signal, isReadOnly, project }) {
    const query = args.query.trim()
    if (query === '') throw usageError('query is empty: expected words to look for')
    const opened = await library()
    const input: SearchInput = {
      query,
      ...withoutUndefined({
        sources: await readSources(opened, pickArgument(args, 'source', 'library')),
        version: nonBlank(args.version),
        limit: readNumber('maxResults', pickArgument(args, 'maxResults', 'limit'), MAX_RESULTS),
        tokens: readNumber('tokens', args.tokens, TOKENS),
        path: nonBlank(args.path),
        kind: args.kind,
        heading: nonBlank(pickArgument(args, 'heading', 'sectionPath')),
        symbol: nonBlank(args.symbol),
        contentType: args.contentType,
        language: nonBlank(args.language),
        duplicates: args.duplicates,
        minScore: args.minScore,
        cursor: nonBlank(args.cursor),
        explain: args.explain,
      }),
    }
    search ??= (await import('../../library/projects/search-project.ts')).searchProject
    const answer = await search(opened, input, project?.folder, signal)
    const filters = listFilters(input)
    const unrendered = await listUnrendered(opened, answer.searched, isReadOnly)
    const notices = [...answer.notices, ...(isReadOnly ? [] : listRemedies(answer)), ...unrendered]
    const completed = { ...answer, notices }
    const head = writeHead(completed, filters, isReadOnly)
    const fitted = fitAnswer(completed, head, (input.tokens ?? DEFAULT_TOKENS) * CHARS_PER_TOKEN)
    return { content: writeAnswer(fitted, head), structured: answerRecord(fitted) }
  },
})

/** Advice on how to complete sources with missing pages. */
function listRemedies({ partial }: SearchAnswer): string[] {
  return partial.map(({ source, shortfall }) => writeToolRemedy(source, shortfall))
}

/** Parses sources from a list or comma-separated text. A source whose name contains a comma takes precedence. */
async function readSources(
  library: Pick<Library, 'store'>,
  value: string | readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  if (typeof value !== 'string' || !value.includes(',')) return parseList(value)
  const { matchSources } = await import('../../library/sources/find-source.ts')
  const sources = await library.store.listSources()
  const whole = value.trim()
  const at = whole.lastIndexOf('@')
  const name = whole.lastIndexOf(',') < at ? whole.slice(0, at) : whole
  const isOneSource = matchSources(sources, whole).length > 0 || matchSources(sources, name).length > 0
  return isOneSource ? [whole] : parseList(value)
}

/** The filters of a search, by the parameter names of this tool. */
function listFilters({ sources = [], version, path, kind, heading, symbol, ...others }: SearchInput): Filter[] {
  const { contentType, minScore } = others
  const language = LANGUAGE_CHOICES.some((choice) => choice === others.language) ? undefined : others.language
  const filters = { source: sources.join(', '), version, path, kind, heading, symbol }
  const all = { ...filters, contentType, language, minScore: minScore?.toString() }
  return Object.entries(all).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }]))
}

/** A filter of a search. */
interface Filter {
  readonly name: string
  readonly value: string
}

/** Fits the whole text of an answer into its budget, but for its first citation: leaves out mentions, then cuts the last passage. */
function fitAnswer(answer: SearchAnswer, head: readonly string[], maxChars: number): SearchAnswer {
  const { passages, moreShown } = answer
  const excess = countChars(writeAnswer(answer, head)) - maxChars
  if (excess <= 0) return answer
  if (moreShown > (passages.length === 0 ? 1 : 0)) {
    return fitAnswer({ ...answer, moreShown: moreShown - 1 }, head, maxChars)
  }
  const at = passages.findLastIndex(({ text: shown }) => shown !== '')
  const passage = passages[at]
  if (passage === undefined) return answer
  const tokens = Math.floor((passage.text.length - excess - (passage.isCut ? 0 : CUT_NOTE.length)) / CHARS_PER_TOKEN)
  const { text: cutText, position } = cutPart(passage.text, { tokens: Math.max(1, tokens) })
  const endLine = passage.startLine + position.endLine - 1
  const cut = { ...passage, text: tokens < 1 ? '' : cutText, endLine, isCut: true }
  return fitAnswer({ ...answer, passages: passages.with(at, cut) }, head, maxChars)
}

const CUT_NOTE = ' — only a part, the rest is in read_page'

/** Writes each passage as two blocks: the citation, then the text of the page alone. */
function writeAnswer(answer: SearchAnswer, head: readonly string[]): (string | PageText)[] {
  const { passages, more, moreShown, cursor } = answer
  const blocks: (string | PageText)[] = head.length === 0 ? [] : [head.join('\n')]
  for (const [i, passage] of passages.entries()) {
    const cut = passage.isCut ? CUT_NOTE : ''
    const how = passage.terms.length === 0 ? ' — by meaning alone' : ''
    blocks.push(`[${i + 1}] ${writeCitation(passage)}${how}${cut}`, { pageText: passage.text })
  }
  if (moreShown > 0) {
    const lines = more.slice(0, moreShown).map((page, i) => `[${passages.length + i + 1}] ${writeMention(page)}`)
    blocks.push(['More pages that match:', ...lines].join('\n'))
  }
  if (cursor !== null) blocks.push(`cursor: ${cursor}`)
  return blocks
}

/** The lines before the passages: notices, or that nothing was found. */
function writeHead(answer: SearchAnswer, filters: readonly Filter[], isReadOnly: boolean): string[] {
  const { query, passages, more, searched, searchedCount, notices, available } = answer
  const notes = notices.map((notice) => `Note: ${oneLine(notice)}`)
  if (passages.length + more.length > 0) return [...writeDoubt(answer, isReadOnly), ...notes]
  if (available !== undefined && available.names.length === 0) return [writeEmptyLibrary(isReadOnly), ...notes]
  const where =
    searched.length === 0 ? 'the library' : writeFirstNames(searched.map(quoteSpaced), searchedCount - searched.length)
  const quotedQuery = JSON.stringify(clipText(query, MAX_ECHOED_CHARS))
  return [`Nothing found for ${quotedQuery} in ${where}.`, ...notes, ...writeWiderSearch(answer, filters)]
}

/** Warns that the passages may not answer the question, and says what to try. */
function writeDoubt(answer: SearchAnswer, isReadOnly: boolean): string[] {
  const doubt = describeDoubt(answer)
  if (doubt === undefined) return []
  const { elsewhere } = answer
  const other = elsewhere.length === 0 ? [] : [`source ${writeList(elsewhere.map(quoteSpaced))}`]
  const tries = ['other words', ...other, ...(isReadOnly ? [] : ['add_source with the site that has it'])]
  return [`${doubt} Try ${writeList(tries, 'or')}.`]
}

/** The filters, the number of matches without each, and the existing sources and versions. */
function writeWiderSearch({ widen, available }: SearchAnswer, filters: readonly Filter[]): string[] {
  const active = filters.map(({ name, value }) => `${name} ${quote(value)}`)
  const wider = widen.map(({ filter, value, pages, instead }) => {
    const others = instead.length === 0 ? '' : `; there are ${writeFirstNames(instead.map(quote), 0)}`
    return `Without ${parameterOf(filter)} ${quote(value)}: ${countOf(pages, 'page')}${others}`
  })
  const versions = available?.versions.slice(0, MAX_NAMED).map(({ name, versions: shownVersions, more }) => {
    return `Versions of ${quoteSpaced(name)}: ${writeFirstNames(shownVersions.map(quoteSpaced), more)}`
  })
  return [
    ...(active.length === 0 ? ['Try fewer or other words; list_sources shows what is indexed.'] : []),
    ...(active.length === 0 ? [] : [`Filters: ${active.join(', ')}`]),
    ...wider,
    ...(available === undefined
      ? []
      : [`Sources: ${writeFirstNames(available.names.map(quoteSpaced), available.more)}`]),
    ...(versions ?? []),
  ]
}

/** The parameter name of a filter. */
function parameterOf(filter: WideningFilter): string {
  return filter === 'sources' ? 'source' : filter
}

/** At most ten texts, and how many more there are. `omitted` counts those that are not in `texts`. */
function writeFirstNames(texts: readonly string[], omitted: number): string {
  const rest = Math.max(0, texts.length - MAX_NAMED) + omitted
  return `${texts.slice(0, MAX_NAMED).join(', ')}${rest === 0 ? '' : ` and ${writeNumber(rest)} more`}`
}

/** The position and score of each passage; the texts themselves are in the text blocks. */
function answerRecord(answer: SearchAnswer) {
  const { query, relevance, uncovered, elsewhere, notices, cursor, passages, more, widen, available } = answer
  const isEmpty = passages.length + more.length === 0
  return {
    query,
    relevance,
    ...(uncovered.length > 0 && { uncovered: [...uncovered] }),
    ...(elsewhere.length > 0 && { elsewhere: [...elsewhere] }),
    passages: passages.map(({ startLine, endLine, isCut, checkedAt, changedAt, explain, ...mention }) => ({
      ...mentionRecord(mention),
      startLine,
      endLine,
      ...(isCut ? { isCut } : {}),
      ...(explain && { explain: { ...explain }, checkedAt: writeTime(checkedAt), changedAt: writeTime(changedAt) }),
    })),
    more: more.map(mentionRecord),
    cursor,
    notices: [...notices],
    ...(isEmpty
      ? { widen: widen.map(({ filter, ...rest }) => ({ filter: parameterOf(filter), ...rest })), available }
      : {}),
  }
}

function mentionRecord(mention: Omit<PageMention, 'line'>) {
  const { title, url, headingPath, source, version, packagePage, chunk, score, similar } = mention
  return {
    ...{ title, url, headingPath: [...headingPath], source, version, chunk: shortenChunk(chunk), score },
    ...(packagePage !== undefined && { packagePage }),
    ...(similar !== undefined && { similar: [...similar] }),
  }
}
