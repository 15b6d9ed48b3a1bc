import { DEFAULT_LIMITS } from '../limits.ts'
import { CHARS_PER_TOKEN } from '../text/estimate.ts'
import type { ChunkSizes } from './piece.ts'

/** Names of the sets of chunk sizes. */
export const CHUNK_PROFILES = ['library', 'pack', 'tokens'] as const

/** One of {@link CHUNK_PROFILES}. */
export type ChunkProfile = (typeof CHUNK_PROFILES)[number]

/** Sizes for pages of a library: a passage that answers one question. */
export const LIBRARY_SIZES: ChunkSizes = { targetChars: 1200, maxChars: 2400 }

/**
 * The profile `tokens` has the window size and the share of overlap that are usual for embedding models. Token counts are estimated from
 * characters: in Chinese, Japanese and Korean, where a character is about a token, a window can have up to four times as many tokens.
 */
const WINDOW_TOKENS = 512
const WINDOW_OVERLAP = 0.15
const WINDOW_CHARS = WINDOW_TOKENS * CHARS_PER_TOKEN

const SIZES: Readonly<Record<ChunkProfile, ChunkSizes>> = {
  library: LIBRARY_SIZES,
  pack: { targetChars: DEFAULT_LIMITS.targetChars, maxChars: DEFAULT_LIMITS.maxChars },
  tokens: {
    targetChars: WINDOW_CHARS,
    maxChars: WINDOW_CHARS,
    overlapChars: Math.round(WINDOW_TOKENS * WINDOW_OVERLAP) * CHARS_PER_TOKEN,
  },
}

/** The sizes of a profile. */
export function sizesOf(profile: ChunkProfile): ChunkSizes {
  return SIZES[profile]
}
