/*
 * Dollars enclose formulas in the Markdown written here. Whether a dollar of the text could be read as one depends on the rest of its line,
 * which is known only at the end; until then a placeholder that never occurs in text replaces it.
 */

/** A dollar of the text. Text has no controls, so no page can write it. */
const DOLLAR_PLACEHOLDER = '\x01'

/** Puts the sign in the place of the dollars in text. */
export function maskDollars(text: string): string {
  return text.includes('$') ? text.replaceAll('$', DOLLAR_PLACEHOLDER) : text
}

/** Restores the dollars; those that would begin a formula get a backslash. */
export function restoreDollars(text: string): string {
  return text.includes(DOLLAR_PLACEHOLDER) ? text.split('\n').map(restoreLine).join('\n') : text
}

function restoreLine(line: string): string {
  const lastEnd = findLastEnd(line)
  let settled = ''
  let from = 0
  for (let at = line.indexOf(DOLLAR_PLACEHOLDER); at !== -1; at = line.indexOf(DOLLAR_PLACEHOLDER, from)) {
    const next = line[at + 1] ?? ' '
    const isPart = isDollar(line[at - 1]) || isDollar(next)
    settled += line.slice(from, at) + (isPart || (next !== ' ' && at < lastEnd) ? '\\$' : '$')
    from = at + 1
  }
  return settled + line.slice(from)
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
