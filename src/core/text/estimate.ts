/** About how many model tokens a text takes: one for every four UTF-16 units, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}
