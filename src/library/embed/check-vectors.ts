import { PharosError } from '../../core/errors.ts'
import { findVectorProblem } from '../../core/search/quantized-vector.ts'
import type { ChunkRef, VectorSpace } from '../ports/vectors.ts'

/** Rejects the whole batch if one vector is invalid, because the same model made the others. */
export function checkVectors(
  { dimensions }: VectorSpace,
  vectors: readonly (ChunkRef & { readonly vector: Float32Array })[],
): void {
  for (const { chunkId, vector } of vectors) {
    const problem = findVectorProblem(vector, dimensions)
    if (problem !== undefined) throw new PharosError('VECTOR_INVALID', { chunk: chunkId, problem })
  }
}

/** Throws if vectors of one space would be stored beside those of another. */
export function refuseOtherSpace(found: VectorSpace | undefined, given: VectorSpace): void {
  if (found === undefined || found.fingerprint === given.fingerprint) return
  throw new PharosError('VECTOR_SPACE_OTHER', { found: describeSpace(found), given: describeSpace(given) })
}

/** Name of a vector space for error messages. */
function describeSpace({ model, fingerprint }: VectorSpace): string {
  return `${model} (${fingerprint.slice(0, 8)})`
}
