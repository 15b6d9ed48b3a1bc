import type { JSX } from 'preact'

/** Text with the given words marked. Whatever the text holds, it stays text. */
export function MarkedText({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  const pattern = createPattern(terms)
  if (pattern === undefined) return <>{text}</>
  // What is caught in parentheses comes back at every second place.
  return <>{text.split(pattern).map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}</>
}

function createPattern(terms: readonly string[]): RegExp | undefined {
  const words = terms.filter((term) => term.trim() !== '').sort((a, b) => b.length - a.length)
  if (words.length === 0) return undefined
  // Nothing else may be escaped in a pattern of Unicode, a hyphen least of all.
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'giu')
}
