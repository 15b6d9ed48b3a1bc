import { PharosError } from '../../core/errors.ts'
import { refuseOtherSpace } from '../check-vectors.ts'
import type { Library } from '../library.ts'
import type { Embedder, VectorIndex } from '../vectors.ts'

/** What to embed, and how. */
export interface EmbedInput {
  /** All sources when there are none. */
  readonly sourceIds?: readonly string[]
  /** Ends it at the next chunk. What was embedded stays, and the next run goes on there. */
  readonly signal?: AbortSignal
  /** Chunks that are written at once. @default 16 */
  readonly batch?: number
  /** Makes all vectors anew where the library has those of another model. @default false */
  readonly replace?: boolean
}

/** How far it is. */
export interface EmbedProgress {
  readonly embedded: number
  readonly chunks: number
}

const BATCH = 16

/**
 * Gives vectors to the chunks that have none, some at a time, and says how far it is after each. Refuses with `EMBEDDER_MISSING`
 * where no model is installed, and with `VECTOR_SPACE_OTHER` where there are vectors of another one.
 */
export async function* embedLibrary(library: Library, input: EmbedInput = {}): AsyncGenerator<EmbedProgress, void> {
  const { sourceIds, signal, batch = BATCH, replace = false } = input
  const { vectors } = library
  const embedder = await library.openEmbedder?.()
  if (vectors === undefined || embedder === undefined) {
    throw new PharosError('EMBEDDER_MISSING')
  }
  await takeUpSpace(vectors, embedder, replace)
  yield await vectors.count(sourceIds)
  for (;;) {
    signal?.throwIfAborted()
    const chunks = await vectors.listMissing(batch, sourceIds)
    if (chunks.length === 0) return
    const made = await embedder.embed(
      chunks.map(({ text }) => text),
      signal,
    )
    const named = chunks.map(({ sourceId, chunkId }, i) => ({ sourceId, chunkId, vector: made[i] ?? NO_VECTOR }))
    await vectors.write(embedder.space, named)
    yield await vectors.count(sourceIds)
  }
}

/** Refused by every store. */
const NO_VECTOR = new Float32Array(0)

/** Vectors are added to those of the same space only. */
async function takeUpSpace(vectors: VectorIndex, { space }: Embedder, replace: boolean): Promise<void> {
  const found = await vectors.readSpace()
  if (found?.fingerprint === space.fingerprint) return
  if (found === undefined || replace) await vectors.replaceSpace(space)
  else refuseOtherSpace(found, space)
}
