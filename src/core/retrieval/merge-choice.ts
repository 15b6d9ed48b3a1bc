import type { DeadChunkRange, SegmentRecord } from './index-storage.ts'

/** Number of segments of similar size that triggers a merge. */
export const FAN_IN = 8
/** Largest number of chunks in a segment: other writers wait for a merge, and twice the size takes twice as long. */
export const MAX_SEGMENT_CHUNKS = 8192
/** Segments are merged when many are smaller than one of these sizes. Larger ones are merged only if most of their chunks are dead. */
const MERGE_TIERS = [2 * FAN_IN, 128, 1024, MAX_SEGMENT_CHUNKS / 2] as const

/** The segments that are best merged now, with at most this many chunks; none if a merge is not worthwhile. */
export function chooseMergeInputs(
  records: readonly SegmentRecord[],
  dead: readonly DeadChunkRange[],
  maxChunks: number,
): SegmentRecord[] {
  const deadById = new Map<number, number>()
  for (const { segment, first, last } of dead) deadById.set(segment, (deadById.get(segment) ?? 0) + last - first + 1)
  const segments = records.map((record) => ({
    record,
    living: Math.max(0, record.count - (deadById.get(record.id) ?? 0)),
  }))
  const mostlyDead = segments.filter(({ record, living }) => living * 2 < record.count)
  const chosen = limitSize(mostlyDead, maxChunks)
  if (chosen.length > 0) return chosen
  for (const size of MERGE_TIERS) {
    const small = segments.filter(({ living }) => living < size)
    if (small.length < FAN_IN) continue
    const inputs = limitSize(small, maxChunks)
    return inputs.length > 1 ? inputs : []
  }
  return []
}

/** The oldest segments that together have at most this many chunks; a segment that is too large is skipped. */
function limitSize(
  segments: readonly { readonly record: SegmentRecord; readonly living: number }[],
  maxChunks: number,
): SegmentRecord[] {
  const chosen: SegmentRecord[] = []
  let sum = 0
  for (const { record, living } of segments) {
    if (sum + living > maxChunks) continue
    sum += living
    chosen.push(record)
  }
  return chosen
}
