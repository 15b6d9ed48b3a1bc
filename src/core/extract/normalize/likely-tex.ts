/** Commands whose argument is a name that is not shown. */
const NAME_COMMANDS = /\\(?:begin|end|color|textcolor|label|class|cssId|require|[hv]space)\*?\s*\{[\w:*.#-]{0,20}\}/g
const COMMANDS = /\\[A-Za-z]+/g
const WORDS = /[A-Za-z]{4,}/g
const MAX_LENGTH = 10_000

/**
 * Whether TeX can be the source of a formula with this visible text. The TeX in a page is invisible, so it could contain anything: it must
 * not be much longer than the visible text, and its words must be visible too.
 */
export function isLikelyTex(tex: string, visibleText: string): boolean {
  const visible = visibleText.replace(/\s+/g, '')
  if (tex.length > Math.min(40 + 12 * visible.length, MAX_LENGTH)) return false
  const words = tex.replace(NAME_COMMANDS, ' ').replace(COMMANDS, ' ').match(WORDS)
  if (words === null) return true
  // Letters in formulas are often mathematical characters of Unicode, which NFKC turns into plain letters.
  const letters = visible
    .normalize('NFKC')
    .replace(/[^A-Za-z]+/g, '')
    .toLowerCase()
  return words.every((word) => letters.includes(word.toLowerCase()))
}
