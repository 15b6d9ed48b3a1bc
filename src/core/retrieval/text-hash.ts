/** Two independent seeds for hashes. */
export const FIRST_SEED: number = 0x811c9dc5 | 0
export const SECOND_SEED: number = 0x9e3779b9 | 0

/** A 32-bit hash of a text: FNV-1a, with its bits mixed. Two hashes with different seeds identify a text. */
export function hashText(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
