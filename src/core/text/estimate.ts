/** UTF-16 units that are counted as one model token. */
export const CHARS_PER_TOKEN = 4

/** About how many model tokens a text takes: one for every four UTF-16 units, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}
