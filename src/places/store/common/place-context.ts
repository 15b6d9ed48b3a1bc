/** Number of characters that are stored on each side of a place mention. */
const CONTEXT_CHARS = 40

/** The text around a place mention, in one line. */
export function contextOf(text: string, start: number, end: number): string {
  return text
    .slice(Math.max(0, start - CONTEXT_CHARS), end + CONTEXT_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
}
