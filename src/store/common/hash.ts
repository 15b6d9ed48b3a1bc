const SHA_256 = /^[0-9a-f]{64}$/

/** Whether a hash is a SHA-256 in lower-case hex, so that it can be stored as 32 bytes. */
export function isSha256(hash: string): boolean {
  return SHA_256.test(hash)
}

/** First byte of a packed hash, which tells text from SHA-256 bytes; SHA-256 hashes sort last. */
const TEXT = 0
const BYTES = 1

/** Packs a hash of any form into bytes. A SHA-256 takes half the size of its text, in the row and in every index on it. */
export function packHash(hash: string): Buffer {
  return isSha256(hash) ? Buffer.from(`0${BYTES}${hash}`, 'hex') : Buffer.from(`${String.fromCharCode(TEXT)}${hash}`)
}

/** Unpacks a hash to its text. */
export function unpackHash(hash: Uint8Array): string {
  const bytes = Buffer.from(hash.buffer, hash.byteOffset + 1, hash.byteLength - 1)
  return bytes.toString(hash[0] === BYTES ? 'hex' : 'utf8')
}
