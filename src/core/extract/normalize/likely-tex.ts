/** Commands whose argument is a name, which is not shown. */
const NAMES = /\\(?:begin|end|color|textcolor|label|class|cssId|require|[hv]space)\*?\s*\{[\w:*.#-]{0,20}\}/g
const COMMANDS = /\\[A-Za-z]+/g
const WORDS = /[A-Za-z]{4,}/g
const MAX_LENGTH = 10_000

/**
 * Whether TeX can be the source of a formula that is shown as `shown`. The TeX in a page is invisible, so it could contain anything: it
 * must not be much longer than the visible formula, and its words must be visible too.
 */
export function isLikelyTex(tex: string, shown: string): boolean {
  const seen = shown.replace(/\s+/g, '')
  if (tex.length > Math.min(40 + 12 * seen.length, MAX_LENGTH)) return false
  const words = tex.replace(NAMES, ' ').replace(COMMANDS, ' ').match(WORDS)
  if (words === null) return true
  // Letters in formulas are often mathematical characters of Unicode, which NFKC turns into plain letters.
  const letters = seen
    .normalize('NFKC')
    .replace(/[^A-Za-z]+/g, '')
    .toLowerCase()
  return words.every((word) => letters.includes(word.toLowerCase()))
}
