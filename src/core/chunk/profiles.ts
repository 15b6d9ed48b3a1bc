import { DEFAULT_LIMITS } from '../limits.ts'
import { CHARS_PER_TOKEN } from '../text/estimate.ts'
import type { ChunkSizes } from './piece.ts'

/** How texts are cut, by name. */
export const CHUNK_PROFILES = ['library', 'pack', 'tokens'] as const

/** One of {@link CHUNK_PROFILES}. */
export type ChunkProfile = (typeof CHUNK_PROFILES)[number]

/** Sizes for pages of a library: a passage that answers one question. */
export const LIBRARY_SIZES: ChunkSizes = { targetChars: 1200, maxChars: 2400 }

/**
 * Embedding models usually receive windows of this many tokens, with this share of overlap. Token counts are estimated from characters. In
 * Chinese, Japanese and Korean, where a character is about a token, a window can have up to four times as many tokens.
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
