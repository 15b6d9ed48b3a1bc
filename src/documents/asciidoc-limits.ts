import { isBlank, splitLines } from '../core/text/lines.ts'
import { DOCUMENT_LIMITS, DocumentError } from './document.ts'

/* Refuses input on which the AsciiDoc parser would take very long or produce very much output, before it is parsed. */

/** Larger texts take the parser seconds; a book of seven hundred pages has two million characters. */
export const MAX_ASCIIDOC = 2_000_000
/** The parser compares each section title with all others. */
const MAX_SECTIONS = 3000
/** The parser scans the rest of a paragraph for every mark in it. */
const MAX_PARAGRAPH = 50_000
/** Attribute values are truncated at this length. */
const MAX_VALUE = 4096

/** Throws for a text that exceeds the limits of the parser. */
export function checkAsciidoc(source: string): void {
  const lines = splitLines(source)
  const sections = lines.filter((line) => /^[=#]{1,6} /.test(line)).length
  if (sections > MAX_SECTIONS) throw new DocumentError('too-large', `it has ${sections} sections`)
  if (longestParagraph(lines) > MAX_PARAGRAPH) throw new DocumentError('too-large', 'a paragraph is too long')
  if (source.length + countExpandedChars(source) > DOCUMENT_LIMITS.characters)
    throw new DocumentError('too-large', 'its attributes expand to too much text')
}

/** Delimiters of blocks that are not paragraphs: code, and tables, whose cells are parsed one by one. */
const DELIMITER = /^(?:-{4,}|\.{4,}|\+{4,}|\/{4,}|`{3,}\S*|[|,:!]={3,})$/

function longestParagraph(lines: readonly string[]): number {
  let longest = 0
  let length = 0
  let delimiter: string | undefined
  for (const line of lines) {
    const text = line.trimEnd()
    const isDelimiter = DELIMITER.test(text)
    if (delimiter !== undefined) {
      if (text === delimiter || (delimiter === '```' && text === '```')) delimiter = undefined
      continue
    }
    if (isDelimiter) delimiter = text.startsWith('```') ? '```' : text
    length = isDelimiter || isBlank(line) ? 0 : length + line.length
    longest = Math.max(longest, length)
  }
  // An unclosed delimiter starts no block, so all lines are counted again as paragraphs.
  return delimiter === undefined
    ? longest
    : Math.max(longest, longestParagraph(lines.filter((line) => !DELIMITER.test(line.trimEnd()))))
}

/** Number of characters that the attribute references of a text expand to. */
function countExpandedChars(source: string): number {
  const lengths = new Map<string, number>()
  for (const [, name = '', value = ''] of source.matchAll(/^:([\w-]{1,100}):[ \t](.*)$/gm)) {
    const length = value.includes('{') || value.endsWith('\\') ? MAX_VALUE : Math.min(value.length, MAX_VALUE)
    lengths.set(name.toLowerCase(), Math.max(length, lengths.get(name.toLowerCase()) ?? 0))
  }
  let count = 0
  for (const [, name = ''] of source.matchAll(/\{([\w-]{1,100})\}/g)) count += lengths.get(name.toLowerCase()) ?? 0
  return count
}
