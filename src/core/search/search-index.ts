import type { Analyzer } from './analyzer.ts'
import { ByteWriter, resize } from './bytes.ts'
import { ExhaustiveScorer } from './exhaustive-scorer.ts'
import { type Explanation, explainAll } from './explain.ts'
import { PageNumbering, sumLengths, weighLengths } from './lengths.ts'
import { buildPostings, type EncodedEntries, type Postings, type TermEntry } from './postings.ts'
import { type Completion, QueryTerms } from './query-terms.ts'
import { type QueryWord, type RankedQuery, type ScoreFormula, weighPostings } from './ranked-query.ts'
import { DEFAULT_RANKING, type RankedEntry, Ranking, type RankingOptions } from './ranking.ts'
import { readIndex, writeIndex } from './saved-index.ts'
import { runSteps, type Steps, sortInSteps } from './steps.ts'
import { createPairFinder } from './token-pairs.ts'
import { Vocabulary } from './vocabulary.ts'

/** Options of an index. Loading needs the same options as creating. */
export interface SearchIndexOptions {
  /** Names of the fields with the weight of a match in each, all relative to 1. */
  readonly fields: Readonly<Record<string, number>>
  readonly analyzer: Analyzer
  readonly ranking?: RankingOptions
  /** Tie-breaker between documents with equal scores: the smaller value comes first. Without it the order of their keys decides. */
  readonly rankOf?: (key: string) => number
  /** The page that a document is part of. @default documents are not parts of pages */
  readonly pageOf?: (key: string) => string
}

/** Options of a search. */
export interface SearchOptions {
  /** Maximum number of hits. @default 10 */
  readonly limit?: number
  /** Excludes a document from the hits when it returns `false`. Called only for documents with a sufficient score. */
  readonly filter?: (key: string) => boolean
  /** Adds an explanation of the score to each hit. @default false */
  readonly explain?: boolean
  /** Treats an unmatched last word as the beginning of other words; see `complete`. @default false */
  readonly completes?: boolean
}

/** One document that matches a query. */
export interface SearchHit extends Pick<RankedEntry, 'score' | 'pageScore' | 'missing' | 'missingOnPage'> {
  readonly key: string
  /** The terms of the document that matched, in the order of the query, for snippets. */
  readonly terms: readonly string[]
  readonly explain?: Explanation
}

/** The size of an index. */
export interface SearchIndexStats {
  readonly documents: number
  readonly terms: number
  /** Number of documents of each term in each field, summed over all terms and fields. */
  readonly postings: number
  readonly fields: Readonly<Record<string, { readonly documents: number; readonly tokens: number }>>
}

/** The current documents, numbered in the order of their keys, and their ranking. */
interface IndexSnapshot {
  readonly keys: readonly string[]
  readonly documents: EncodedEntries
  readonly postings: readonly Postings[]
  readonly findPairs: RankedQuery['findPairs']
  readonly ranking: Ranking
  readonly scorer: ExhaustiveScorer
  readonly averageLength: number
  readonly averagePageLength: number | undefined
  /** Numbers of all terms in their order, computed on first use. */
  termOrder: Uint32Array | undefined
}

/** Documents or terms processed in one step. */
const ITEMS_PER_STEP = 512

/**
 * A compact full-text index: it takes keys with named text fields and returns keys ranked by BM25. It depends on no document format, and on
 * no language beyond its analyzer. Documents are stored as lists of term numbers, about one and a half bytes per token. The first search
 * after a change rebuilds the inverted lists, so scores depend on the present documents and never on the order or the number of earlier
 * changes.
 */
export class SearchIndex {
  readonly #analyzer: Analyzer
  readonly #ranking: Required<RankingOptions>
  readonly #fields: readonly string[]
  readonly #weights: readonly number[]
  readonly #rankOf: SearchIndexOptions['rankOf']
  readonly #pageOf: SearchIndexOptions['pageOf']
  readonly #vocabulary = new Vocabulary()
  /** Rows of `#starts` and `#lengths` by key. */
  #rows = new Map<string, number>()
  #rowCount = 0
  #starts = new Uint32Array(64)
  #lengths: Uint32Array<ArrayBuffer>
  #tokens = new ByteWriter()
  readonly #queryTerms: QueryTerms
  #snapshot: IndexSnapshot | undefined
  #changes = 0

