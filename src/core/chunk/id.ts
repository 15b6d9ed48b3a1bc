import type { Sha256 } from '../model.ts'

/** The id of a chunk: the same for the same text at the same path. The occurrence number distinguishes equal texts in one file. */
export function chunkId(path: string, contentHash: string, occurrence: number, sha256: Sha256): string {
  return sha256(`${path}\n${contentHash}\n${occurrence}`)
}
