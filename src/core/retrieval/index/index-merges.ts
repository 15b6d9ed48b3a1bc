import { ByteReader, ByteWriter, DecodeError } from '../../search/bytes.ts'
import type { SegmentView } from '../../search/segments/segment.ts'
import { SegmentMerge } from '../../search/segments/segment-merge.ts'
import { textAnalyzer } from '../../text/analyzer.ts'
import { CHUNK_WEIGHTS } from '../chunk-fields.ts'
import { type IndexStorage, joinRuns, type SegmentRecord, type UnfinishedSegment } from './index-storage.ts'
import { chooseMergeInputs } from './merge-choice.ts'

/** How far a merge of several steps has come. */
interface MergeState {
  readonly inputs: readonly MergeStateInput[]
  /** The stem that the next part begins with. */
  readonly next: string
}

/** A segment that is being merged. */
interface MergeStateInput {
  readonly id: number
  /** Indexes of the documents that were dead when the merge began; ascending. Later ones are marked in the merged segment. */
  readonly dead: readonly number[]
}

interface OpenedMerge {
  readonly records: readonly SegmentRecord[]
  readonly inputs: readonly MergeStateInput[]
  readonly merge: SegmentMerge
}

/** The result of a step: nothing to do, a part of a merge, or other segments. */
type MergeOutcome = 'none' | 'continued' | 'changed'

/**
 * Merges the segments of an index. A large merge takes several transactions, and searches use its inputs until it is complete. Its state
 * is stored, so that any process can continue it.
 */
export class IndexMerges {
  readonly #storage: IndexStorage
  readonly #createViews: (records: readonly SegmentRecord[]) => SegmentView[]
  /** The merge that was opened last, because opening it takes longer than a step. */
  #last: OpenedMerge | undefined

  constructor(storage: IndexStorage, createViews: (records: readonly SegmentRecord[]) => SegmentView[]) {
    this.#storage = storage
    this.#createViews = createViews
  }

