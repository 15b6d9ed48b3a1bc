import { type CharSet, isInSet, parseCharSet } from '../text/char-set.ts'

/** One step of a compiled glob: a character, any character, any run of characters, or a set. */
type Step =
  | { readonly type: 'char'; readonly char: string }
  | { readonly type: 'any' }
  | { readonly type: 'run' }
  | { readonly type: 'set'; readonly set: CharSet }

/** A glob for one name without `/`: `*`, `?`, `[a-z]`, `[!a]` and `\` before a literal character. */
export interface Glob {
  readonly steps: readonly Step[]
}

/** Parses a glob. Returns undefined for an unclosed `[` or a `\` at the end: as in git, such a pattern matches nothing. */
export function parseGlob(pattern: string): Glob | undefined {
  const chars = [...pattern]
  const steps: Step[] = []
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? ''
    if (char === '*') {
      if (steps.at(-1)?.type !== 'run') steps.push({ type: 'run' })
    } else if (char === '?') {
      steps.push({ type: 'any' })
    } else if (char === '[') {
      const parsed = parseCharSet(chars, i)
      if (parsed === undefined) return undefined
      steps.push({ type: 'set', set: parsed.set })
      i = parsed.end
    } else if (char === '\\') {
      if (++i === chars.length) return undefined
      steps.push({ type: 'char', char: chars[i] ?? '' })
    } else {
      steps.push({ type: 'char', char })
    }
  }
  return { steps }
}

/** The only name that a glob without wildcards matches; undefined for others. */
export function literalOf({ steps }: Glob): string | undefined {
  const chars = steps.map((step) => (step.type === 'char' ? step.char : undefined))
  return chars.includes(undefined) ? undefined : chars.join('')
}

/**
 * Whether a name, given as its characters, matches. Only the last `*` is retried, so the time is at most the product of both lengths.
 * Patterns are untrusted, and regular expressions take exponential time on some of them.
 */
export function matchesGlob({ steps }: Glob, chars: readonly string[]): boolean {
  let s = 0
  let c = 0
  let retryStep = -1
  let retryChar = 0
  while (c < chars.length) {
    const step = steps[s]
    if (step?.type === 'run') {
      retryStep = s++
      retryChar = c
    } else if (step !== undefined && matchesStep(step, chars[c] ?? '')) {
      s++
      c++
    } else if (retryStep >= 0) {
      s = retryStep + 1
      c = ++retryChar
    } else {
      return false
    }
  }
  while (steps[s]?.type === 'run') s++
  return s === steps.length
}

function matchesStep(step: Step, char: string): boolean {
  switch (step.type) {
    case 'char':
      return step.char === char
    case 'set':
      return isInSet(step.set, char)
    default:
      return true
  }
}
