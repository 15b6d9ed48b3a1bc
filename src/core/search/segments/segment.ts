import type { Analyzer } from '../analyzer.ts'
import { resize } from '../bytes.ts'
import { weighLengths } from '../lengths.ts'
import { Vocabulary } from '../vocabulary.ts'
import { type EntryTable, type IndexEntry, readEntryTable, toEntryTable, writeEntryTable } from './entry-table.ts'
import { EntryWriter } from './entry-writer.ts'
import { SegmentPages } from './segment-pages.ts'
import { levelLengths } from './span-sums.ts'
import { BlockDirectory, BlockWriter, type StemEntry } from './term-blocks.ts'

/** A stored immutable part of an index. */
export interface EncodedSegment {
  /** The lowest and the highest number of its documents. */
  readonly first: number
  readonly last: number
  readonly count: number
  readonly documents: Uint8Array
  readonly directory: Uint8Array
  readonly blocks: readonly Uint8Array[]
}

/** The in-memory part of a stored segment. */
export interface Segment {
  readonly table: EntryTable
  /** Number of tokens of each document, weighted by field. */
  readonly lengths: Float64Array
  /** The lengths as levels; see `levelLengths`. */
  readonly levels: Uint8Array
  /** The sources of the documents. */
  readonly sources: ReadonlySet<number>
  /** The sum of the weighted lengths. */
  readonly totalLength: number
  readonly pages: SegmentPages
  /** Whether the numbers of the documents ascend, which changed chunks may prevent. */
  readonly hasAscendingNumbers: boolean
  readonly directory: BlockDirectory
  readonly readBlock: (block: number) => Uint8Array
}

/** Opens a stored segment. The weights of the fields must be those that it was written with. */
export function openSegment(
  { documents, directory }: Pick<EncodedSegment, 'documents' | 'directory'>,
  weights: readonly number[],
  readBlock: Segment['readBlock'],
): Segment {
  const table = readEntryTable(documents, weights.length)
  const { numbers } = table
  const sources = new Set<number>()
  let hasAscendingNumbers = true
  let totalLength = 0
  const lengths = weighLengths(table.lengths, weights)
  for (let i = 0; i < table.count; i++) {
    if (i === 0 || table.sources[i] !== table.sources[i - 1]) sources.add(table.sources[i] ?? 0)
    if (i > 0 && (numbers[i] ?? 0) <= (numbers[i - 1] ?? 0)) hasAscendingNumbers = false
    totalLength += lengths[i] ?? 0
  }
  return {
    table,
    lengths,
    totalLength,
    levels: levelLengths(lengths),
    sources,
    pages: new SegmentPages(table),
    hasAscendingNumbers,
    directory: new BlockDirectory(directory),
    readBlock,
  }
}

/** A segment and its dead documents: 1 at their indexes, undefined for none. */
export interface SegmentView {
  readonly segment: Segment
  readonly dead: Uint8Array | undefined
}

/** Builds a segment from documents that are added one by one. The analyzer must order texts by their UTF-8 bytes. */
export class SegmentBuilder {
  readonly #analyzer: Analyzer
  readonly #weights: readonly number[]
  readonly #fieldCount: number
  readonly #documents: IndexEntry[] = []
  readonly #lengths: number[] = []
  readonly #vocabulary = new Vocabulary()
  /** The term number of each token. */
  #tokens = new Uint32Array(1 << 14)
  #tokenCount = 0

  /** `weights` are those of the fields. */
  constructor(analyzer: Analyzer, weights: readonly number[]) {
    this.#analyzer = analyzer
    this.#weights = weights
    this.#fieldCount = weights.length
  }

