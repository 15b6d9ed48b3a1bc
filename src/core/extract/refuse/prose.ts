/** Six words or more that end with a period, an exclamation mark or a question mark. */
const SENTENCE = /(?:[\p{L}\p{N}][^\s.!?]*[\s,;:()"'“”]+){5,}[^\s.!?]+[.!?]/gu

/** Counts the complete sentences of a text, up to three. */
export function countSentences(text: string): number {
  let count = 0
  for (const _ of text.matchAll(SENTENCE)) if (++count === 3) break
  return count
}
