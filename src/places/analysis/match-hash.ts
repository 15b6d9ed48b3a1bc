/**
 * The 64-bit hash of a name, in two halves. With a million names in 2^64 values a false hit is less likely than a broken disk, and a sorted
 * table of numbers needs no strings in memory.
 */
export interface NameHash {
  high: number
  low: number
}

/** Resets a hash to its initial value. */
export function beginHash(into: NameHash): void {
  into.high = 0x811c9dc5
  into.low = 0x01234567
}

/** Adds UTF-16 units of a text to a hash. */
export function extendHash(into: NameHash, text: string, from: number, to: number): void {
  let { high, low } = into
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x5bd1e995)
    low ^= low >>> 15
  }
  into.high = high
  into.low = low
}

/** The final upper half: well mixed, because its first bits index the table. */
export function finishHigh(hash: NameHash): number {
  let high = hash.high ^ hash.low
  high = Math.imul(high ^ (high >>> 16), 0x7feb352d)
  high = Math.imul(high ^ (high >>> 15), 0x846ca68b)
  return (high ^ (high >>> 16)) >>> 0
}

/** The final lower half. */
export function finishLow(hash: NameHash): number {
  let low = Math.imul(hash.low ^ (hash.low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x27d4eb2f) ^ hash.high
  return low >>> 0
}

/** Slot that stores the length of the longest name with this start; `salt` separates words from characters. */
export function prefixSlot(text: string, from: number, to: number, salt: number): number {
  let hash = salt
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x7feb352d)
  return (hash ^ (hash >>> 16)) & (PREFIX_SLOT_COUNT - 1)
}

/** Number of slots, a power of two. */
export const PREFIX_SLOT_COUNT: number = 1 << 18

/** Salt for the first word of a name. */
export const WORD_SALT = 0x811c9dc5
/** Salt for the first two characters of a name in a script without spaces. */
export const RUN_SALT = 0x3c6ef372
