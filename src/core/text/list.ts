/** Joins words: `a`, `a and b`, `a, b and c`. */
export function writeList(words: readonly string[], joiner: 'and' | 'or' = 'and'): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${joiner} ${last}`
}
