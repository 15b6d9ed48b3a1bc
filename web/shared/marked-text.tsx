import type { JSX } from 'preact'
import { foldWord, normalizeText } from '../../src/core/text/fold.ts'

/** Text with the given terms highlighted. The text is never interpreted as HTML. */
export function MarkedText({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  const pattern = createPattern(terms)
  if (pattern === undefined) return <>{text}</>
  // `split` with a capturing group returns the matches at odd indexes.
  return (
    <>
      {text.split(pattern).map((part, i) => {
        return i % 2 === 1 ? <mark key={i}>{part}</mark> : <FoldedWords key={i} text={part} terms={terms} />
      })}
    </>
  )
}

/** Highlights words with accents whose terms have none: `grusse` matches `Grüße`. */
function FoldedWords({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  if (!/[\u0080-\u024f\u1e00-\u1eff]/.test(text)) return <>{text}</>
  const isTerm = (word: string) => terms.includes(foldWord(normalizeText(word).toLowerCase()))
  return (
    <>
      {text.split(/([\p{L}\p{M}\p{N}]+)/u).map((part, i) => {
        return i % 2 === 1 && isTerm(part) ? <mark key={i}>{part}</mark> : part
      })}
    </>
  )
}

/** Scripts without spaces between words; their terms are overlapping pairs of characters. */
const SPACELESS = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+$/u

function createPattern(terms: readonly string[]): RegExp | undefined {
  const words = terms.filter((term) => term.trim() !== '' && !SPACELESS.test(term)).sort((a, b) => b.length - a.length)
  const pairs = terms.filter((term) => SPACELESS.test(term))
  // With the `u` flag only syntax characters may be escaped; an escaped hyphen is an error.
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  const patterns = [
    ...(words.length === 0 ? [] : [`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`]),
    ...(pairs.length === 0 ? [] : [`[${pairs.join('')}]{${Math.min(2, ...pairs.map((pair) => [...pair].length))},}`]),
  ]
  return patterns.length === 0 ? undefined : new RegExp(`(${patterns.join('|')})`, 'giu')
}
