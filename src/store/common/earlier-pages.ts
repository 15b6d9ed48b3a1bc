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

/** Compresses the text of a page. The lowest level, because a crawl waits for it. */
export function packText(text: string): PackedText {
  const bytes = deflateRawSync(text, { level: 1 })
  return { bytes, size: bytes.length + ROW_BYTES }
}

export function unpackText(bytes: Uint8Array): string {
  return inflateRawSync(bytes).toString('utf8')
}

/** Whether texts of this total size may have left no room for another. A character takes at most three bytes, compressed or not. */
export function isNearlyFull(size: number): boolean {
  return size > MAX_EARLIER_BYTES - 3 * MAX_EARLIER_CHARS - 2 * ROW_BYTES
}
