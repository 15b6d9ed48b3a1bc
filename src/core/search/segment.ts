import type { Analyzer } from './analyzer.ts'
import { ByteWriter } from './bytes.ts'
import { type EntryTable, entryAt, type IndexEntry, writeEntryTable } from './entry-table.ts'
import {
  type BlockDirectory,
  BlockWriter,
  readStemEntries,
  type StemEntry,
  writeFrontCoded,
  writeLongForms,
} from './term-blocks.ts'
import { PostingsReader, PostingsWriter, type TermPostings } from './term-postings.ts'
import { Vocabulary } from './vocabulary.ts'

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
  readonly directory: BlockDirectory
  readonly readBlock: (block: number) => Uint8Array
}

/** A segment and its dead documents: 1 at their indexes, undefined for none. */
export interface SegmentView {
  readonly segment: Segment
  readonly dead: Uint8Array | undefined
}

/** Builds a segment from documents that are added one by one. The analyzer must order texts by their UTF-8 bytes. */
export class SegmentBuilder {
  readonly #analyzer: Analyzer
  readonly #fieldCount: number
  readonly #documents: IndexEntry[] = []
  readonly #lengths: number[] = []
  readonly #vocabulary = new Vocabulary()
  /** The term number of each token. */
  #tokens = new Uint32Array(1 << 14)
  #tokenCount = 0

  constructor(analyzer: Analyzer, fieldCount: number) {
    this.#analyzer = analyzer
    this.#fieldCount = fieldCount
  }

