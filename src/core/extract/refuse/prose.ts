/** The first letter or digit of a word. */
const WORD_START = /(?<![^\s,;:()"'“”])[\p{L}\p{N}]/gu
/** Fewer words are no sentence, whatever they end with. */
const MIN_WORDS = 6

/** Counts the sentences of a text that end with a period, an exclamation mark or a question mark, up to three. */
export function countSentences(text: string): number {
  let count = 0
  for (const sentence of text.split(/[.!?]/).slice(0, -1)) {
    if ((sentence.match(WORD_START)?.length ?? 0) >= MIN_WORDS && ++count === 3) break
  }
  return count
}
