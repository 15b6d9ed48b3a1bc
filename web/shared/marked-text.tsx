import type { JSX } from 'preact'
import { foldWord, normalizeText } from '../../src/core/text/fold.ts'

/** Text with the given words marked. Whatever the text holds, it stays text. */
export function MarkedText({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  const pattern = createPattern(terms)
  if (pattern === undefined) return <>{text}</>
  // What is caught in parentheses comes back at every second place.
  return (
    <>
      {text.split(pattern).map((part, i) => {
        return i % 2 === 1 ? <mark key={i}>{part}</mark> : <FoldedWords key={i} text={part} terms={terms} />
      })}
    </>
  )
}

/** Words whose letters have accents are found without them: `Grüße` by `grusse`. */
function FoldedWords({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  if (!/[\u0080-\u024f\u1e00-\u1eff]/.test(text)) return <>{text}</>
  const isWanted = (word: string) => terms.includes(foldWord(normalizeText(word).toLowerCase()))
  return (
    <>
      {text.split(/([\p{L}\p{M}\p{N}]+)/u).map((part, i) => {
        return i % 2 === 1 && isWanted(part) ? <mark key={i}>{part}</mark> : part
      })}
    </>
  )
}

/** Scripts without spaces, whose words are looked for as pairs of characters that overlap. */
const SPACELESS = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+$/u

function createPattern(terms: readonly string[]): RegExp | undefined {
  const words = terms.filter((term) => term.trim() !== '' && !SPACELESS.test(term)).sort((a, b) => b.length - a.length)
  const pairs = terms.filter((term) => SPACELESS.test(term))
  // Nothing else may be escaped in a pattern of Unicode, a hyphen least of all.
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  const patterns = [
    ...(words.length === 0 ? [] : [`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`]),
    ...(pairs.length === 0 ? [] : [`[${pairs.join('')}]{${Math.min(2, ...pairs.map((pair) => [...pair].length))},}`]),
  ]
  return patterns.length === 0 ? undefined : new RegExp(`(${patterns.join('|')})`, 'giu')
}
