import { findMatches } from '../../../src/core/search/snippet.ts'
import { textAnalyzer } from '../../../src/core/text/analyzer.ts'

/** Lines before the one with the most terms, and the approximate length of the snippet. */
const LINES_BEFORE = 2
const MAX_CHARS = 400

/** The lines of a text around the one that has the most distinct terms, as they are; `…` marks omitted text. */
export function writeSnippetLines(text: string, terms: readonly string[]): string {
  const lines = text.trimEnd().split('\n')
  const wanted = new Set(terms)
  const counts = lines.map(
    (line) =>
      new Set(findMatches(line, wanted, textAnalyzer.visitTokens, textAnalyzer.findParts).map(({ term }) => term)).size,
  )
  const best = counts.indexOf(Math.max(...counts))
  const first = Math.max(0, best - LINES_BEFORE)
  const shown: string[] = []
  let chars = 0
  for (const line of lines.slice(first)) {
    // The line with the terms is always shown.
    if (chars > MAX_CHARS && first + shown.length > best) break
    // Several empty lines look like one.
    if (line.trim() === '' && shown.at(-1)?.trim() === '') continue
    shown.push(line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line)
    chars += line.length
  }
  const isCut = !lines.at(-1)?.startsWith(shown.at(-1)?.replace(/…$/, '') ?? '')
  return `${first > 0 ? '…\n' : ''}${shown.join('\n').trimEnd()}${isCut ? '\n…' : ''}`
}
