import type { Analyzer } from '../analyzer.ts'
import { type Explanation, explainAll } from '../explain.ts'
import { PageNumbering, type RankedPages } from '../lengths.ts'
import { type ParsedWord, parseQuery } from '../query.ts'
import type { QueryWord, RankedQuery } from '../ranked-query.ts'
import { DEFAULT_RANKING, type RankedEntry, Ranking, type RankingOptions } from '../ranking.ts'
import { DocumentLookup } from './document-lookup.ts'
import { entryAt, type IndexEntry } from './entry-table.ts'
import { FoundTerms } from './found-terms.ts'
import type { SegmentView } from './segment.ts'
import { type SearchedSegment, SegmentScorer } from './segment-scorer.ts'
import type { StemEntry } from './term-blocks.ts'
import { openWord, type SearchedDocuments, type WordPostings, type WordTerm } from './word-postings.ts'

/** How a set of segments is searched. */
export interface SegmentSearchOptions {
  /** Names of the fields with the weight of a match in each, in the order of the documents' fields. */
  readonly fields: Readonly<Record<string, number>>
  readonly analyzer: Analyzer
  readonly ranking?: RankingOptions
}

/** A document that matches a query. */
export interface SegmentHit extends Pick<RankedEntry, 'score' | 'pageScore' | 'missing' | 'missingOnPage'> {
  readonly document: IndexEntry
  /** The terms of the document that matched, in the order of the query. */
  readonly terms: readonly string[]
  readonly explain?: Explanation
}

/** Settings of a search in segments. */
export interface SegmentQueryOptions {
  /** Numbers of the sources to search, as if there were no others: rarity is measured among their documents. */
  readonly sources?: ReadonlySet<number> | undefined
  /** Excludes a document from the hits when it returns `false`. Called only for documents with a sufficient score. */
  readonly accept?: (document: IndexEntry) => boolean
  /** Numbers of documents to append after the best hits, whatever their score. A document that is already a hit is not repeated. */
  readonly also?: readonly number[]
  readonly explain?: boolean
}

/** The documents that a query can find. */
interface SearchScope {
  /** The numbers of the sources as text, or `all`; documents of other sources are excluded. */
  readonly key: string
  /** The segments with such documents. */
  readonly segments: readonly ScopedSegment[]
  /** Number of documents that are not excluded. */
  readonly count: number
  /** Average length of these documents. */
  readonly averageLength: number
  /** Average length of their pages. */
  readonly averagePageLength: number
}

/** A segment in a scope. */
interface ScopedSegment extends SearchedDocuments {
  readonly view: SegmentView
  /** The number of its first document among those of all segments. */
  readonly base: number
}

/** Where the documents of each page are: runs of consecutive documents, numbered from 1; 0 is none. */
interface PageRuns {
  /** The first run of each page. */
  readonly first: Uint32Array
  /** For each run, the next one of its page. */
  readonly next: Uint32Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/** A word of a query with its postings in each segment of the scope. */
interface FoundWord {
  readonly word: QueryWord
  readonly postings: readonly (WordPostings | undefined)[]
}

/**
 * Searches segments as one index. The scores equal those of a `SearchIndex` over the living documents, for any distribution over segments.
 */
export class SegmentSearch {
  /** Number of living documents. */
  readonly count: number
  readonly #views: readonly SegmentView[]
  /** For each segment, the position of its first document among the documents of all segments. */
  readonly #bases: readonly number[]
  #scope: SearchScope | undefined
  readonly #fields: readonly string[]
  readonly #weights: readonly number[]
  readonly #pages: RankedPages
  #pageRuns: PageRuns | undefined
  readonly #order: Float64Array
  readonly #analyzer: Analyzer
  readonly #ranking: Ranking
  readonly #matchesVariants: boolean

