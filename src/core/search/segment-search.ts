import type { Analyzer } from './analyzer.ts'
import { documentAt, type SegmentDocument } from './document-table.ts'
import { type Explanation, explainAll } from './explain.ts'
import { type ParsedWord, parseQuery } from './query.ts'
import {
  DEFAULT_RANKING,
  measureCloseness,
  type QueryWord,
  type RankedDocument,
  type RankedQuery,
  Ranking,
  type RankingOptions,
  type WeightedPostings,
  weighLengths,
} from './ranking.ts'
import type { SegmentView } from './segment.ts'
import { encodeText, findEntry, type StemEntry } from './term-blocks.ts'
import { PostingsReader, type TermPostings } from './term-postings.ts'

/** How a set of segments is searched. */
export interface SegmentSearchOptions {
  /** Names of the fields with the weight of a match in each, in the order in which documents were given. */
  readonly fields: Readonly<Record<string, number>>
  readonly analyzer: Analyzer
  readonly ranking?: RankingOptions
}

/** A document that matches a query. */
export interface SegmentHit extends Pick<RankedDocument, 'score' | 'missing'> {
  readonly document: SegmentDocument
  /** The terms of the document that matched, in the order of the query. */
  readonly terms: readonly string[]
  readonly explain?: Explanation
}

/** How segments are asked. */
export interface SegmentQueryOptions {
  /** Numbers of the sources that are searched, as if there were no others: rarity is measured among their documents. */
  readonly sources?: ReadonlySet<number> | undefined
  /** Keeps a document out of the hits when it answers `false`. Asked only of documents good enough to be one. */
  readonly accept?: (document: SegmentDocument) => boolean
  readonly explain?: boolean
}

/** The documents that a query can find. */
interface Scope {
  /** Names the sources; documents of all others are left out. */
  readonly key: string
  /** 1 for a document that is left out; undefined where none is. */
  readonly hidden: Uint8Array | undefined
  /** How many are left, and how long they are on average. */
  readonly count: number
  readonly averageLength: number
}

/**
 * Searches segments as one index. Its scores are those of a `SearchIndex` over the living documents, however these are spread
 * over segments.
 */