  /** Adds a document with the texts of its fields. */
  add(document: IndexEntry, fields: readonly (readonly string[])[]): void {
    const vocabulary = this.#vocabulary
    const visit = (source: string, start: number, end: number): void => {
      if (this.#tokenCount === this.#tokens.length) this.#tokens = extend(this.#tokens)
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
    const entry = new ByteWriter()
    const occurrences = this.#sortOccurrences()
    const postings = new PostingsWriter(new ByteWriter(), new ByteWriter())
    const { terms, idsByStem, longForms } = this.#groupTerms()
    for (const stem of sortTexts([...idsByStem.keys()], this.#analyzer.compare)) {
      const ids = idsByStem.get(stem) ?? []
      entry.clear()
      entry.writeNumber(ids.length)
      for (const id of ids) {
        writeFrontCoded(entry, stem, terms[id] ?? '')
        this.#writePostings(postings, occurrences, id)
        postings.finish(entry)
      }
      writeLongForms(entry, longForms.get(stem) ?? [])
      blocks.add(stem, entry)
    }
    return { ...describeDocuments(this.#documents, this.#lengths), ...blocks.finish() }
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
    for (const term of tokens) offsets[term + 1] = (offsets[term + 1] ?? 0) + 1
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

  #writePostings(writer: PostingsWriter, { offsets, documents, positions }: Occurrences, term: number): void {
    const frequencies = new Uint32Array(this.#fieldCount)
    const to = offsets[term + 1] ?? 0
    writer.begin()
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
        writer.addPosition(position - previous)
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

/** Merges several segments into one; undefined when none of their documents is alive. */
export function mergeSegments(
  views: readonly SegmentView[],
  fieldCount: number,
  { compare }: Pick<Analyzer, 'compare'>,
): EncodedSegment | undefined {
  const { documents, lengths, inputs } = layOut(views, fieldCount)
  if (documents.length === 0) return undefined
  const blocks = new BlockWriter()
  const entry = new ByteWriter()
  const terms = new ByteWriter()
  const reader = new PostingsReader(fieldCount)
  const postings = new PostingsWriter(new ByteWriter(), new ByteWriter())
  for (const { stem, parts } of alignEntries(inputs, compare)) {
    let count = 0
    terms.clear()
    for (const [term, found] of collectTerms(parts)) {
      mergePostings(found, reader, postings)
      if (postings.isEmpty) continue
      writeFrontCoded(terms, stem, term)
      postings.finish(terms)
      count++
    }
    const longForms = collectLongForms(parts)
    if (count + longForms.length === 0) continue
    entry.clear()
    entry.writeNumber(count)
    entry.writeBytes(terms.buffer.subarray(0, terms.length))
    writeLongForms(entry, longForms)
    blocks.add(stem, entry)
  }
  return { ...describeDocuments(documents, lengths), ...blocks.finish() }
}

/** A segment to merge, with the new indexes of its documents, -1 for dropped documents. */
interface MergeInput {
  readonly segment: Segment
  readonly newIndexes: Int32Array
}

/** An entry of one of the segments. */
interface MergeEntry {
  readonly entry: StemEntry
  readonly newIndexes: Int32Array
}

/** Places the living documents of all segments one after the other. */
function layOut(
  views: readonly SegmentView[],
  fieldCount: number,
): { readonly documents: IndexEntry[]; readonly lengths: number[]; readonly inputs: MergeInput[] } {
  const documents: IndexEntry[] = []
  const lengths: number[] = []
  const inputs = views.map(({ segment, dead }) => {
    const { table } = segment
    const newIndexes = new Int32Array(table.count).fill(-1)
    for (let i = 0; i < table.count; i++) {
      if (dead?.[i] === 1) continue
      newIndexes[i] = documents.length
      documents.push(entryAt(table, i))
      for (let field = 0; field < fieldCount; field++) lengths.push(table.lengths[i * fieldCount + field] ?? 0)
    }
    return { segment, newIndexes }
  })
  return { documents, lengths, inputs }
}

/** Visits the stems of all segments in their order, each with its entries. */
function* alignEntries(
  inputs: readonly MergeInput[],
  compare: Analyzer['compare'],
): Generator<{ readonly stem: string; readonly parts: MergeEntry[] }> {
  const cursors = inputs.map(({ segment, newIndexes }) => {
    const entries = readSegment(segment)
    return { entries, newIndexes, current: entries.next() }
  })
  for (;;) {
    let stem: string | undefined
    for (const { current } of cursors) {
      if (!current.done && (stem === undefined || compare(current.value.stem, stem) < 0)) stem = current.value.stem
    }
    if (stem === undefined) return
    const parts: MergeEntry[] = []
    for (const cursor of cursors) {
      const { current, newIndexes } = cursor
      if (current.done || current.value.stem !== stem) continue
      parts.push({ entry: current.value, newIndexes })
      cursor.current = cursor.entries.next()
    }
    yield { stem, parts }
  }
}

function* readSegment({ directory, readBlock }: Segment): Generator<StemEntry, void, void> {
  for (let block = 0; block < directory.size; block++) yield* readStemEntries(readBlock(block))
}

interface RemappedPostings {
  readonly postings: TermPostings
  readonly newIndexes: Int32Array
}

function collectTerms(parts: readonly MergeEntry[]): Map<string, RemappedPostings[]> {
  const terms = new Map<string, RemappedPostings[]>()
  for (const { entry, newIndexes } of parts) {
    for (const postings of entry.terms) {
      const found = terms.get(postings.term)
      if (found) found.push({ postings, newIndexes })
      else terms.set(postings.term, [{ postings, newIndexes }])
    }
  }
  return terms
}

/** The terms that short forms match. A term that no document holds any more is kept: it matches nothing. */
function collectLongForms(parts: readonly MergeEntry[]): StemEntry['longForms'] {
  const longForms = new Map<string, readonly [string, string]>()
  for (const { entry } of parts) for (const pair of entry.longForms) longForms.set(JSON.stringify(pair), pair)
  return [...longForms.values()]
}

function mergePostings(found: readonly RemappedPostings[], reader: PostingsReader, writer: PostingsWriter): void {
  writer.begin()
  for (const { postings, newIndexes } of found) {
    reader.begin(postings)
    while (reader.next()) {
      const newIndex = newIndexes[reader.document] ?? -1
      if (newIndex < 0) {
        reader.skipPositions()
        continue
      }
      reader.fillFrequencies()
      writer.addDocument(newIndex, reader.frequencies)
      for (let left = reader.total; left > 0; left--) writer.addPosition(reader.readDistance())
    }
  }
}

function describeDocuments(
  documents: readonly IndexEntry[],
  lengths: readonly number[],
): Pick<EncodedSegment, 'first' | 'last' | 'count' | 'documents'> {
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const { number } of documents) {
    first = Math.min(first, number)
    last = Math.max(last, number)
  }
  return { first, last, count: documents.length, documents: writeEntryTable(documents, lengths) }
}

function extend(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const extended = new Uint32Array(array.length * 2)
  extended.set(array)
  return extended
}
