/** The limits of the pack format. A megabyte is 2²⁰ bytes, and a character is a UTF-16 code unit. */
export interface Limits {
  readonly maxFileBytes: number
  readonly maxTotalBytes: number
  readonly maxChunksPerFile: number
  readonly maxTotalChunks: number
  readonly targetChars: number
  readonly maxChars: number
}

/** Limits that apply unless the user sets others. */
export const DEFAULT_LIMITS: Limits = {
  maxFileBytes: 10 * 2 ** 20,
  maxTotalBytes: 50 * 2 ** 20,
  maxChunksPerFile: 2000,
  // A pack is written and opened as a whole; a chunk takes 5 to 10 KB of memory for that.
  maxTotalChunks: 250_000,
  targetChars: 4000,
  maxChars: 8000,
}

/** Smallest allowed `maxChars`: enough for a fence, its language and a line. */
export const MIN_MAX_CHARS = 64
