/** A vector of a text, always the same: how often each letter occurs, folded into so many dimensions. Not of length 1. */
export function toyVector(text: string, dimensions: number): number[] {
  const vector: number[] = Array.from({ length: dimensions }, (_, i) => (i === 0 ? 0.5 : 0))
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) {
    const at = (letter.charCodeAt(0) - 97) % dimensions
    vector[at] = (vector[at] ?? 0) + 1
  }
  return vector
}
