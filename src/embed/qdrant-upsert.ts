import type { QdrantPoint } from './qdrant-points.ts'

/** A point as it is sent. */
export interface WrittenPoint {
  readonly id: string
  readonly vector: readonly number[]
  readonly payload: QdrantPoint['payload']
}

/** Points that are sent at once. */
const MOST_POINTS = 100
/** Bytes that are sent at once: a quarter of what Qdrant takes unless it is told otherwise. */
const MOST_BYTES = 8 * 2 ** 20
/** Longest number of a vector in JSON, with its comma. */
const NUMBER_BYTES = 24

/** Cuts points into what is sent at once. One that is larger than that by itself goes alone. */
export function* batchPoints(points: readonly QdrantPoint[]): Generator<WrittenPoint[], void> {
  let batch: WrittenPoint[] = []
  let bytes = 0
  for (const { id, vector, payload } of points) {
    const size = Buffer.byteLength(JSON.stringify(payload)) + vector.length * NUMBER_BYTES
    if (batch.length > 0 && (batch.length === MOST_POINTS || bytes + size > MOST_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push({ id, vector: Array.from(vector), payload })
    bytes += size
  }
  if (batch.length > 0) yield batch
}
