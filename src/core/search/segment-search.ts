import type { Analyzer } from './analyzer.ts'
import { entryAt, type IndexEntry } from './entry-table.ts'
import { type Explanation, explainAll } from './explain.ts'
import { FoundTerms, type TermPart } from './found-terms.ts'
import { PageNumbering, type RankedPages, weighLengths } from './lengths.ts'
import { findLowerBound } from './postings.ts'
import { type ParsedWord, parseQuery } from './query.ts'
import type { QueryWord, RankedQuery } from './ranked-query.ts'
import { DEFAULT_RANKING, type RankedEntry, Ranking, type RankingOptions } from './ranking.ts'
import type { SegmentView } from './segment.ts'
import { type PositionalPostings, PositionReader, PostingsList, PostingsReader } from './term-postings.ts'
import { measureCloseness, PositionList } from './token-pairs.ts'

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
  /** 1 for an excluded document; undefined if there is none. */
  readonly hidden: Uint8Array | undefined
  /** Number of documents that are not excluded. */
  readonly count: number
  /** Average length of these documents. */
  readonly averageLength: number
  /** Average length of their pages. */
  readonly averagePageLength: number
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
  /** For each segment, whether the numbers of its documents ascend, which changed chunks may prevent. */
  readonly #hasAscendingNumbers: readonly boolean[]
  readonly #dead: Uint8Array | undefined
  #scope: SearchScope | undefined
  readonly #fields: readonly string[]
  readonly #weights: readonly number[]
  /** Weighted length of each document; 0 for a dead one. */
  readonly #lengths: Float64Array
  readonly #pages: RankedPages
  readonly #analyzer: Analyzer
  readonly #ranking: Ranking
  readonly #matchesVariants: boolean
  /** Reused by every query; each query overwrites the postings of the previous one. */
  readonly #list = new PostingsList()
  readonly #positionLists = [new PositionList(), new PositionList()] as const

  constructor(views: readonly SegmentView[], { fields, analyzer, ranking = {} }: SegmentSearchOptions) {
    this.#views = views
    this.#fields = Object.keys(fields)
    this.#analyzer = analyzer
    const { length: fieldCount } = this.#fields
    const size = views.reduce((sum, { segment }) => sum + segment.table.count, 0)
    const lengths = new Uint32Array(size * fieldCount)
    const order = new Float64Array(size)
    const dead = views.some((view) => view.dead) ? new Uint8Array(size) : undefined
    let base = 0
    let count = size
    this.#bases = views.map((view) => {
      const { table } = view.segment
      const from = base
      base += table.count
      lengths.set(table.lengths, from * fieldCount)
      order.set(table.orders, from)
      for (let i = 0; view.dead && i < table.count; i++) {
        if (view.dead[i] !== 1) continue
        count--
        lengths.fill(0, (from + i) * fieldCount, (from + i + 1) * fieldCount)
        if (dead) dead[from + i] = 1
      }
      return from
    })
    this.#hasAscendingNumbers = views.map(({ segment }) =>
      segment.table.numbers.every((number, i, all) => i === 0 || number > (all[i - 1] ?? 0)),
    )
    this.#dead = dead
    this.count = count
    const constants = { ...DEFAULT_RANKING, ...ranking }
    this.#matchesVariants = constants.matchesVariants
    this.#weights = Object.values(fields)
    this.#lengths = weighLengths(lengths, this.#weights)
    const numbering = new PageNumbering(size)
    for (const { segment } of views) {
      for (let i = 0; i < segment.table.count; i++) numbering.add(segment.table.pages[i] ?? 0)
    }
    this.#pages = numbering.finish(this.#lengths)
    this.#ranking = new Ranking({ lengths: this.#lengths, order, pages: this.#pages }, constants)
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
    const hidden = sources === undefined ? this.#dead : new Uint8Array(this.#lengths.length)
    const isPageCounted = new Uint8Array(this.#pages.lengths.length)
    let pageCount = 0
    let count = 0
    let sum = 0
    this.#views.forEach(({ segment: { table }, dead }, segment) => {
      const base = this.#bases[segment] ?? 0
      for (let i = 0; i < table.count; i++) {
        if (dead?.[i] !== 1 && sources?.has(table.sources[i] ?? 0) !== false) {
          count++
          sum += this.#lengths[base + i] ?? 0
          const page = this.#pages.ofDocuments[base + i] ?? 0
          if (isPageCounted[page] === 0) pageCount++
          isPageCounted[page] = 1
        } else if (hidden !== undefined) {
          hidden[base + i] = 1
        }
      }
    })
    return {
      hidden,
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
      const index = this.#hasAscendingNumbers[i] ? binarySearch(numbers, number) : numbers.indexOf(number)
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

  /** Looks the words of a query up in all segments. */
  #lookUp(
    parsed: readonly ParsedWord[],
    { hidden, count, averageLength, averagePageLength }: SearchScope,
  ): RankedQuery & { readonly terms: readonly string[] } {
    const found = new FoundTerms(this.#views)
    const words = parsed.map((word) => this.#lookUpWord(word, found))
    const postings = this.#readPostings(found.parts, hidden)
    return {
      words,
      terms: found.names,
      count,
      averageLength,
      averagePageLength,
      postings,
      frequenciesOf: (term, document) => this.#readFrequencies(found.parts[term] ?? [], document),
      findPairs: (documents, queryWords) => this.#findPairs(documents, queryWords, found.parts, postings),
    }
  }

  #lookUpWord({ word, stem, forms, weight, phraseGap }: ParsedWord, found: FoundTerms): QueryWord {
    const group = found.addStem(stem)
    if (!this.#matchesVariants) group.clear()
    for (const { form, term, segment } of this.#matchesVariants ? found.longForms(stem) : []) {
      if (form !== word) continue
      // A character of a script without spaces may have thousands of long forms, so the lookup of each is limited to its segment.
      found.lookUp(this.#analyzer.stem(term), [segment])
      group.add(term)
    }
    const exact = forms.filter((form) => found.has(form))
    const variants = [...group].filter((term) => !exact.includes(term)).sort(this.#analyzer.compare)
    return {
      word,
      weight,
      exact: exact.map((term) => found.id(term)),
      variants: variants.map((term) => found.id(term)),
      ...(phraseGap !== undefined && { phraseGap }),
    }
  }

  /** Decodes the postings of all terms. */
  #readPostings(parts: readonly TermPart[][], hidden: Uint8Array | undefined): PositionalPostings {
    const list = this.#list
    const weights = this.#weights
    list.clear()
    for (const term of parts) {
      list.beginTerm()
      for (const { segment, postings } of term) {
        const base = this.#bases[segment] ?? 0
        list.reserve(postings.positionsStart - postings.start)
        list.addAll(postings, base, hidden, weights)
      }
    }
    return list.finish()
  }

  /** Occurrences of a term in one document, by field. */
  #readFrequencies(parts: readonly TermPart[], document: number): Uint32Array {
    const reader = new PostingsReader(this.#fields.length)
    const segment = this.#segmentOf(document)
    const index = document - (this.#bases[segment] ?? 0)
    for (const part of parts) {
      if (part.segment !== segment) continue
      reader.begin(part.postings)
      while (reader.next() && reader.document < index);
      if (reader.document !== index) continue
      reader.fillFrequencies()
      return reader.frequencies
    }
    return new Uint32Array(this.#fields.length)
  }

  /** Finds query words that closely follow each other, by the positions of their terms. */
  #findPairs(
    documents: readonly number[],
    words: readonly QueryWord[],
    parts: readonly TermPart[][],
    postings: PositionalPostings,
  ): Float64Array {
    const found = new Float64Array(documents.length * words.length)
    const sorted = Uint32Array.from(documents).sort()
    const rows = rowsOf(documents, sorted)
    const wordOfTerm = new Map(
      words.flatMap(({ exact, variants }, i) => [...exact, ...variants].map((term) => [term, i])),
    )
    let [previous, current]: readonly [PositionList, PositionList] = this.#positionLists
    previous.clear()
    words.forEach(({ exact, variants, phraseGap }, word) => {
      current.clear()
      for (const term of [...exact, ...variants]) {
        if (wordOfTerm.get(term) === word) this.#readPositions(parts[term] ?? [], postings, term, sorted, current)
      }
      current.sort()
      measureCloseness(previous, current, phraseGap, (row, closeness) => {
        const at = (rows[row] ?? 0) * words.length + word
        found[at] = (found[at] ?? 0) + closeness
      })
      ;[previous, current] = [current, previous]
    })
    return found
  }

  /** Adds the positions of a term in some documents, which are sorted, to a list. */
  #readPositions(
    parts: readonly TermPart[],
    { offsets, documents, before, totals }: PositionalPostings,
    term: number,
    sorted: Uint32Array,
    list: PositionList,
  ): void {
    const end = offsets[term + 1] ?? 0
    let at = offsets[term] ?? 0
    let row = 0
    for (const { segment, postings } of parts) {
      const limit = this.#bases[segment + 1] ?? Number.POSITIVE_INFINITY
      const reader = new PositionReader(postings)
      for (; row < sorted.length && (sorted[row] ?? 0) < limit; row++) {
        const document = sorted[row] ?? 0
        at = findLowerBound(documents, at, end, document)
        if (at === end) return
        if (documents[at] !== document) continue
        reader.skipTo(before[at] ?? 0)
        let position = 0
        for (let left = totals[at] ?? 0; left > 0; left--) {
          position += reader.next()
          list.add(row, position)
        }
      }
    }
  }
}

/** Maps the index of a document in `sorted` to its index in `documents`. */
function rowsOf(documents: readonly number[], sorted: Uint32Array): Uint32Array {
  const rows = new Uint32Array(documents.length)
  documents.forEach((document, i) => {
    rows[findLowerBound(sorted, 0, sorted.length, document)] = i
  })
  return rows
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
