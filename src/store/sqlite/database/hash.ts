import { isSha256 } from '../../common/hash.ts'

/** A stored hash: 32 bytes for a SHA-256, otherwise text. */
export type StoredHash = Uint8Array | string

/** Packs a hash, which halves its size in the row and in every index on it. */
export function packHash(hash: string): StoredHash {
  return isSha256(hash) ? Buffer.from(hash, 'hex') : hash
}

/** Unpacks a hash to its text. */
export function unpackHash(hash: StoredHash): string {
  return typeof hash === 'string' ? hash : Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}
