import type { DeadChunkRange, SegmentRecord } from './index-storage.ts'

/** Number of segments of similar size that triggers a merge while chunks are being added. */
export const FAN_IN = 8
/** Largest number of chunks in a segment. A step of a merge handles at least all occurrences of a word, and must be short. */
const MAX_SEGMENT_CHUNKS = 150_000
/** Segments of at least this many chunks are merged only with each other, because merging them takes long. */
export const LARGE_SEGMENT_CHUNKS = 32_768
/** Number of large segments that triggers a merge: as many as fit into one. */
const LARGE_FAN_IN = 4
/** Segments are merged when many are smaller than one of these sizes. */
const MERGE_TIERS = [2 * FAN_IN, 128, 1024, 8192, LARGE_SEGMENT_CHUNKS] as const
/** At rest, a segment is merged with smaller ones unless it has more than this many times their chunks. */
const REST_RATIO = 2

interface MeasuredSegment {
  readonly record: SegmentRecord
  /** Number of chunks that are not dead. */
  readonly living: number
}

/**
 * The segments that are best merged now, none if a merge is not worthwhile. At rest, when no chunks are left to add, few segments are
 * merged too, so that a library has one segment, or some of very different sizes.
 */
export function chooseMergeInputs(
  records: readonly SegmentRecord[],
  dead: readonly DeadChunkRange[],
  isAtRest: boolean,
): SegmentRecord[] {
  const recordById = new Map(records.map((record) => [record.id, record]))
  const deadById = new Map<number, number>()
  for (const { segment, first, last } of dead) {
    const record = recordById.get(segment)
    // A run may begin before its segment, or end after it.
    const count = record === undefined ? 0 : Math.min(last, record.last) - Math.max(first, record.first) + 1
    deadById.set(segment, (deadById.get(segment) ?? 0) + Math.max(0, count))
  }
  const segments = records.map((record) => ({
    record,
    living: Math.max(0, record.count - (deadById.get(record.id) ?? 0)),
  }))
  const mostlyDead = limitSize(segments.filter(({ record, living }) => living * 2 < record.count))
  if (mostlyDead.length > 0) return mostlyDead
  for (const size of MERGE_TIERS) {
    const small = segments.filter(({ living }) => living < size)
    if (small.length < FAN_IN) continue
    const inputs = limitSize(small)
    if (inputs.length > 1) return inputs
  }
  const large = segments.filter(({ living }) => living >= LARGE_SEGMENT_CHUNKS && living < MAX_SEGMENT_CHUNKS / 2)
  if (large.length >= LARGE_FAN_IN) return limitSize(large)
  return isAtRest ? chooseAtRest(segments) : []
}

/** The smallest segments, up to the last one that is not much larger than all smaller ones together. */
function chooseAtRest(segments: readonly MeasuredSegment[]): SegmentRecord[] {
  const ascending = segments.toSorted((a, b) => a.living - b.living)
  let sum = 0
  let chosenCount = 0
  for (const [i, { living }] of ascending.entries()) {
    if (sum + living > MAX_SEGMENT_CHUNKS) break
    if (i > 0 && living <= REST_RATIO * sum) chosenCount = i + 1
    sum += living
  }
  const chosen = new Set(ascending.slice(0, chosenCount).map(({ record }) => record))
  return segments.map(({ record }) => record).filter((record) => chosen.has(record))
}

/** The oldest segments that together have at most the chunks of a segment; one that is too large is skipped. */
function limitSize(segments: readonly MeasuredSegment[]): SegmentRecord[] {
  const chosen: SegmentRecord[] = []
  let sum = 0
  for (const { record, living } of segments) {
    if (sum + living > MAX_SEGMENT_CHUNKS) continue
    sum += living
    chosen.push(record)
  }
  return chosen
}
