/** Characters on both sides of a place that are kept with it. */
const CONTEXT_CHARS = 40

/** What stands around a place, in one line. */
export function contextOf(text: string, start: number, end: number): string {
  return text
    .slice(Math.max(0, start - CONTEXT_CHARS), end + CONTEXT_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
}
