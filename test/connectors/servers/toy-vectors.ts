/**
 * A deterministic vector of a text: the frequency of each letter, folded into the given number of dimensions.
 * The first dimension begins at 0.5, so that no vector is zero. Vectors are not normalized.
 */
export function toyVector(text: string, dimensions: number): number[] {
  const vector: number[] = Array.from({ length: dimensions }, (_, i) => (i === 0 ? 0.5 : 0))
  for (const letter of text.toLowerCase().match(/[a-z]/g) ?? []) {
    const at = (letter.charCodeAt(0) - 97) % dimensions
    vector[at] = (vector[at] ?? 0) + 1
  }
  return vector
}
