import { usageError } from '../../core/errors.ts'
import { findNamedSources } from '../../core/retrieval/named-sources.ts'
import { MAX_QUESTION_CHARS, reduceQuestion } from '../../core/retrieval/question.ts'
import type { Judgement, Relevance } from '../../core/retrieval/relevance.ts'
import { primaryLanguageOf } from '../../core/text/language-code.ts'
import { writeList } from '../../core/text/list.ts'
import { describeAvailable, filterOf, suggestWider } from '../crawl/suggest-wider.ts'
import type { Library } from '../library.ts'
import type { ChunkFilter } from '../ports/store.ts'
import {
  DEFAULT_TOKENS,
  DUPLICATES,
  ENGINE_WORDS,
  type Engine,
  FUSIONS,
  LANGUAGE_CHOICES,
  type SearchAnswer,
  type SearchInput,
  type SimilarPage,
} from '../search.ts'
import { labelOf, type Source } from '../source.ts'
import { chooseSources, listPartial, writePartial } from '../sources/choose-sources.ts'
import type { AnswerParts } from './answer-parts.ts'
import { createComposer } from './compose-answer.ts'
import { createHitGroups } from './group-hits.ts'
import { createHitSources } from './hit-sources.ts'
import { findElsewhere, judgeAnswer } from './judge-answer.ts'
import { type NamedSources, type RankedHit, type RankedHits, rankHits } from './ranked-hits.ts'
import { MAX_ANSWERS, parseCursor, writeCursor } from './search-cursor.ts'
import { reachesShare } from './weigh-pages.ts'

/** Default maximum number of pages in an answer. */
export const DEFAULT_LIMIT = 10

/** Upper bounds of `limit` and `tokens`. */
const MAX_LIMIT = 100
const MAX_TOKENS = 100_000

/** Share of the token budget that an answer may fill: passages that hardly fit the question are not worth their tokens. */
const BUDGET_SHARES: Readonly<Record<Relevance, number>> = { strong: 1, weak: 0.5, none: 0.25 }

/** At most this many searched sources are listed in an answer. */
const MAX_LISTED_SOURCES = 10

/** At most this many parts of the hits, as `rankHits` returns them, are read for one question, over all its answers. */
const MAX_PARTS = 10

/** At most this many further parts are read to fill one answer. */
const FILLING_PARTS = 3

/**
 * Answers a question with passages that can be read and cited. A cursor continues after an earlier answer: the earlier answers are computed
 * again with the same engines, so that no state is kept between requests.
 */
export async function searchLibrary(library: Library, input: SearchInput, signal?: AbortSignal): Promise<SearchAnswer> {
  checkInput(input)
  const { query, version, limit = DEFAULT_LIMIT, tokens = DEFAULT_TOKENS, minScore = 0, fusion = 'convex' } = input
  const { answer: answerIndex, engines } = parseCursor(input, library.sha256)
  const { sources, notices, isAll, incomplete } = await chooseSources(library, { sources: input.sources, version })
  const isChosen = (input.sources?.length ?? 0) > 0 || version !== undefined
  const sourceFilter = isAll ? {} : { sourceIds: sources.map(({ id }) => id) }
  const given = dropLanguageChoice(input)
  const conditions = await broadenLanguage(library, given, sourceFilter)
  const filter = { ...filterOf(conditions), ...sourceFilter }
  const reduced = reduceQuestion(query)
  const named = sources.length > 1 ? await findNamed(library, reduced, sources) : undefined
  const request = { query: reduced, named, filter, fusion, explain: input.explain ?? false, engines }
  const hitSources = createHitSources(sources, incomplete)
  const groups = createHitGroups(library.store, hitSources, input)
  const composer = createComposer(library.store, hitSources, input.duplicates === 'show')
  let parts = 0
  let bestHit: RankedHit | undefined
  let last: RankedHits = { hits: [], engines: ['words'], notices: [], hasMore: sources.length > 0 }
  let answer: AnswerParts = { passages: [], more: [], moreShown: 0, tokens: 0 }
  let judgement: Judgement = { relevance: 'none', uncovered: [] }
  for (let current = 0; current <= answerIndex; current++) {
    let fillingParts = FILLING_PARTS
    while (
      last.hasMore &&
      parts < MAX_PARTS &&
      (!composer.hasHits || (fillingParts-- > 0 && composer.countPages() < limit))
    ) {
      signal?.throwIfAborted()
      last = await rankHits(library, request, parts++, signal, last.basis)
      if (parts === 1) {
        bestHit = last.hits[0]
        judgement = await judgeAnswer(library, last.hits, request.query)
      }
      composer.add(
        await groups.add(
          last.hits.filter((hit) => bestHit === undefined || reachesShare(hit, bestHit, minScore)),
          composer.withdraw,
        ),
      )
    }
    answer = await composer.compose({ limit, tokens: Math.ceil(tokens * BUDGET_SHARES[judgement.relevance]) })
  }
  const isEmpty = answerIndex === 0 && answer.passages.length + answer.more.length === 0
  const hasGivenSources = (input.sources?.length ?? 0) > 0
  const partial = await listPartial(library, isChosen || isEmpty ? sources : sourcesOf(answer, sources))
  const isLast = !composer.hasHits && !composer.hasRepeats && (!last.hasMore || parts >= MAX_PARTS)
  return {
    query,
    engines: last.engines,
    ...judgement,
    elsewhere:
      judgement.relevance === 'strong' || isAll ? [] : await findElsewhere(library, judgement.uncovered, sources),
    notices: [
      ...describeLanguage(given, conditions),
      // A notice about a chosen version may already mention that it is partial.
      ...new Set([...notices, ...writePartial(partial, hasGivenSources)]),
      ...last.notices,
      ...describeChange(engines, last.engines),
      ...groups.listNotices(listSimilarPages(answer)),
    ],
    partial: hasGivenSources ? partial : [],
    searched: isChosen ? sources.slice(0, MAX_LISTED_SOURCES).map(labelOf) : [],
    searchedCount: sources.length,
    ...answer,
    cursor:
      isLast || answerIndex + 1 >= MAX_ANSWERS
        ? null
        : writeCursor(input, { answer: answerIndex + 1, engines: engines ?? last.engines }, library.sha256),
    widen: isEmpty ? await suggestWider(library, conditions) : [],
    ...(isEmpty ? { available: await describeAvailable(library, sources) } : {}),
  }
}