  /** Whether segments should be merged when there is time. */
  isDue(): boolean {
    if (this.#storage.readUnfinished() !== undefined) return true
    return chooseMergeInputs(this.#storage.listSegments(), this.#storage.listDead(), true).length > 0
  }

  /** Continues a merge, or begins one if there are many segments; reads about this many blocks. */
  run(maxBlocks: number, isAtRest: boolean): MergeOutcome {
    const unfinished = this.#storage.readUnfinished()
    if (unfinished !== undefined) return this.#continue(unfinished, maxBlocks)
    this.#last = undefined
    const inputs = chooseMergeInputs(this.#storage.listSegments(), this.#storage.listDead(), isAtRest)
    if (inputs.length === 0) return 'none'
    const views = this.#createViews(inputs)
    const merge = new SegmentMerge(views, CHUNK_WEIGHTS, textAnalyzer)
    if (merge.blockCount > maxBlocks) {
      const withDead = inputs.map(({ id }, i) => ({ id, dead: listDead(views[i]) }))
      this.#storage.beginSegment(writeMergeState({ inputs: withDead, next: '' }))
      return 'continued'
    }
    const { blocks, directory } = merge.mergePart('', Number.POSITIVE_INFINITY)
    for (const { id } of inputs) this.#storage.removeSegment(id)
    if (merge.count > 0) this.#storage.addSegment({ ...merge.describeDocuments(), blocks, directory })
    return 'changed'
  }

  #continue({ id, state }: UnfinishedSegment, maxBlocks: number): MergeOutcome {
    const { inputs, next: from } = tryReadMergeState(state) ?? { inputs: [], next: '' }
    const all = this.#storage.listSegments()
    const records = inputs.flatMap(({ id: input }) => all.find((record) => record.id === input) ?? [])
    // The merge begins anew if its state or one of its segments is lost.
    if (inputs.length === 0 || records.length < inputs.length) {
      this.#storage.removeSegment(id)
      return 'continued'
    }
    const merge = this.#openMerge(records, inputs)
    const { next, ...part } = merge.mergePart(from, maxBlocks)
    this.#storage.extendSegment(id, part, writeMergeState({ inputs, next: next ?? from }))
    if (next !== undefined) return 'continued'
    const died = this.#listDied(records, inputs)
    for (const record of records) this.#storage.removeSegment(record.id)
    if (merge.count === 0) {
      this.#storage.removeSegment(id)
      return 'changed'
    }
    this.#storage.finishSegment(id, merge.describeDocuments())
    const runs = joinRuns(died.map((number) => ({ first: number, last: number })))
    for (const run of runs) this.#storage.addDead({ ...run, segment: id })
    return 'changed'
  }

  /**
   * Opens a merge that has begun, with the documents that lived then. Its segments are immutable, but a transaction that is rolled back
   * frees their ids, so their records are compared too.
   */
  #openMerge(records: readonly SegmentRecord[], inputs: readonly MergeStateInput[]): SegmentMerge {
    const last = this.#last
    const isOpen = JSON.stringify(last?.records) === JSON.stringify(records) && isSame(last?.inputs ?? [], inputs)
    if (last !== undefined && isOpen) return last.merge
    const views = this.#createViews(records).map(({ segment }, i): SegmentView => {
      const dead = new Uint8Array(segment.table.count)
      for (const index of inputs[i]?.dead ?? []) dead[index] = 1
      return { segment, dead }
    })
    const merge = new SegmentMerge(views, CHUNK_WEIGHTS, textAnalyzer)
    // A storage that has yet to load a segment gives an empty one.
    const isLoaded = views.every(({ segment }, i) => segment.table.count === records[i]?.count)
    this.#last = isLoaded ? { records, inputs, merge } : undefined
    return merge
  }

  /** The numbers of the chunks that died while they were being merged. */
  #listDied(records: readonly SegmentRecord[], inputs: readonly MergeStateInput[]): number[] {
    return this.#createViews(records).flatMap((view, i) => {
      const before = new Set(inputs[i]?.dead)
      return listDead(view).flatMap((index) => (before.has(index) ? [] : (view.segment.table.numbers[index] ?? [])))
    })
  }
}

function isSame(a: readonly MergeStateInput[], b: readonly MergeStateInput[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ id, dead }, i) => {
      const other = b[i]
      return (
        id === other?.id && dead.length === other.dead.length && dead.every((index, at) => index === other.dead[at])
      )
    })
  )
}

/** The indexes of the dead documents of a segment, in order. */
function listDead(view: SegmentView | undefined): number[] {
  const { dead } = view ?? {}
  const indexes: number[] = []
  for (let i = dead?.indexOf(1) ?? -1; i >= 0; i = dead?.indexOf(1, i + 1) ?? -1) indexes.push(i)
  return indexes
}

function writeMergeState({ inputs, next }: MergeState): Uint8Array {
  const writer = new ByteWriter()
  writer.writeNumber(inputs.length)
  for (const { id, dead } of inputs) {
    writer.writeNumber(id)
    writer.writeNumber(dead.length)
    dead.forEach((index, i) => {
      writer.writeNumber(index - (dead[i - 1] ?? 0))
    })
  }
  writer.writeText(next)
  return writer.toBytes()
}

/** Returns undefined if the state is unreadable. */
function tryReadMergeState(bytes: Uint8Array): MergeState | undefined {
  try {
    return readMergeState(bytes)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

function readMergeState(bytes: Uint8Array): MergeState {
  const reader = new ByteReader(bytes)
  const inputs = Array.from({ length: reader.readCount() }, () => {
    const id = reader.readNumber()
    let index = 0
    const dead = Array.from({ length: reader.readCount() }, () => {
      index += reader.readNumber()
      return index
    })
    return { id, dead }
  })
  return { inputs, next: reader.readText() }
}
