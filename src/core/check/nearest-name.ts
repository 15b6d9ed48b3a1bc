import { findNearest } from '../text/nearest.ts'

/** The name nearest to a missing one: by spelling, else the one that shares most of its words. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  const near = findNearest(name, names)
  if (near !== undefined) return near
  const words = splitWords(name)
  let best: string | undefined
  let bestScore = 0.5
  for (const candidate of names) {
    const others = splitWords(candidate)
    const shared = others.filter((word) => words.includes(word)).length
    // One word of several, such as `create`, says little.
    if (shared < 2 && shared < Math.min(words.length, others.length)) continue
    const score = shared / Math.max(words.length, others.length)
    if (score >= bestScore && (best === undefined || score > bestScore)) {
      best = candidate
      bestScore = score
    }
  }
  return best
}

/** `createReadStream` → create, read, stream */
function splitWords(name: string): string[] {
  return name
    .split(/[^a-zA-Z0-9]+|(?<=[a-z0-9])(?=[A-Z])/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}
