/**
 * Characters that are invisible or reverse the direction of writing, so that an address can look like another one: control characters
 * except newline and tab, and direction marks, embeddings and isolates.
 */
export const UNSAFE_CHARACTERS: RegExp = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Makes untrusted text safe to show: unsafe characters become replacement characters. */
export function sanitizeText(text: string): string {
  return text.replaceAll(UNSAFE_CHARACTERS, '\ufffd')
}
