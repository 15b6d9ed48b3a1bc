import { BUILT_IN_SPACE } from '../../../src/core/embedding/space.ts'
import { PharosError } from '../../../src/core/errors.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { PackVectors, parsePackVectors } from '../../../src/core/pack/pack-vectors.ts'
import { bytesOf } from '../folder/open-folder.ts'

/** Creates vectors for a pack, none of them computed yet. */
export function createVectors({ chunks }: Pack): PackVectors {
  return new PackVectors(BUILT_IN_SPACE, chunks.length)
}

/** Returns vectors that can be extended; vectors of another model are discarded. */
export function adoptVectors(pack: Pack, vectors: PackVectors | undefined): PackVectors {
  return vectors?.space.fingerprint === BUILT_IN_SPACE.fingerprint ? vectors : createVectors(pack)
}

/** Reads the stored vectors of an index. Vectors that cannot be read, or that belong to another model, are discarded. */
export async function readVectors(stored: Blob | null, pack: Pack): Promise<PackVectors> {
  if (stored === null) return createVectors(pack)
  try {
    return adoptVectors(pack, parsePackVectors([await bytesOf(stored)], pack.chunks.length, 'the index'))
  } catch (error) {
    if (error instanceof PharosError || error instanceof DOMException) return createVectors(pack)
    throw error
  }
}

/** Writes vectors for storage; null if there are none. */
export function writeVectors(vectors: PackVectors): Blob | null {
  return vectors.embedded === 0 ? null : new Blob([vectors.write() as Uint8Array<ArrayBuffer>])
}
