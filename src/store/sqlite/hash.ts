import { isSha256 } from '../common/hash.ts'

/** A hash as it is kept: 32 bytes for a SHA-256, or text that is none. */
export type StoredHash = Uint8Array | string

/** Half the size of the text, in the row and in every index on it. */
export function packHash(hash: string): StoredHash {
  return isSha256(hash) ? Buffer.from(hash, 'hex') : hash
}

/** The text of a hash. */
export function unpackHash(hash: StoredHash): string {
  return typeof hash === 'string' ? hash : Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}
