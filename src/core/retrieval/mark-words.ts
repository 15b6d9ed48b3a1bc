import { foldWord, normalizeText } from '../text/fold.ts'

/** A part of a text, and whether it is one of the searched words. */
export interface MarkedPart {
  readonly text: string
  readonly isMarked: boolean
}

/** Cuts a text at the given words, so that they can be highlighted. The parts together are the text. */
export function createWordMarker(terms: readonly string[]): (text: string) => readonly MarkedPart[] {
  const pattern = createPattern(terms)
  if (pattern === undefined) return (text) => [{ text, isMarked: false }]
  return (text) => {
    // `split` with a capturing group returns the matches at odd indexes.
    const parts = text.split(pattern).flatMap((part, i) => {
      return i % 2 === 1 ? [{ text: part, isMarked: true }] : markFolded(part, terms)
    })
    return parts.filter((part) => part.text !== '')
  }
}

/** Marks words with accents whose terms have none: `grusse` matches `Grüße`. */
function markFolded(text: string, terms: readonly string[]): readonly MarkedPart[] {
  if (!/[\u0080-\u024f\u1e00-\u1eff]/.test(text)) return [{ text, isMarked: false }]
  const isTerm = (word: string) => terms.includes(foldWord(normalizeText(word).toLowerCase()))
  return text.split(/([\p{L}\p{M}\p{N}]+)/u).map((part, i) => ({ text: part, isMarked: i % 2 === 1 && isTerm(part) }))
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