export class SegmentSearch {
  /** The living documents. */
  readonly count: number
  readonly #views: readonly SegmentView[]
  /** The number of each segment's first document among all. */
  readonly #bases: readonly number[]
  readonly #dead: Uint8Array | undefined
  #scope: Scope | undefined
  readonly #fields: readonly string[]
  readonly #weights: readonly number[]
  /** By document; 0 for a dead one. */
  readonly #lengths: Float64Array
  readonly #analyzer: Analyzer
  readonly #ranking: Ranking
  readonly #hasVariants: boolean

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
    this.#dead = dead
    this.count = count
    const constants = { ...DEFAULT_RANKING, ...ranking }
    this.#hasVariants = constants.matchesVariants
    this.#weights = Object.values(fields)
    this.#lengths = weighLengths(lengths, this.#weights)
    this.#ranking = new Ranking({ lengths: this.#lengths, order }, constants)
  }

  /** The documents that match a query best and are accepted, best first. */
  search(query: string, limit: number, options: SegmentQueryOptions = {}): SegmentHit[] {
    const { sources, accept, explain = false } = options
    const { terms, ...asked } = this.#look(parseQuery(query, this.#analyzer), this.#scopeOf(sources))
    const ranked = this.#ranking.rank(asked, limit, accept && ((document) => accept(this.#documentAt(document))))
    const nameOf = (term: number): string => terms[term] ?? ''
    const explained = explain ? explainAll(this.#ranking, asked, ranked, this.#fields, nameOf) : []
    return ranked.map(({ document, score, terms: matched, missing }, i) => {
      const hit = { document: this.#documentAt(document), score, terms: matched.map(nameOf), missing }
      const explanation = explained[i]
      return explanation ? { ...hit, explain: explanation } : hit
    })
  }

  /** The living documents of some sources. The last scope is kept: questions mostly ask the same sources. */
  #scopeOf(sources: ReadonlySet<number> | undefined): Scope {
    const key = sources === undefined ? 'all' : [...sources].sort((a, b) => a - b).join(' ')
    if (this.#scope?.key !== key) this.#scope = { key, ...this.#measure(sources) }
    return this.#scope
  }

  #measure(sources: ReadonlySet<number> | undefined): Omit<Scope, 'key'> {
    const hidden = sources === undefined ? this.#dead : new Uint8Array(this.#lengths.length)
    let count = 0
    let sum = 0
    this.#views.forEach(({ segment: { table }, dead }, segment) => {
      const base = this.#bases[segment] ?? 0
      for (let i = 0; i < table.count; i++) {
        if (dead?.[i] !== 1 && sources?.has(table.sources[i] ?? 0) !== false) {
          count++
          sum += this.#lengths[base + i] ?? 0
        } else if (hidden !== undefined) {
          hidden[base + i] = 1
        }
      }
    })
    return { hidden, count, averageLength: count === 0 ? 0 : sum / count }
  }

  #documentAt(document: number): SegmentDocument {
    const segment = this.#segmentOf(document)
    const view = this.#views[segment]
    if (!view) throw new RangeError(`Expected the number of a document, got ${document}`)
    return documentAt(view.segment.table, document - (this.#bases[segment] ?? 0))
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
  #look(
    parsed: readonly ParsedWord[],
    { hidden, count, averageLength }: Scope,
  ): RankedQuery & { readonly terms: readonly string[] } {
    const found = new FoundTerms(this.#views)
    const words = parsed.map((word) => this.#lookWord(word, found))
    return {
      words,
      terms: found.names,
      count,
      averageLength,
      postings: this.#readPostings(found.parts, hidden),
      frequenciesOf: (term, document) => this.#readFrequencies(found.parts[term] ?? [], document),
      findPairs: (documents, asked) => this.#findPairs(documents, asked, found.parts),
    }
  }

  #lookWord({ word, stem, forms, weight, phraseGap }: ParsedWord, found: FoundTerms): QueryWord {
    const group = found.addStem(stem)
    if (!this.#hasVariants) group.clear()
    for (const { form, term, segment } of this.#hasVariants ? found.longForms(stem) : []) {
      if (form !== word) continue
      // A character of a script without spaces may have thousands of them: they are looked for where they are known to be.
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
  #readPostings(parts: readonly TermPart[][], hidden: Uint8Array | undefined): WeightedPostings {
    const list = new PostingsList()
    const weights = this.#weights
    const lastWeight = weights.at(-1) ?? 0
    const reader = new PostingsReader(weights.length)
    for (const term of parts) {
      list.beginTerm()
      for (const { segment, postings } of term) {
        const base = this.#bases[segment] ?? 0
        list.reserve(postings.middle - postings.start)
        reader.begin(postings)
        while (reader.next()) {
          const document = base + reader.document
          if (hidden !== undefined && hidden[document] === 1) continue
          if (reader.isInLastOnly) list.add(document, lastWeight * Math.min(reader.total, MAX_FREQUENCY))
          else list.add(document, weigh(reader.frequencies, weights))
        }
      }
    }
    return list.finish()
  }

  /** Occurrences of a term in one document, by field. */
  #readFrequencies(parts: readonly TermPart[], document: number): Uint32Array {
    const reader = new PostingsReader(this.#fields.length)
    const segment = this.#segmentOf(document)
    const place = document - (this.#bases[segment] ?? 0)
    for (const part of parts) {
      if (part.segment !== segment) continue
      reader.begin(part.postings)
      while (reader.next() && reader.document < place);
      if (reader.document !== place) continue
      reader.fillFrequencies()
      return reader.frequencies
    }
    return new Uint32Array(this.#fields.length)
  }

  /** Finds neighbouring words by the places of their terms. */
  #findPairs(documents: readonly number[], words: readonly QueryWord[], parts: readonly TermPart[][]): Float64Array {
    const found = new Float64Array(documents.length * words.length)
    const wanted = this.#groupBySegment(documents)
    const wordOfTerm = new Map(
      words.flatMap(({ exact, variants }, i) => [...exact, ...variants].map((term) => [term, i])),
    )
    let previous: (number[] | undefined)[] = []
    words.forEach(({ exact, variants, phraseGap }, word) => {
      const terms = [...exact, ...variants].filter((term) => wordOfTerm.get(term) === word)
      const current = this.#readPlaces(
        terms.flatMap((term) => parts[term] ?? []),
        wanted,
        documents.length,
      )
      documents.forEach((_, i) => {
        found[i * words.length + word] = measureCloseness(previous[i], current[i], phraseGap)
      })
      previous = current
    })
    return found
  }

  /** By segment, the documents of a list in it: their places in the segment, ascending, and in the list. */
  #groupBySegment(documents: readonly number[]): Map<number, Wanted[]> {
    const groups = new Map<number, Wanted[]>()
    documents.forEach((document, index) => {
      const segment = this.#segmentOf(document)
      const group = groups.get(segment) ?? []
      groups.set(segment, group)
      group.push({ place: document - (this.#bases[segment] ?? 0), index })
    })
    for (const group of groups.values()) group.sort((a, b) => a.place - b.place)
    return groups
  }

  /** The places of some terms in the wanted documents, ascending. */
  #readPlaces(
    parts: readonly TermPart[],
    wanted: ReadonlyMap<number, readonly Wanted[]>,
    count: number,
  ): (number[] | undefined)[] {
    const places: (number[] | undefined)[] = new Array(count)
    const reader = new PostingsReader(this.#fields.length)
    for (const { segment, postings } of parts) {
      const group = wanted.get(segment) ?? []
      let next = 0
      reader.begin(postings)
      while (next < group.length && reader.next()) {
        while ((group[next]?.place ?? Number.POSITIVE_INFINITY) < reader.document) next++
        const asked = group[next]
        if (asked?.place !== reader.document) {
          reader.skipPlaces()
          continue
        }
        const list = places[asked.index] ?? []
        const known = list.length
        places[asked.index] = list
        let place = 0
        for (let left = reader.total; left > 0; left--) {
          place += reader.readDistance()
          list.push(place)
        }
        // Those of another form of the word are there already.
        if (known > 0) list.sort((a, b) => a - b)
      }
    }
    return places
  }
}

/** A document whose places are asked for. */
interface Wanted {
  readonly place: number
  readonly index: number
}

/** The postings of a term in one segment. */
interface TermPart {
  readonly segment: number
  readonly postings: TermPostings
}

/** More occurrences in one field count as this many. */
const MAX_FREQUENCY = 0xffff

function weigh(frequencies: Uint32Array, weights: readonly number[]): number {
  let sum = 0
  for (let field = 0; field < weights.length; field++) {
    sum += (weights[field] ?? 0) * Math.min(frequencies[field] ?? 0, MAX_FREQUENCY)
  }
  return sum
}

/** A term of a segment that a short form finds. */
interface LongForm {
  readonly form: string
  readonly term: string
  readonly segment: number
}

/** What is known of a stem. */
interface FoundStem {
  readonly stem: string
  readonly bytes: Uint8Array
  readonly terms: Set<string>
  readonly longForms: LongForm[]
  /** The segments in which it was looked up. */
  readonly segments: number[]
}

/** The terms that a query has met in the segments, numbered in the order in which they were met. */
class FoundTerms {
  readonly names: string[] = []
  readonly parts: TermPart[][] = []
  readonly #views: readonly SegmentView[]
  readonly #all: readonly number[]
  readonly #ids = new Map<string, number>()
  readonly #stems = new Map<string, FoundStem>()
  /** By segment, the blocks that were read. */
  readonly #blocks: readonly Map<number, Uint8Array>[]

  constructor(views: readonly SegmentView[]) {
    this.#views = views
    this.#all = views.map((_, segment) => segment)
    this.#blocks = views.map(() => new Map<number, Uint8Array>())
  }

  has(term: string): boolean {
    return this.#ids.has(term)
  }

  id(term: string): number {
    return this.#ids.get(term) ?? -1
  }

  longForms(stem: string): readonly LongForm[] {
    return this.#stems.get(stem)?.longForms ?? []
  }

  /** Looks a stem up in all segments, and returns its terms in a set of the caller's own. */
  addStem(stem: string): Set<string> {
    return new Set(this.lookUp(stem, this.#all).terms)
  }

  /** Looks a stem up in some segments, once in each. */
  lookUp(stem: string, segments: readonly number[]): FoundStem {
    const found = this.#stems.get(stem) ?? this.#createStem(stem)
    for (const segment of segments) {
      if (found.segments.includes(segment)) continue
      found.segments.push(segment)
      const entry = this.#findEntry(segment, found)
      for (const [form, term] of entry?.longForms ?? []) found.longForms.push({ form, term, segment })
      for (const postings of entry?.terms ?? []) {
        found.terms.add(postings.term)
        this.#add(postings.term, { segment, postings })
      }
    }
    return found
  }

  #createStem(stem: string): FoundStem {
    const found = { stem, bytes: encodeText(stem), terms: new Set<string>(), longForms: [], segments: [] }
    this.#stems.set(stem, found)
    return found
  }

  #findEntry(segment: number, { stem, bytes }: FoundStem): StemEntry | undefined {
    const { directory, readBlock } = this.#views[segment]?.segment ?? {}
    const number = directory?.find(bytes) ?? -1
    if (number < 0) return undefined
    const block = this.#blocks[segment]?.get(number) ?? readBlock?.(number)
    if (block === undefined) return undefined
    this.#blocks[segment]?.set(number, block)
    return findEntry(block, stem, bytes)
  }

  #add(term: string, part: TermPart): void {
    const id = this.#ids.get(term)
    if (id === undefined) {
      this.#ids.set(term, this.names.length)
      this.names.push(term)
      this.parts.push([part])
    } else {
      this.parts[id]?.push(part)
    }
  }
}

/** Postings that are being collected. */
class PostingsList {
  readonly #offsets: number[] = []
  #documents = new Uint32Array(256)
  #frequencies = new Float32Array(256)
  #count = 0

  beginTerm(): void {
    this.#offsets.push(this.#count)
  }

  /** Makes room for so many postings. */
  reserve(count: number): void {
    const { length } = this.#documents
    if (this.#count + count <= length) return
    const capacity = Math.max(this.#count + count, length * 2)
    const documents = new Uint32Array(capacity)
    documents.set(this.#documents)
    this.#documents = documents
    const frequencies = new Float32Array(capacity)
    frequencies.set(this.#frequencies)
    this.#frequencies = frequencies
  }

  add(document: number, frequency: number): void {
    this.#documents[this.#count] = document
    this.#frequencies[this.#count++] = frequency
  }

  finish(): WeightedPostings {
    const offsets = Uint32Array.from([...this.#offsets, this.#count])
    return { offsets, documents: this.#documents, frequencies: this.#frequencies }
  }
}
