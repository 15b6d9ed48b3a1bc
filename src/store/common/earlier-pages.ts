import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** Maximum size of the earlier texts of a source, compressed. */
export const MAX_EARLIER_BYTES = 8_000_000

/** A longer text is not kept. */
export const MAX_EARLIER_CHARS = 1_000_000

/** What a row takes besides its text, so that many small pages are limited too. */
const ROW_BYTES = 1000

/** A compressed text with the size that counts against the limit. */
export interface PackedText {
  readonly bytes: Uint8Array
  readonly size: number
}

/** Marks a page that changed, but whose text is not kept. No compressed text is empty. */
const NOT_KEPT: PackedText = { bytes: new Uint8Array(), size: 0 }

/**
 * Compresses the earlier text of a page. A text that is too long (null), or that does not fit beside the `used` bytes of its source, leaves
 * a mark only. The lowest level of compression, because a crawl waits for it.
 */
export function packText(text: string | null, used: number): PackedText {
  if (text === null || used >= MAX_EARLIER_BYTES) return NOT_KEPT
  const bytes = deflateRawSync(text, { level: 1 })
  const size = bytes.length + ROW_BYTES
  return used + size <= MAX_EARLIER_BYTES ? { bytes, size } : NOT_KEPT
}

/** The text of a page; null if it was not kept. */
export function unpackText(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined || bytes.length === 0 ? null : inflateRawSync(bytes).toString('utf8')
}
