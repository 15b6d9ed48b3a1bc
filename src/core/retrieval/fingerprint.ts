import { countBits } from '../search/count-bits.ts'
import { visitShingles } from './shingles.ts'

/* A SimHash: the more runs of words two texts share, the more of their 64 bits are equal. Comparing two pages takes only their hashes. */

/**
 * 64 bits, as 16 hexadecimal digits; with `=` before them for a text that is too short for similarity, but can be compared for equality.
 */
export type Fingerprint = string

const SHORT_PREFIX = '='

/** With fewer different runs of words, a single word changes too many bits. */
const MIN_SHINGLES = 10

/** Only this many characters count: pages that agree in them are similar. */
const MAX_CHARS = 500_000

/**
 * The fingerprint of the text of a page; null for a text without words. White space, punctuation, case and link targets do not count.
 */
export function fingerprintOf(markdown: string): Fingerprint | null {
  const high = new Int32Array(PLANES)
  const low = new Int32Array(PLANES)
  // Each run counts once: repetitions in tables and signatures say little about the subject of a page.
  const runs = new Set<number>()
  visitShingles(markdown.slice(0, MAX_CHARS), (run) => runs.add(run))
  if (runs.size === 0) return null
  for (const run of runs) {
    addToCounters(high, mix(run ^ HIGH_SEED))
    addToCounters(low, mix(run ^ LOW_SEED))
  }
  const bits = writeMajority(high, runs.size) + writeMajority(low, runs.size)
  return runs.size < MIN_SHINGLES ? `${SHORT_PREFIX}${bits}` : bits
}

/** The bits of a fingerprint in two halves, parsed once for many comparisons. */
export interface FingerprintBits {
  readonly high: number
  readonly low: number
  /** Whether the text is too short for similarity. */
  readonly isShort: boolean
}

export function readFingerprint(fingerprint: Fingerprint): FingerprintBits {
  const isShort = fingerprint.startsWith(SHORT_PREFIX)
  const digits = isShort ? fingerprint.slice(SHORT_PREFIX.length) : fingerprint
  const bitsAt = (at: number) => Number.parseInt(digits.slice(at, at + 8), 16) | 0
  return { high: bitsAt(0), low: bitsAt(8), isShort }
}

/** Number of bits, of 64, in which two fingerprints differ. */
export function distanceOf(a: FingerprintBits, b: FingerprintBits): number {
  return countBits(a.high ^ b.high) + countBits(a.low ^ b.low)
}

/** Bits of the counters, enough for the runs of the longest text. */
const PLANES = 20

/**
 * Adds a hash to 32 counters, one for each of its bits. The counters are transposed: plane n holds bit n of all of them, so that most
 * hashes change two planes instead of 32 numbers.
 */
function addToCounters(planes: Int32Array, hash: number): void {
  let carry = hash
  for (let n = 0; carry !== 0 && n < PLANES; n++) {
    const plane = planes[n] ?? 0
    planes[n] = plane ^ carry
    carry &= plane
  }
}

/** The bits that more than half of the hashes have. */
function writeMajority(planes: Int32Array, total: number): string {
  let bits = 0
  for (let bit = 0; bit < 32; bit++) {
    let found = 0
    for (let n = 0; n < PLANES; n++) found |= (((planes[n] ?? 0) >>> bit) & 1) << n
    if (found * 2 > total) bits |= 1 << bit
  }
  return (bits >>> 0).toString(16).padStart(8, '0')
}

/** Two independent seeds for the halves of 64 bits. */
const HIGH_SEED = 0x9e3779b9 | 0
const LOW_SEED = 0x7f4a7c15 | 0

/** Spreads a hash over all bits (the finalizer of MurmurHash3). */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
