const OPEN = 0x5b
const CLOSE = 0x5d
const PAREN_OPEN = 0x28
const PAREN_CLOSE = 0x29

/**
 * The share of visible letters and digits of Markdown that are link text, from 0 to 1: close to 1 in navigation, contents and indexes. It
 * takes one pass over the characters, because it runs for every hit.
 */
export function linkShareOf(markdown: string): number {
  if (!markdown.includes('](')) return 0
  /** Visible letters before each bracket that is open. */
  const opened: number[] = []
  let visible = 0
  let linked = 0
  /** Letters up to here are counted as linked already. */
  let counted = 0
  for (let i = 0; i < markdown.length; i++) {
    const code = markdown.charCodeAt(i)
    if (code === OPEN) opened.push(visible)
    else if (code === CLOSE) {
      const from = opened.pop()
      if (from === undefined || markdown.charCodeAt(i + 1) !== PAREN_OPEN) continue
      const end = findTargetEnd(markdown, i + 2)
      if (end < 0) continue
      linked += visible - Math.max(from, counted)
      counted = visible
      i = end
    } else if (isWordCharacter(code)) visible++
  }
  return visible === 0 ? 0 : linked / visible
}

/** Longest address that is skipped; a longer one counts as text. */
const MAX_TARGET_CHARS = 2000

/** Position of the parenthesis that closes the address of a link, or -1. */
function findTargetEnd(markdown: string, start: number): number {
  const last = Math.min(markdown.length, start + MAX_TARGET_CHARS)
  let depth = 0
  for (let i = start; i < last; i++) {
    const code = markdown.charCodeAt(i)
    if (code === PAREN_OPEN) depth++
    else if (code === PAREN_CLOSE && depth-- === 0) return i
  }
  return -1
}

/** Letters and digits; all characters beyond ASCII count. */
function isWordCharacter(code: number): boolean {
  return code > 0x7f || (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
}
