/*
 * Dollars enclose formulas in the Markdown written here. Whether a dollar sign in text could be read as such a delimiter depends on the
 * rest of its line, which is known only at the end. Until then a placeholder that never occurs in text replaces it.
 */

/** Stands for a dollar sign in text. Text has no control characters, so no page can contain it. */
const DOLLAR_PLACEHOLDER = '\x01'

/** Replaces the dollar signs in text by placeholders. */
export function maskDollars(text: string): string {
  return text.includes('$') ? text.replaceAll('$', DOLLAR_PLACEHOLDER) : text
}

/** Restores the dollar signs. Those that would begin a formula get a backslash. */
export function restoreDollars(text: string): string {
  return text.includes(DOLLAR_PLACEHOLDER) ? text.split('\n').map(restoreLine).join('\n') : text
}

function restoreLine(line: string): string {
  const lastEnd = findLastEnd(line)
  let restored = ''
  let from = 0
  for (let at = line.indexOf(DOLLAR_PLACEHOLDER); at !== -1; at = line.indexOf(DOLLAR_PLACEHOLDER, from)) {
    const next = line[at + 1] ?? ' '
    const isBesideDollar = isDollar(line[at - 1]) || isDollar(next)
    restored += line.slice(from, at) + (isBesideDollar || (next !== ' ' && at < lastEnd) ? '\\$' : '$')
    from = at + 1
  }
  return restored + line.slice(from)
}

/** Position of the last dollar that could end a formula; -1 if none could. */
function findLastEnd(line: string): number {
  for (let at = line.length - 1; at > 0; at--) {
    if (isDollar(line[at]) && line[at - 1] !== ' ' && !/\d/.test(line[at + 1] ?? '')) return at
  }
  return -1
}

function isDollar(character: string | undefined): boolean {
  return character === '$' || character === DOLLAR_PLACEHOLDER
}