  constructor(views: readonly SegmentView[], { fields, analyzer, ranking = {} }: SegmentSearchOptions) {
    this.#views = views
    this.#fields = Object.keys(fields)
    this.#weights = Object.values(fields)
    this.#analyzer = analyzer
    const size = views.reduce((sum, { segment }) => sum + segment.table.count, 0)
    /** Weighted length of each document; 0 for a dead one. */
    const lengths = new Float64Array(size)
    const order = new Float64Array(size)
    const numbering = new PageNumbering(size)
    let base = 0
    let deadCount = 0
    this.#bases = views.map(({ segment, dead }) => {
      const from = base
      base += segment.table.count
      lengths.set(segment.lengths, from)
      order.set(segment.table.orders, from)
      for (let i = 0; i < segment.table.count; i++) numbering.add(segment.table.pages[i] ?? 0)
      for (let i = dead?.indexOf(1) ?? -1; i >= 0; i = dead?.indexOf(1, i + 1) ?? -1) {
        lengths[from + i] = 0
        deadCount++
      }
      return from
    })
    this.count = size - deadCount
    const constants = { ...DEFAULT_RANKING, ...ranking }
    this.#matchesVariants = constants.matchesVariants
    this.#order = order
    this.#pages = numbering.finish(lengths)
    this.#ranking = new Ranking({ lengths, order, pages: this.#pages }, constants)
  }

  /** The documents that match a query best and are accepted, best first. */
  search(query: string, limit: number, options: SegmentQueryOptions = {}): SegmentHit[] {
    const { sources, accept, also = [], explain = false } = options
    const { terms, ...rankedQuery } = this.#lookUp(parseQuery(query, this.#analyzer), this.#scopeOf(sources))
    const isAccepted = accept && ((document: number) => accept(this.#documentAt(document)))
    const others = also.flatMap((number) => this.#find(number) ?? [])
    const ranked = this.#ranking.rank(rankedQuery, limit, isAccepted, others)
    const nameOf = (term: number): string => terms[term] ?? ''
    const explained = explain ? explainAll(this.#ranking, rankedQuery, ranked, this.#fields, nameOf) : []
    return ranked.map(({ document, terms: matched, pairs: _, ...entry }, i) => {
      const hit = { document: this.#documentAt(document), ...entry, terms: matched.map(nameOf) }
      const explanation = explained[i]
      return explanation ? { ...hit, explain: explanation } : hit
    })
  }

  /** The living documents of some sources. The last scope is cached, because most questions use the same sources. */
  #scopeOf(sources: ReadonlySet<number> | undefined): SearchScope {
    const key = sources === undefined ? 'all' : [...sources].sort((a, b) => a - b).join(' ')
    if (this.#scope?.key !== key) this.#scope = { key, ...this.#measure(sources) }
    return this.#scope
  }

  #measure(sources: ReadonlySet<number> | undefined): Omit<SearchScope, 'key'> {
    const segments = this.#views.flatMap((view, i): ScopedSegment[] => {
      const { segment } = view
      const { lengths, levels } = segment
      const { count } = segment.table
      const hidden = hideDocuments(view, sources)
      const hiddenCount = hidden === undefined ? 0 : hidden.reduce((sum, one) => sum + one, 0)
      if (hiddenCount === count) return []
      const base = this.#bases[i] ?? 0
      return [{ view, base, count, lengths, levels, hidden: hiddenCount > 0 ? hidden : undefined, hiddenCount }]
    })
    const isPageCounted = new Uint8Array(this.#pages.lengths.length)
    let pageCount = 0
    let count = 0
    let sum = 0
    for (const { view, base, hidden, hiddenCount, lengths } of segments) {
      const { pageStarts, table } = view.segment
      count += table.count - hiddenCount
      pageStarts.forEach((start, i) => {
        const end = pageStarts[i + 1] ?? table.count
        let isLiving = hidden === undefined
        for (let document = start; document < end; document++) {
          if (hidden?.[document] === 1) continue
          isLiving = true
          sum += lengths[document] ?? 0
        }
        const page = this.#pages.ofDocuments[base + start] ?? 0
        if (!isLiving || isPageCounted[page] === 1) return
        isPageCounted[page] = 1
        pageCount++
      })
    }
    return {
      segments,
      count,
      averageLength: count === 0 ? 0 : sum / count,
      averagePageLength: pageCount === 0 ? 0 : sum / pageCount,
    }
  }

  #documentAt(document: number): IndexEntry {
    const segment = this.#segmentOf(document)
    const view = this.#views[segment]
    if (!view) throw new RangeError(`Expected the number of a document, got ${document}`)
    return entryAt(view.segment.table, document - (this.#bases[segment] ?? 0))
  }

  /** The position among all segments of the living document with a number of the collection. */
  #find(number: number): number | undefined {
    for (const [i, { segment, dead }] of this.#views.entries()) {
      const { numbers } = segment.table
      const index = segment.hasAscendingNumbers ? binarySearch(numbers, number) : numbers.indexOf(number)
      if (index >= 0 && dead?.[index] !== 1) return (this.#bases[i] ?? 0) + index
    }
    return undefined
  }

  #segmentOf(document: number): number {
    let low = 0
    let high = this.#bases.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#bases[middle] ?? 0) <= document) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Looks the words of a query up in all segments of a scope. */
  #lookUp(
    parsed: readonly ParsedWord[],
    { segments, count, averageLength, averagePageLength }: SearchScope,
  ): RankedQuery & { readonly terms: readonly string[] } {
    const found = new FoundTerms(segments.map(({ view }) => view.segment))
    const foundWords = parsed.map((word) => this.#lookUpWord(word, found, segments))
    const searched = segments.map((segment, i): SearchedSegment => {
      const ofWords = foundWords.flatMap(({ word, postings }) => {
        const ofWord = postings[i]
        return ofWord ? [[word.word, ofWord] as const] : []
      })
      return { ...segment, words: new Map(ofWords) }
    })
    const scorer = new SegmentScorer(searched, this.#order, this.#weights)
    const lookup = new DocumentLookup(found.parts, segments, this.#weights)
    return {
      words: foundWords.map(({ word }) => word),
      terms: found.names,
      count,
      averageLength,
      averagePageLength,
      score: (ofQuery, formula) => scorer.score(ofQuery, formula),
      readPostings: (documents) => lookup.readPostings(this.#listPageDocuments(documents, segments)),
      frequenciesOf: (term, document) => lookup.readFrequencies(term, document),
      findPairs: (documents, queryWords) => lookup.findPairs(documents, queryWords),
    }
  }

  #lookUpWord(
    { word, stem, forms, weight, phraseGap }: ParsedWord,
    found: FoundTerms,
    segments: readonly ScopedSegment[],
  ): FoundWord {
    const { entries, terms } = found.addStem(stem)
    const group = new Set(this.#matchesVariants ? terms : [])
    const exact = forms.filter((form) => found.has(form))
    const postings = segments.map((segment, i) => {
      const entry = entries[i]
      if (!entry) return undefined
      const longForms = this.#matchesVariants ? listLongForms(entry, word) : new Set<string>()
      const ofStem = this.#matchesVariants ? entry.terms : entry.terms.filter(({ term }) => exact.includes(term))
      const wordTerms: WordTerm[] = ofStem.map((one) => ({ postings: one, isExact: exact.includes(one.term) }))
      for (const term of longForms) {
        group.add(term)
        const ofTerm = found.lookUp(term, this.#analyzer.stem(term), i)
        if (ofTerm) wordTerms.push({ postings: ofTerm, isExact: false })
      }
      if (wordTerms.length === 0) return undefined
      const stemCount = longForms.size === 0 && ofStem.length === entry.terms.length ? entry.count : undefined
      return openWord(wordTerms, stemCount, segment, this.#weights)
    })
    const variants = [...group].filter((term) => !exact.includes(term) && found.has(term)).sort(this.#analyzer.compare)
    const queryWord = {
      word,
      weight,
      exact: exact.map((term) => found.id(term)),
      variants: variants.map((term) => found.id(term)),
      ...(phraseGap !== undefined && { phraseGap }),
    }
    return { word: queryWord, postings }
  }

  /** All documents in the scope that are on a page with one of these, in ascending order. */
  #listPageDocuments(documents: readonly number[], segments: readonly ScopedSegment[]): Uint32Array {
    this.#pageRuns ??= this.#listPageRuns()
    const { first, next, starts, ends } = this.#pageRuns
    const found = new Set<number>()
    for (const page of new Set(documents.map((document) => this.#pages.ofDocuments[document] ?? 0))) {
      for (let run = first[page] ?? 0; run > 0; run = next[run] ?? 0) {
        const start = starts[run] ?? 0
        const scoped = segments.find(({ base, count }) => start >= base && start < base + count)
        for (let document = start; scoped && document < (ends[run] ?? 0); document++) {
          if (scoped.hidden?.[document - scoped.base] !== 1) found.add(document)
        }
      }
    }
    return Uint32Array.from(found).sort()
  }

  #listPageRuns(): PageRuns {
    const count = this.#views.reduce((sum, { segment }) => sum + segment.pageStarts.length, 1)
    const [next, starts, ends] = [new Uint32Array(count), new Uint32Array(count), new Uint32Array(count)]
    const first = new Uint32Array(this.#pages.lengths.length)
    let run = 0
    this.#views.forEach(({ segment: { pageStarts, table } }, segment) => {
      const base = this.#bases[segment] ?? 0
      pageStarts.forEach((start, i) => {
        const page = this.#pages.ofDocuments[base + start] ?? 0
        starts[++run] = base + start
        ends[run] = base + (pageStarts[i + 1] ?? table.count)
        next[run] = first[page] ?? 0
        first[page] = run
      })
    })
    return { first, next, starts, ends }
  }
}

/** The terms of other stems that a short form matches. */
function listLongForms({ terms, longForms }: StemEntry, word: string): ReadonlySet<string> {
  const found = new Set(longForms.flatMap(([form, term]) => (form === word ? [term] : [])))
  for (const { term } of terms) found.delete(term)
  return found
}

/** 1 for each document of a segment that is dead or of other sources; undefined if there is none. */
function hideDocuments(
  { segment, dead }: SegmentView,
  sources: ReadonlySet<number> | undefined,
): Uint8Array | undefined {
  if (sources === undefined || [...segment.sources].every((source) => sources.has(source))) return dead
  return Uint8Array.from(segment.table.sources, (source, i) => (dead?.[i] === 1 || !sources.has(source) ? 1 : 0))
}

/** The index of a number in an ascending list, -1 if it is missing. */
function binarySearch(numbers: Float64Array, number: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < number) low = middle + 1
    else high = middle
  }
  return numbers[low] === number ? low : -1
}
