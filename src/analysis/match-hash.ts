/**
 * Names are known by 64 bits of hash, in two halves: a million names among 2^64 make a false hit less likely than a
 * broken disk, and a sorted table of numbers needs no strings in memory.
 */
export interface NameHash {
  high: number
  low: number
}

/** What a hash begins with. */
export function beginHash(into: NameHash): void {
  into.high = 0x811c9dc5
  into.low = 0x01234567
}

/** Goes on with the units of a text. */
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

/** The upper half as it is kept: well mixed, because the table is entered by its first bits. */
export function finishHigh(hash: NameHash): number {
  let high = hash.high ^ hash.low
  high = Math.imul(high ^ (high >>> 16), 0x7feb352d)
  high = Math.imul(high ^ (high >>> 15), 0x846ca68b)
  return (high ^ (high >>> 16)) >>> 0
}

/** The lower half as it is kept. */
export function finishLow(hash: NameHash): number {
  let low = Math.imul(hash.low ^ (hash.low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x27d4eb2f) ^ hash.high
  return low >>> 0
}

/** Where the length of the longest name that begins so is kept; `salt` keeps words and characters apart. */
export function startSlot(text: string, from: number, to: number, salt: number): number {
  let hash = salt
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x7feb352d)
  return (hash ^ (hash >>> 16)) & (START_SLOTS - 1)
}

/** How many slots there are: a power of two. */
export const START_SLOTS: number = 1 << 18

/** Salt of first words, and of the first two characters of names in scripts without spaces. */
export const WORD_SALT = 0x811c9dc5
export const RUN_SALT = 0x3c6ef372