  /** Adds a document with the texts of its fields. */
  add(document: IndexEntry, fields: readonly (readonly string[])[]): void {
    const vocabulary = this.#vocabulary
    const visit = (source: string, start: number, end: number): void => {
      if (this.#tokenCount === this.#tokens.length) this.#tokens = resize(this.#tokens, 2 * this.#tokens.length)
      this.#tokens[this.#tokenCount++] = vocabulary.intern(source, start, end)
    }
    this.#documents.push(document)
    for (let field = 0; field < this.#fieldCount; field++) {
      const before = this.#tokenCount
      for (const text of fields[field] ?? []) this.#analyzer.visitTokens(text, visit)
      this.#lengths.push(this.#tokenCount - before)
    }
  }

  build(): EncodedSegment {
    const blocks = new BlockWriter()
    const occurrences = this.#sortOccurrences()
    const writer = new EntryWriter(this.#weights, weighLengths(Uint32Array.from(this.#lengths), this.#weights))
    const { terms, idsByStem, longForms } = this.#groupTerms()
    const frequencies = new Uint32Array(this.#fieldCount)
    for (const stem of sortTexts([...idsByStem.keys()], this.#analyzer.compare)) {
      writer.begin(stem)
      for (const id of idsByStem.get(stem) ?? []) {
        writer.beginTerm(terms[id] ?? '')
        this.#writePostings(writer, occurrences, id, frequencies)
      }
      const entry = writer.finish(longForms.get(stem) ?? [])
      if (entry) blocks.add(stem, entry)
    }
    return { ...describeDocuments(toEntryTable(this.#documents, this.#lengths)), ...blocks.finish() }
  }

  #groupTerms(): TermGroups {
    const terms: string[] = []
    const idsByStem = new Map<string, number[]>()
    const longForms = new Map<string, [string, string][]>()
    for (let id = 0; id < this.#vocabulary.size; id++) {
      const term = this.#vocabulary.term(id)
      terms.push(term)
      const stem = this.#analyzer.stem(term)
      const ids = idsByStem.get(stem)
      if (ids) ids.push(id)
      else idsByStem.set(stem, [id])
      for (const form of this.#analyzer.shortForms?.(term) ?? []) {
        const formStem = this.#analyzer.stem(form)
        const known = longForms.get(formStem)
        if (known) known.push([form, term])
        else longForms.set(formStem, [[form, term]])
        if (!idsByStem.has(formStem)) idsByStem.set(formStem, [])
      }
    }
    return { terms, idsByStem, longForms }
  }

  /** The occurrences of each term, those of `term` from `offsets[term]` to `offsets[term + 1]`, by counting sort. */
  #sortOccurrences(): Occurrences {
    const offsets = new Uint32Array(this.#vocabulary.size + 1)
    const tokens = this.#tokens.subarray(0, this.#tokenCount)
    // Each segment calls this once, so the loop is not compiled at first, and an iterator would create an object for each token.
    for (let i = 0; i < tokens.length; i++) {
      const next = (tokens[i] ?? 0) + 1
      offsets[next] = (offsets[next] ?? 0) + 1
    }
    for (let term = 0; term < this.#vocabulary.size; term++) {
      offsets[term + 1] = (offsets[term + 1] ?? 0) + (offsets[term] ?? 0)
    }
    const next = offsets.slice()
    const documents = new Uint32Array(tokens.length)
    const positions = new Uint32Array(tokens.length)
    let token = 0
    for (let document = 0; document < this.#documents.length; document++) {
      const start = token
      for (let field = 0; field < this.#fieldCount; field++) {
        token += this.#lengths[document * this.#fieldCount + field] ?? 0
      }
      for (let i = start; i < token; i++) {
        const term = tokens[i] ?? 0
        const at = next[term] ?? 0
        next[term] = at + 1
        documents[at] = document
        positions[at] = i - start
      }
    }
    return { offsets, documents, positions }
  }

  /** Writes the postings of a term; `frequencies` is for its own use. */
  #writePostings(
    writer: EntryWriter,
    { offsets, documents, positions }: Occurrences,
    term: number,
    frequencies: Uint32Array,
  ): void {
    const to = offsets[term + 1] ?? 0
    for (let i = offsets[term] ?? 0; i < to; ) {
      const document = documents[i] ?? 0
      frequencies.fill(0)
      let previous = 0
      let field = 0
      let fieldEnd = this.#lengths[document * this.#fieldCount] ?? 0
      for (; i < to && documents[i] === document; i++) {
        const position = positions[i] ?? 0
        while (position >= fieldEnd) fieldEnd += this.#lengths[document * this.#fieldCount + ++field] ?? 1
        frequencies[field] = (frequencies[field] ?? 0) + 1
        writer.positions.writeNumber(position - previous)
        previous = position
      }
      writer.addDocument(document, frequencies)
    }
  }
}

interface Occurrences {
  readonly offsets: Uint32Array
  readonly documents: Uint32Array
  readonly positions: Uint32Array
}

/** The terms of a segment by their stems. */
interface TermGroups {
  /** The terms, in the order of their numbers. */
  readonly terms: readonly string[]
  readonly idsByStem: ReadonlyMap<string, readonly number[]>
  /** Long forms by the stem of the short form. */
  readonly longForms: ReadonlyMap<string, StemEntry['longForms']>
}

/** Puts texts in the order of their bytes. The built-in order is the same up to the surrogates, and several times faster. */
function sortTexts(texts: string[], compare: Analyzer['compare']): string[] {
  if (texts.some((text) => SURROGATES_AND_ABOVE.test(text))) return texts.sort(compare)
  // biome-ignore lint/suspicious/useArraySortCompare: the order of UTF-16 units is what is wanted here
  return texts.sort()
}

const SURROGATES_AND_ABOVE = /[\ud800-\uffff]/

/** The parts of a segment that describe its documents. */
export function describeDocuments(table: EntryTable): Pick<EncodedSegment, 'first' | 'last' | 'count' | 'documents'> {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (let i = 0; i < table.count; i++) {
    const number = table.numbers[i] ?? 0
    first = Math.min(first, number)
    last = Math.max(last, number)
  }
  return { first, last, count: table.count, documents: writeEntryTable(table) }
}
