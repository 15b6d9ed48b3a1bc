import { type CharSet, isInSet, parseCharSet } from '../text/char-set.ts'
import { normalizePercent } from './key.ts'

/** One step of a compiled glob. */
type Step =
  | { readonly type: 'text'; readonly text: string }
  /** `?` and `[…]`: one character, not a slash. */
  | { readonly type: 'one'; readonly set: CharSet | undefined }
  /** `*`: any characters but slashes. */
  | { readonly type: 'run' }
  /** `**`: any characters. */
  | { readonly type: 'deep' }
  /** `**` with the slash after it, at the start of a segment: any number of whole segments. */
  | { readonly type: 'folders' }
  /** `/**` at the end: nothing, or everything below. */
  | { readonly type: 'below' }

/** A glob on the path of an address. */
export interface PathGlob {
  /** As it was written. */
  readonly pattern: string
  readonly steps: readonly Step[]
}

/**
 * Parses a glob on paths: `*` within a segment, `**` across segments, `?`, `[a-z]`, `[!a]`, and `\` before a literal character. A leading
 * `!` is dropped, because users write it before patterns they block. Throws a TypeError for a pattern in which {@link findGlobProblem}
 * finds a problem.
 */
export function parsePathGlob(pattern: string): PathGlob {
  // `/docs/**` matches everything below `/docs`, and `/docs` itself; `/docs/**/a` matches `/docs/a` as well.
  // `docs/**` is `/docs/**`: a pattern with a slash is matched from the root.
  // `*.pdf` is `**/*.pdf`: a pattern without any slash is matched against the last segment, at any depth.
  // A slash at the end of the pattern or of the path makes no difference.
  const parsed = readGlob(pattern)
  if (typeof parsed === 'string') throw new TypeError(`Expected a glob on paths, got "${pattern}": ${parsed}`)
  return { pattern, steps: parsed }
}

/** The problem of a glob, in words; undefined for a valid one. */
export function findGlobProblem(pattern: string): string | undefined {
  const parsed = readGlob(pattern)
  return typeof parsed === 'string' ? parsed : undefined
}

/**
 * Whether a path, given as in the key of its address, matches. Patterns may be written decoded or encoded: both `/größe/*` and
 * `/gr%C3%B6%C3%9Fe/*` match. An encoded slash is never a slash.
 */
export function matchesPathGlob(glob: PathGlob, path: string): boolean {
  if (matchesSteps(glob.steps, path)) return true
  const decoded = decodePath(path)
  return decoded !== path && matchesSteps(glob.steps, decoded)
}

const MAX_PATTERN = 1000

/** The steps of a glob, or its problem. */
function readGlob(pattern: string): readonly Step[] | string {
  if (pattern.length > MAX_PATTERN) return `it is longer than ${MAX_PATTERN} characters`
  const glob = pattern.trim().replace(/^!/, '')
  if (glob === '') return 'it is empty'
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(glob)) return 'it names a scheme and a host, but only paths are matched'
  return readSteps(anchor(normalizePercent(glob)))
}

/** The same glob with a leading slash and without a trailing one. */
function anchor(glob: string): string {
  let end = glob.length
  while (end > 1 && glob[end - 1] === '/') end--
  const trimmed = glob.slice(0, end)
  if (trimmed.startsWith('/')) return trimmed
  return trimmed.includes('/') || end < glob.length || trimmed.startsWith('**') ? `/${trimmed}` : `/**/${trimmed}`
}

function readSteps(glob: string): readonly Step[] | string {
  const chars = [...glob]
  const steps: Step[] = []
  let text = ''
  const push = (step: Step): void => {
    if (text !== '') steps.push({ type: 'text', text })
    text = ''
    steps.push(step)
  }
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? ''
    if (char === '*') {
      const start = i
      while (chars[i + 1] === '*') i++
      const isDeep = i > start
      if (isDeep && chars[start - 1] === '/' && i + 1 === chars.length && text.endsWith('/')) {
        // `/**` alone keeps its slash, which every path has.
        if (start > 1) text = text.slice(0, -1)
        push({ type: start > 1 ? 'below' : 'deep' })
      } else if (isDeep && chars[start - 1] === '/' && chars[i + 1] === '/') {
        i++
        push({ type: 'folders' })
      } else {
        push({ type: isDeep ? 'deep' : 'run' })
      }
    } else if (char === '?') {
      push({ type: 'one', set: undefined })
    } else if (char === '[') {
      const parsed = parseCharSet(chars, i)
      if (parsed === undefined) return 'a [ is never closed; write \\[ for the character'
      push({ type: 'one', set: parsed.set })
      i = parsed.end
    } else if (char === '{' || char === '}') {
      return 'alternatives in braces are not supported; give one pattern for each, or write \\{ for the character'
    } else if (char === '\\') {
      if (++i === chars.length) return 'it ends in a backslash'
      text += chars[i] ?? ''
    } else {
      text += char
    }
  }
  if (text !== '') steps.push({ type: 'text', text })
  return steps
}

/**
 * Keeps, step by step, the set of positions in the path that the steps so far can lead to. Every step looks at every position
 * once, so the time is at most the product of both lengths, whatever the pattern: patterns are untrusted.
 *
 *     pattern  /a/ ** / *        path   / a / x / y
 *     after /a/                               ^           positions after the characters read
 *     after folders                           ^   ^
 *     after *                                 ^ ^ ^ ^     the last position is among them: it matches
 */
function matchesSteps(steps: readonly Step[], path: string): boolean {
  const [first] = steps
  // Most patterns fail at their first characters.
  if (first?.type === 'text' && !path.startsWith(first.text)) return false
  let positions = new Uint8Array(path.length + 1)
  positions[0] = 1
  for (const step of steps) {
    const next = new Uint8Array(path.length + 1)
    if (!advance(step, path, positions, next)) return false
    positions = next
  }
  return positions[path.length] === 1
}

/** Marks the positions that a step can reach; false when there are none. */
function advance(step: Step, path: string, from: Uint8Array, to: Uint8Array): boolean {
  let hasReached = false
  /** Whether the step can continue from an earlier position. */
  let isOpen = false
  for (let i = 0; i <= path.length; i++) {
    const isFrom = from[i] === 1
    const isBehindSlash = path[i - 1] === '/'
    let end = -1
    switch (step.type) {
      case 'text':
        if (isFrom && path.startsWith(step.text, i)) end = i + step.text.length
        break
      case 'one':
        if (isFrom) end = endOfOne(step.set, path, i)
        break
      case 'run':
        isOpen = isFrom || (isOpen && !isBehindSlash)
        if (isOpen) end = i
        break
      case 'deep':
        isOpen ||= isFrom
        if (isOpen) end = i
        break
      case 'folders':
        if (isFrom || (isOpen && isBehindSlash)) end = i
        isOpen ||= isFrom
        break
      case 'below':
        if (isFrom && (i === path.length || path[i] === '/')) end = path.length
        break
    }
    if (end >= 0) {
      to[end] = 1
      hasReached = true
    }
  }
  return hasReached
}

/** The position after one character that is in the set and not a slash; -1 if there is no such character. */
function endOfOne(set: CharSet | undefined, path: string, start: number): number {
  const codePoint = path.codePointAt(start)
  if (codePoint === undefined) return -1
  const char = String.fromCodePoint(codePoint)
  if (char === '/' || (set !== undefined && !isInSet(set, char))) return -1
  return start + char.length
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path
  try {
    return path.split(/%2F/i).map(decodeURIComponent).join('%2F')
  } catch {
    // The path is not UTF-8, so it has no other form.
    return path
  }
}
