/** UTF-16 units that are counted as one model token. */
export const CHARS_PER_TOKEN = 4

/** Estimated number of model tokens of a text: one for every four UTF-16 units, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}
