/** Six words or more up to a full stop. */
const SENTENCE = /(?:[\p{L}\p{N}][^\s.!?]*[\s,;:()"'“”]+){5,}[^\s.!?]+[.!?]/gu

/** Counts the complete sentences of a text, up to three. */
export function countSentences(text: string): number {
  let count = 0
  for (const _ of text.matchAll(SENTENCE)) if (++count === 3) break
  return count
}
