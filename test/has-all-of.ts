/** Whether a text has all characters of another one in the same order, with others between them. */
export function hasAllOf(long: string, short: string): boolean {
  let at = 0
  for (const character of long) if (character === short[at]) at++
  return at === short.length
}
