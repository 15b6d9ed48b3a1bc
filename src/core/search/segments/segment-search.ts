import type { Analyzer } from '../analyzer.ts'
import { type Explanation, explainAll } from '../explain.ts'
import type { RankedPages } from '../lengths.ts'
import { type ParsedWord, parseQuery } from '../query.ts'
import type { QueryWord, RankedQuery } from '../ranked-query.ts'
import { DEFAULT_RANKING, type RankedEntry, Ranking, type RankingOptions } from '../ranking.ts'
import { DocumentLookup } from './document-lookup.ts'
import { entryAt, type IndexEntry } from './entry-table.ts'
import { FoundTerms } from './found-terms.ts'
import { measureScope, type ScopedSegment, type SearchScope, scopeKeyOf } from './search-scope.ts'
import type { Segment, SegmentView } from './segment.ts'
import { type SearchedSegment, SegmentScorer } from './segment-scorer.ts'
import type { StemEntry } from './term-blocks.ts'
import { openWord, type WordPostings, type WordTerm } from './word-postings.ts'

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
  /** Whether all blocks of the words could be read. If not, nothing is found, because the caller repeats the search with them. */
  readonly isLoaded?: (() => boolean) | undefined
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
  readonly #analyzer: Analyzer
  readonly #ranking: Ranking
  readonly #matchesVariants: boolean

  constructor(views: readonly SegmentView[], { fields, analyzer, ranking = {} }: SegmentSearchOptions) {
    this.#views = views
    this.#fields = Object.keys(fields)
    this.#weights = Object.values(fields)
    this.#analyzer = analyzer
    let base = 0
    let deadCount = 0
    this.#bases = views.map(({ segment, dead }) => {
      const from = base
      base += segment.table.count
      for (let i = dead?.indexOf(1) ?? -1; i >= 0; i = dead?.indexOf(1, i + 1) ?? -1) deadCount++
      return from
    })
    this.count = base - deadCount
    const constants = { ...DEFAULT_RANKING, ...ranking }
    this.#matchesVariants = constants.matchesVariants
    const collection = {
      lengthOf: (document: number) => this.#read(document, ({ lengths }, index) => lengths[index] ?? 0),
      order: this.#orderOf,
      pages: this.#pages,
    }
    this.#ranking = new Ranking(collection, constants)
  }

  /** The documents that match a query best and are accepted, best first. */
  search(query: string, limit: number, options: SegmentQueryOptions = {}): SegmentHit[] {
    const { sources, accept, also = [], explain = false, isLoaded = () => true } = options
    const { terms, ...rankedQuery } = this.#lookUp(parseQuery(query, this.#analyzer), this.#scopeOf(sources))
    if (!isLoaded()) return []
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
    if (this.#scope?.key !== scopeKeyOf(sources)) this.#scope = measureScope(this.#views, this.#bases, sources)
    return this.#scope
  }

  readonly #orderOf = (document: number): number => this.#read(document, ({ table }, index) => table.orders[index] ?? 0)

  readonly #pages: RankedPages = {
    pageOf: (document) => this.#read(document, ({ table }, index) => table.pages[index] ?? 0),
    measure: (page) => {
      let length = 0
      let documentCount = 0
      for (const { segment, dead } of this.#views) {
        segment.pages.visit(page, (from, to) => {
          for (let i = from; i < to; i++) {
            const ofDocument = dead?.[i] === 1 ? 0 : (segment.lengths[i] ?? 0)
            length += ofDocument
            if (ofDocument > 0) documentCount++
          }
        })
      }
      return { length, documentCount }
    },
  }

  #documentAt(document: number): IndexEntry {
    return this.#read(document, ({ table }, index) => entryAt(table, index))
  }

  /** Reads what a segment stores about a document. */
  #read<T>(document: number, read: (segment: Segment, index: number) => T): T {
    const number = this.#segmentOf(document)
    const view = this.#views[number]
    if (!view) throw new RangeError(`Expected the number of a document, got ${document}`)
    return read(view.segment, document - (this.#bases[number] ?? 0))
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
    const scorer = new SegmentScorer(searched, this.#orderOf, this.#weights)
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
    const found: number[] = []
    for (const page of new Set(documents.map((document) => this.#pages.pageOf(document)))) {
      for (const { view, base, hidden } of segments) {
        view.segment.pages.visit(page, (from, to) => {
          for (let i = from; i < to; i++) if (hidden?.[i] !== 1) found.push(base + i)
        })
      }
    }
    return Uint32Array.from(found).sort()
  }
}

/** The terms of other stems that a short form matches. */
function listLongForms({ terms, longForms }: StemEntry, word: string): ReadonlySet<string> {
  const found = new Set(longForms.flatMap(([form, term]) => (form === word ? [term] : [])))
  for (const { term } of terms) found.delete(term)
  return found
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
