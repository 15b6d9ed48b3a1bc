import type { QdrantPoint } from './qdrant-points.ts'

/** A point in serialized form. */
export interface SerializedPoint {
  readonly id: string
  readonly vector: readonly number[]
  readonly payload: QdrantPoint['payload']
}

/** Limit of points per request. */
const MAX_POINTS = 100
/** Limit of bytes per request: a quarter of Qdrant's default limit. */
const MAX_BYTES = 8 * 2 ** 20
/** Longest number of a vector in JSON, with its comma. */
const MAX_NUMBER_BYTES = 24

/** Splits points into requests. A point that exceeds the limit by itself is sent alone. */
export function* batchPoints(points: readonly QdrantPoint[]): Generator<SerializedPoint[], void> {
  let batch: SerializedPoint[] = []
  let bytes = 0
  for (const { id, vector, payload } of points) {
    const size = Buffer.byteLength(JSON.stringify(payload)) + vector.length * MAX_NUMBER_BYTES
    if (batch.length > 0 && (batch.length === MAX_POINTS || bytes + size > MAX_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push({ id, vector: Array.from(vector), payload })
    bytes += size
  }
  if (batch.length > 0) yield batch
}