  constructor(options: SearchIndexOptions) {
    this.#fields = Object.keys(options.fields)
    this.#weights = Object.values(options.fields)
    if (this.#fields.length === 0) throw new TypeError('Expected `fields` to name at least one field, got none')
    for (const [field, weight] of Object.entries(options.fields)) {
      if (!(weight > 0)) throw new TypeError(`Expected the weight of \`${field}\` to be above 0, got \`${weight}\``)
    }
    this.#analyzer = options.analyzer
    this.#rankOf = options.rankOf
    this.#pageOf = options.pageOf
    this.#ranking = { ...DEFAULT_RANKING, ...options.ranking }
    this.#queryTerms = new QueryTerms(
      this.#vocabulary,
      options.analyzer,
      this.#ranking.matchesVariants,
      () => runSteps(this.#openSnapshot()).postings,
    )
    this.#lengths = new Uint32Array(64 * this.#fields.length)
  }

  /** Number of documents. */
  get size(): number {
    return this.#rows.size
  }

  /** Whether a document is present. */
  has(key: string): boolean {
    return this.#rows.has(key)
  }

  /** All keys, in the order they were added. */
  keys(): IterableIterator<string> {
    return this.#rows.keys()
  }

  /** Adds a document, or replaces the one with the same key. A field may be omitted; an unknown one is refused. */
  add(key: string, fields: Readonly<Record<string, string | readonly string[]>>): void {
    for (const field of Object.keys(fields)) this.#fieldNumber(field)
    const row = this.#addRow(key)
    this.#fields.forEach((field, f) => {
      const text = fields[field] ?? []
      let length = 0
      const vocabulary = this.#vocabulary
      const tokens = this.#tokens
      const visit = (source: string, start: number, end: number): void => {
        tokens.writeNumber(vocabulary.intern(source, start, end))
        length++
      }
      for (const part of typeof text === 'string' ? [text] : text) this.#analyzer.visitTokens(part, visit)
      this.#lengths[row * this.#fields.length + f] = length
    })
  }

  /** Removes a document and returns whether it existed. */
  remove(key: string): boolean {
    this.#discardSnapshot()
    return this.#rows.delete(key)
  }

  /** Preparation of searches in steps; a search does the remaining steps itself. */
  *prepareSearch(): Steps<void> {
    yield* this.#openSnapshot()
    yield* this.#queryTerms.update()
  }

  /** Preparation of a walk through all terms, in steps. */
  *prepareTerms(): Steps<void> {
    yield* this.#openTermOrder()
  }

  /** The documents that match a query best, best first; equal scores in the order of `rankOf`, or else of their keys. */
  search(query: string, options: SearchOptions = {}): SearchHit[] {
    const { limit = 10, filter, explain = false, completes = false } = options
    const snapshot = runSteps(this.#openSnapshot())
    const { keys, ranking, scorer, averageLength, averagePageLength, findPairs } = snapshot
    const words = this.#queryTerms.find(query, completes)
    const { postings, ...reading } = weighPostings(snapshot.postings, this.#weights, words)
    const rankedQuery = {
      words,
      count: keys.length,
      averageLength,
      ...(averagePageLength !== undefined && { averagePageLength }),
      findPairs,
      score: (ofQuery: readonly QueryWord[], formula: ScoreFormula) => scorer.score(postings, ofQuery, formula),
      ...reading,
    }
    const accept = filter && ((document: number) => filter(keys[document] ?? ''))
    const ranked = ranking.rank(rankedQuery, limit, accept)
    const nameOf = (id: number): string => this.#vocabulary.term(id)
    const explained = explain ? explainAll(ranking, rankedQuery, ranked, this.#fields, nameOf) : []
    return ranked.map(({ document, terms, pairs: _, ...entry }, i) => {
      const hit = { key: keys[document] ?? '', ...entry, terms: terms.map(nameOf) }
      const explanation = explained[i]
      return explanation ? { ...hit, explain: explanation } : hit
    })
  }

  /** How many documents match a query: all that `search` would find without a limit. */
  count(query: string, { filter, completes = false }: Pick<SearchOptions, 'filter' | 'completes'> = {}): number {
    const { keys, postings } = runSteps(this.#openSnapshot())
    const found = new Set<number>()
    for (const { exact, variants } of this.#queryTerms.find(query, completes)) {
      for (const id of [...exact, ...variants]) {
        for (const { offsets, documents } of postings) {
          for (let i = offsets[id] ?? 0; i < (offsets[id + 1] ?? 0); i++) found.add(documents[i] ?? 0)
        }
      }
    }
    if (filter === undefined) return found.size
    let count = 0
    for (const document of found) if (filter(keys[document] ?? '')) count++
    return count
  }

  /** Completions of the last word of a query, if no document has that word; undefined otherwise. */
  complete(query: string): Completion | undefined {
    return this.#queryTerms.complete(query)
  }

  /** All keys, sorted: the order by which documents are numbered in postings. */
  sortedKeys(): readonly string[] {
    return runSteps(this.#openSnapshot()).keys
  }

  /** The terms of a field in order, each with its documents. Only one term's data exists at a time. */
  *terms(field: string): Generator<TermEntry, void, void> {
    const f = this.#fieldNumber(field)
    const { documents, postings: all } = runSteps(this.#openSnapshot())
    const order = runSteps(this.#openTermOrder())
    const postings = all[f]
    if (!postings) return
    const { offsets } = postings
    const { length: fieldCount } = this.#fields
    for (let i = 0; i < order.length; i++) {
      const id = order[i] ?? 0
      const start = offsets[id] ?? 0
      const df = (offsets[id + 1] ?? 0) - start
      if (df === 0) continue
      yield {
        term: this.#vocabulary.term(id),
        df,
        visitPostings(visit, from = 0, to = df) {
          for (let at = start + from; at < start + to; at++) {
            const document = postings.documents[at] ?? 0
            visit(document, postings.frequencies[at] ?? 0, documents.lengths[document * fieldCount + f] ?? 0)
          }
        },
      }
    }
  }

  /** Number of tokens of a document in a field, 0 for a missing document. */
  docLength(key: string, field: string): number {
    const row = this.#rows.get(key)
    return row === undefined ? 0 : (this.#lengths[row * this.#fields.length + this.#fieldNumber(field)] ?? 0)
  }

  /** Counts documents, terms and tokens. */
  stats(): SearchIndexStats {
    const { postings, documents } = runSteps(this.#openSnapshot())
    let terms = 0
    for (let id = 0; id < this.#vocabulary.size; id++) {
      if (postings.some(({ offsets }) => (offsets[id + 1] ?? 0) > (offsets[id] ?? 0))) terms++
    }
    const fields = this.#fields.map(
      (field, f) => [field, sumLengths(documents.lengths, documents.fieldCount, f)] as const,
    )
    const count = postings.reduce((sum, { documents: { length } }) => sum + length, 0)
    return { documents: this.size, terms, postings: count, fields: Object.fromEntries(fields) }
  }

  /**
   * The index as bytes. Equal documents give equal bytes, regardless of the order of adding: documents are written in key order, terms are
   * numbered by frequency and then by their order.
   */
  save(): Uint8Array<ArrayBuffer> {
    const { keys, documents } = runSteps(this.#openSnapshot())
    return writeIndex({ analyzer: this.#analyzer, fields: this.#fields, vocabulary: this.#vocabulary, keys, documents })
  }

  /** Parses the output of `save`. Throws a `SearchIndexFormatError` for anything else, including a newer format. */
  static load(bytes: Uint8Array, options: SearchIndexOptions): SearchIndex {
    const index = new SearchIndex(options)
    const vocabulary = index.#vocabulary
    const { rows, starts, lengths, tokens } = readIndex(bytes, {
      analyzer: index.#analyzer,
      fields: index.#fields,
      vocabulary,
    })
    index.#rows = rows
    index.#rowCount = rows.size
    index.#starts = starts
    index.#lengths = lengths
    index.#tokens = tokens
    return index
  }

  #discardSnapshot(): void {
    this.#snapshot = undefined
    this.#changes++
  }

  #fieldNumber(field: string): number {
    const number = this.#fields.indexOf(field)
    if (number < 0) throw new TypeError(`Expected a field among ${this.#fields.join(', ')}, got \`${field}\``)
    return number
  }

  #addRow(key: string): number {
    this.#discardSnapshot()
    if (this.#rowCount === this.#starts.length) {
      this.#compact()
      const capacity = Math.max(64, this.#rowCount * 2)
      this.#starts = resize(this.#starts, capacity)
      this.#lengths = resize(this.#lengths, capacity * this.#fields.length)
    }
    const row = this.#rowCount++
    this.#rows.delete(key)
    this.#rows.set(key, row)
    this.#starts[row] = this.#tokens.length
    return row
  }

  /** Drops the rows and tokens of removed documents. */
  #compact(): void {
    if (this.#rows.size === this.#rowCount) return
    const { length: fieldCount } = this.#fields
    const tokens = new ByteWriter(this.#tokens.length)
    const lengths = new Uint32Array(this.#lengths.length)
    const starts = new Uint32Array(this.#starts.length)
    let next = 0
    for (const [key, row] of this.#rows) {
      const end = row + 1 < this.#rowCount ? this.#starts[row + 1] : this.#tokens.length
      starts[next] = tokens.length
      tokens.writeBytes(this.#tokens.buffer, this.#starts[row], end)
      lengths.set(this.#lengths.subarray(row * fieldCount, (row + 1) * fieldCount), next * fieldCount)
      this.#rows.set(key, next++)
    }
    this.#tokens = tokens
    this.#lengths = lengths
    this.#starts = starts
    this.#rowCount = next
  }

  *#openSnapshot(): Steps<IndexSnapshot> {
    if (this.#snapshot) return this.#snapshot
    if (this.#rows.size * 2 < this.#rowCount) this.#compact()
    const changes = this.#changes
    const { length: fieldCount } = this.#fields
    const keys = yield* sortInSteps([...this.#rows.keys()], this.#analyzer.compare)
    const starts = new Uint32Array(keys.length)
    const lengths = new Uint32Array(keys.length * fieldCount)
    const orders = this.#rankOf && new Float64Array(keys.length)
    const numbering = this.#pageOf && new PageNumbering(keys.length)
    for (let document = 0; document < keys.length; document++) {
      const key = keys[document] ?? ''
      const row = this.#rows.get(key) ?? 0
      starts[document] = this.#starts[row] ?? 0
      lengths.set(this.#lengths.subarray(row * fieldCount, (row + 1) * fieldCount), document * fieldCount)
      if (orders) orders[document] = this.#rankOf?.(key) ?? 0
      numbering?.add(this.#pageOf?.(key) ?? '')
      if (document % ITEMS_PER_STEP === 0) yield
    }
    const documents = { tokens: this.#tokens.buffer, starts, lengths, fieldCount }
    const termCount = this.#vocabulary.size
    const postings = yield* buildPostings(documents, termCount)
    const weighted = weighLengths(lengths, this.#weights)
    const totalLength = weighted.reduce((sum, length) => sum + length, 0)
    const averageLength = totalLength / Math.max(1, keys.length)
    const pages = numbering?.finish(weighted)
    const averagePageLength = pages && totalLength / Math.max(1, pages.count)
    const order = orders && ((document: number) => orders[document] ?? 0)
    const findPairs = createPairFinder(documents, termCount)
    // Documents may have changed between two steps.
    if (changes !== this.#changes) return yield* this.#openSnapshot()
    this.#snapshot = {
      keys,
      documents,
      ranking: new Ranking({ lengthOf: (document) => weighted[document] ?? 0, order, pages }, this.#ranking),
      scorer: new ExhaustiveScorer(weighted, order),
      averageLength,
      averagePageLength,
      findPairs,
      postings,
      termOrder: undefined,
    }
    return this.#snapshot
  }

  *#openTermOrder(): Steps<Uint32Array> {
    const snapshot = yield* this.#openSnapshot()
    if (snapshot.termOrder) return snapshot.termOrder
    const ids: number[] = []
    const terms: string[] = []
    for (let id = 0; id < this.#vocabulary.size; id++) {
      ids.push(id)
      terms.push(this.#vocabulary.term(id))
      if (id % ITEMS_PER_STEP === 0) yield
    }
    const sorted = yield* sortInSteps(ids, (a, b) => this.#analyzer.compare(terms[a] ?? '', terms[b] ?? ''))
    snapshot.termOrder = Uint32Array.from(sorted)
    return snapshot.termOrder
  }
}
