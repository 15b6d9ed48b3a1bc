import { PharosError } from '../core/errors.ts'
import { findVectorProblem } from '../core/search/quantized-vector.ts'
import type { ChunkName, VectorSpace } from './vectors.ts'

/** Refuses vectors that no store may keep, all of them for the sake of one: whatever made it made the others too. */
export function checkVectors(
  { dimensions }: VectorSpace,
  vectors: readonly (ChunkName & { readonly vector: Float32Array })[],
): void {
  for (const { chunkId, vector } of vectors) {
    const problem = findVectorProblem(vector, dimensions)
    if (problem !== undefined) throw new PharosError('VECTOR_INVALID', { chunk: chunkId, problem })
  }
}

/** Refuses to put vectors of one space beside those of another. */
export function refuseOtherSpace(found: VectorSpace | undefined, given: VectorSpace): void {
  if (found === undefined || found.fingerprint === given.fingerprint) return
  throw new PharosError('VECTOR_SPACE_OTHER', { found: nameSpace(found), given: nameSpace(given) })
}

/** A space as people tell it from others. */
function nameSpace({ model, fingerprint }: VectorSpace): string {
  return `${model} (${fingerprint.slice(0, 8)})`
}
