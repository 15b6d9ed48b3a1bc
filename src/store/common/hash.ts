const SHA_256 = /^[0-9a-f]{64}$/

/** Whether a hash is a SHA-256 as it is always written, so that 32 bytes can stand for it. */
export function isSha256(hash: string): boolean {
  return SHA_256.test(hash)
}

/** What the bytes of a hash begin with: one that is a SHA-256 comes after all others. */
const TEXT = 0
const BYTES = 1

/** A hash as bytes, whatever it is: half the size of the text of a SHA-256, in the row and in every index on it. */
export function packHash(hash: string): Buffer {
  return isSha256(hash) ? Buffer.from(`0${BYTES}${hash}`, 'hex') : Buffer.from(`${String.fromCharCode(TEXT)}${hash}`)
}

/** The text of a hash. */
export function unpackHash(hash: Uint8Array): string {
  const bytes = Buffer.from(hash.buffer, hash.byteOffset + 1, hash.byteLength - 1)
  return bytes.toString(hash[0] === BYTES ? 'hex' : 'utf8')
}