/** Finds sources that the question names; undefined if it names none or all of the searched sources. */
async function findNamed(
  { readOrdinaryWords }: Pick<Library, 'readOrdinaryWords'>,
  query: string,
  sources: readonly Source[],
): Promise<NamedSources | undefined> {
  const ordinary = await readOrdinaryWords?.()
  const { query: rest, sources: named } = findNamedSources(query, sources, ordinary)
  if (named.length === 0 || named.length === sources.length) return undefined
  return { query: rest, sourceIds: new Set(named.map(({ id }) => id)) }
}

/** Broadens a regional language tag to the language if the region matches nothing. */
async function broadenLanguage(
  { store }: Pick<Library, 'store'>,
  input: SearchInput,
  sourceFilter: Pick<ChunkFilter, 'sourceIds'>,
): Promise<SearchInput> {
  const { query, language = '' } = input
  const short = language.includes('-') ? primaryLanguageOf(language) : null
  if (short === null) return input
  const found = await store.search({ query, limit: 1, filter: { ...filterOf(input), ...sourceFilter } })
  return found.length > 0 ? input : { ...input, language: short }
}

/** Notices for an unknown language tag, or for another one used in its place. */
function describeLanguage({ language = '' }: SearchInput, used: SearchInput): string[] {
  if (language === '') return []
  if (primaryLanguageOf(language) === null) return [`“${language}” is not a language tag such as de or pt-BR`]
  return used.language === language ? [] : [`nothing found in ${language}: searched ${used.language} instead`]
}

/** The sources that an answer cites. */
function sourcesOf({ passages, more }: AnswerParts, sources: readonly Source[]): Source[] {
  const cited = new Set([...passages, ...more].map(({ sourceId }) => sourceId))
  return sources.filter(({ id }) => cited.has(id))
}

/** Lists the pages of an answer with their similar pages. */
function listSimilarPages({ passages, more }: AnswerParts): { readonly similar: readonly SimilarPage[] }[] {
  return [...passages, ...more].map(({ similar = [] }) => ({ similar }))
}

/** The input without `auto` and `any`, which filter nothing. */
function dropLanguageChoice(input: SearchInput): SearchInput {
  const { language, ...rest } = input
  const isChoice = LANGUAGE_CHOICES.some((choice) => choice === language)
  return language === undefined || isChoice ? rest : { ...rest, language }
}

/** Reports that earlier answers used an engine that did not take part now, so the order may differ. */
function describeChange(before: readonly Engine[] = [], now: readonly Engine[]): string[] {
  const missing = before.filter((engine) => !now.includes(engine))
  if (missing.length === 0) return []
  const what = writeList(missing.map((engine) => ENGINE_WORDS[engine]))
  return [
    `earlier answers were also ranked by ${what}, but this one was not: some results may repeat, others may be missing`,
  ]
}

function checkInput({ query, limit, tokens, minScore, fusion, duplicates }: SearchInput): void {
  if (query.trim() === '') throw usageError('expected words to search for, got none')
  if (query.length > MAX_QUESTION_CHARS) {
    throw usageError(`expected a question of at most ${MAX_QUESTION_CHARS} characters, got ${query.length}; shorten it`)
  }
  checkNumber('limit', limit, 1, MAX_LIMIT)
  checkNumber('tokens', tokens, 1, MAX_TOKENS)
  if (minScore !== undefined && !(minScore >= 0 && minScore <= 1)) {
    throw usageError(`expected minScore from 0 to 1, a share of the best score, got ${minScore}`)
  }
  if (fusion !== undefined && !FUSIONS.includes(fusion)) {
    throw usageError(`expected fusion to be one of ${FUSIONS.join(', ')}, got ${JSON.stringify(fusion)}`)
  }
  if (duplicates !== undefined && !DUPLICATES.includes(duplicates)) {
    throw usageError(`expected duplicates to be one of ${DUPLICATES.join(', ')}, got ${JSON.stringify(duplicates)}`)
  }
}

function checkNumber(name: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return
  throw usageError(`expected ${name} to be a whole number from ${min} to ${max}, got ${value}`)
}
