import type { Analyzer } from '../analyzer.ts'
import { joinEntryTables } from './entry-table.ts'
import { EntryWriter } from './entry-writer.ts'
import { describeDocuments, type EncodedSegment, type Segment, type SegmentView } from './segment.ts'
import { BlockWriter, encodeText, readStemEntries, type StemEntry } from './term-blocks.ts'
import { PostingsReader, type TermPostings } from './term-postings.ts'

/** Merges several segments into one; undefined when none of their documents is alive. */
export function mergeSegments(
  views: readonly SegmentView[],
  weights: readonly number[],
  analyzer: Pick<Analyzer, 'compare'>,
): EncodedSegment | undefined {
  const merge = new SegmentMerge(views, weights, analyzer)
  const { blocks, directory } = merge.mergePart('', Number.POSITIVE_INFINITY)
  return merge.count === 0 ? undefined : { ...merge.describeDocuments(), blocks, directory }
}

/** A part of a merged segment: consecutive blocks, and their part of the directory. */
export interface MergedPart extends Pick<EncodedSegment, 'blocks' | 'directory'> {
  /** The stem that the next part begins with; undefined if this is the last part. */
  readonly next: string | undefined
}

/** Merges several segments part by part. */
export class SegmentMerge {
  /** Number of documents. */
  readonly count: number
  /** Number of blocks to read. */
  readonly blockCount: number
  readonly #inputs: readonly MergeInput[]
  readonly #weights: readonly number[]
  readonly #compare: Analyzer['compare']
  readonly #reader: PostingsReader
  readonly #writer: EntryWriter

  constructor(views: readonly SegmentView[], weights: readonly number[], { compare }: Pick<Analyzer, 'compare'>) {
    let count = 0
    this.#inputs = views.map(({ segment, dead }) => {
      const newIndexes = new Int32Array(segment.table.count).fill(-1)
      for (let i = 0; i < newIndexes.length; i++) if (dead?.[i] !== 1) newIndexes[i] = count++
      return { segment, newIndexes }
    })
    const lengths = new Float64Array(count)
    for (const { segment, newIndexes } of this.#inputs) {
      newIndexes.forEach((newIndex, i) => {
        if (newIndex >= 0) lengths[newIndex] = segment.lengths[i] ?? 0
      })
    }
    this.count = count
    this.blockCount = views.reduce((sum, { segment }) => sum + segment.directory.size, 0)
    this.#weights = weights
    this.#compare = compare
    this.#reader = new PostingsReader(weights.length)
    this.#writer = new EntryWriter(weights, lengths)
  }

  /** The documents of the merged segment. */
  describeDocuments(): ReturnType<typeof describeDocuments> {
    const parts = this.#inputs.map(({ segment: { table }, newIndexes }) => ({ table, newIndexes }))
    return describeDocuments(joinEntryTables(parts, this.count, this.#weights.length))
  }

  /** Merges the entries from a stem on, as far as they are in about this many blocks. */
  mergePart(from: string, maxBlocks: number): MergedPart {
    const next = this.#findEnd(from, maxBlocks)
    const blocks = new BlockWriter()
    for (const { stem, parts } of alignEntries(this.#inputs, this.#compare, from, next)) {
      this.#writer.begin(stem)
      for (const [term, found] of collectTerms(parts)) {
        this.#writer.beginTerm(term)
        mergePostings(found, this.#reader, this.#writer)
      }
      const entry = this.#writer.finish(collectLongForms(parts))
      if (entry) blocks.add(stem, entry)
    }
    return { ...blocks.finish(), next }
  }

  /** The first stem after a part that begins with `from`, by the input with the most blocks left. */
  #findEnd(from: string, maxBlocks: number): string | undefined {
    const bytes = encodeText(from)
    const left = this.#inputs.map(({ segment: { directory } }) => {
      const first = Math.max(0, directory.find(bytes))
      return { directory, first, count: directory.size - first }
    })
    const all = left.reduce((sum, { count }) => sum + count, 0)
    const [largest] = left.toSorted((a, b) => b.count - a.count)
    if (all <= maxBlocks || largest === undefined) return undefined
    const end = largest.first + Math.max(1, Math.floor((maxBlocks * largest.count) / all))
    return end < largest.directory.size ? largest.directory.stemAt(end) : undefined
  }
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

/** Visits the stems of all segments from one to before another, in their order, each with its entries. */
function* alignEntries(
  inputs: readonly MergeInput[],
  compare: Analyzer['compare'],
  from: string,
  to: string | undefined,
): Generator<{ readonly stem: string; readonly parts: MergeEntry[] }> {
  const cursors = inputs.map(({ segment, newIndexes }) => {
    const entries = readSegment(segment, compare, from, to)
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

/** The entries of a segment from a stem to before another. */
function* readSegment(
  { directory, readBlock }: Segment,
  compare: Analyzer['compare'],
  from: string,
  to: string | undefined,
): Generator<StemEntry, void, void> {
  for (let block = Math.max(0, directory.find(encodeText(from))); block < directory.size; block++) {
    for (const entry of readStemEntries(readBlock(block))) {
      if (to !== undefined && compare(entry.stem, to) >= 0) return
      if (compare(entry.stem, from) >= 0) yield entry
    }
    const next = block + 1 < directory.size ? directory.stemAt(block + 1) : undefined
    if (to !== undefined && next !== undefined && compare(next, to) >= 0) return
  }
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

function mergePostings(found: readonly RemappedPostings[], reader: PostingsReader, writer: EntryWriter): void {
  for (const { postings, newIndexes } of found) {
    reader.begin(postings)
    while (reader.next()) {
      const newIndex = newIndexes[reader.document] ?? -1
      if (newIndex < 0) continue
      reader.fillFrequencies()
      reader.copyPositions(writer.positions)
      writer.addDocument(newIndex, reader.frequencies)
    }
  }
}
