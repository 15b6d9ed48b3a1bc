/** A set of characters as globs write it: `[a-z]`, `[!a]`, `[[:digit:]_]`. */
export interface CharSet {
  readonly negated: boolean
  readonly ranges: readonly (readonly [low: string, high: string])[]
}

/** Parses the set whose `[` is at `start`; `end` is the index of its `]`. Undefined for an unclosed set. */
export function parseCharSet(chars: readonly string[], start: number): { set: CharSet; end: number } | undefined {
  let i = start + 1
  const negated = chars[i] === '!' || chars[i] === '^'
  if (negated) i++
  const ranges: [string, string][] = []
  for (let isFirst = true; i < chars.length; isFirst = false) {
    if (chars[i] === ']' && !isFirst) return { set: { negated, ranges }, end: i }
    const namedClass = /^\[:([a-z]+):\]/.exec(chars.slice(i, i + 12).join(''))
    if (namedClass !== null) {
      ranges.push(...(CLASSES[namedClass[1] ?? ''] ?? []))
      i += namedClass[0].length
      continue
    }
    if (chars[i] === '\\') i++
    const low = chars[i++] ?? ''
    if (chars[i] === '-' && i + 1 < chars.length && chars[i + 1] !== ']') {
      ranges.push([low, chars[i + 1] ?? ''])
      i += 2
    } else {
      ranges.push([low, low])
    }
  }
  return undefined
}

/** Whether a character belongs to a set. */
export function isInSet({ negated, ranges }: CharSet, char: string): boolean {
  return ranges.some(([low, high]) => low <= char && char <= high) !== negated
}

/** The characters of `[:name:]` inside a set. */
const CLASSES: Readonly<Record<string, readonly [string, string][]>> = {
  alnum: [
    ['0', '9'],
    ['A', 'Z'],
    ['a', 'z'],
  ],
  alpha: [
    ['A', 'Z'],
    ['a', 'z'],
  ],
  digit: [['0', '9']],
  lower: [['a', 'z']],
  upper: [['A', 'Z']],
  space: [
    ['\t', '\r'],
    [' ', ' '],
  ],
  punct: [
    ['!', '/'],
    [':', '@'],
    ['[', '`'],
    ['{', '~'],
  ],
  xdigit: [
    ['0', '9'],
    ['A', 'F'],
    ['a', 'f'],
  ],
}
