import { isBlank } from '../../text/lines.ts'
import { cleanText, escapeLines, escapeText, fenceFor } from '../write/escape.ts'

/** Lines that are laid out by hand: indented, in columns, code, settings, names alone. */
const PREFORMATTED_LINE =
  /^(?: {2,}|\t)|\S {3,}\S|\t|[{};\\]$|^\s*[#/;*<>|$+=-]|^[\w.-]+\s*[=:](?:\s*\S+)?$|^[\w./-]+[=@]\S*$/

/** Prose may have this share of laid-out lines, such as an underlined heading or a signature. */
const MAX_PREFORMATTED_SHARE = 0.2

/** Converts plain text to Markdown that shows it unchanged: paragraphs for prose, else one code block. */
export function writePlain(lines: readonly string[]): { markdown: string; hiddenChars: number } {
  const text = lines.join('\n')
  const clean = cleanText(text)
  const hiddenChars = text.length - clean.length
  const nonBlank = lines.filter((line) => !isBlank(line))
  const isProse =
    nonBlank.filter((line) => PREFORMATTED_LINE.test(line)).length <= MAX_PREFORMATTED_SHARE * nonBlank.length
  const fence = fenceFor(clean, 3)
  return { markdown: isProse ? writeProse(clean) : `${fence}\n${clean}\n${fence}`, hiddenChars }
}

function writeProse(text: string): string {
  return text
    .split(/\n(?:[ \t]*\n)+/)
    .map((paragraph) =>
      escapeLines(
        paragraph
          .split('\n')
          .map((line) => escapeText(line.trim(), '', false))
          .join('\n'),
      ),
    )
    .join('\n\n')
}
