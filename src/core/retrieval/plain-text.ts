/** A link or image: its text counts, not its target. An escaped bracket does not open one. */
const LINK = /(?<!\\)!?\[((?:[^[\]\\]|\\.)*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\)/g

/** Marks at the beginning of a line, of headings, quotes and list items; lines under the header of a table and lines of a fence marker. */
const LINE_MARK =
  /^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+(?:\[![A-Z]+\][ \t]*)?|(?:[-*+]|\d{1,9}[.)])[ \t]+|[-|:][-|: \t]*$|`{3,}.*$|~{3,}.*$)/gm

/**
 * Bars between cells with the space around them, matched only from the start of the space: otherwise each of many spaces would be retried.
 */
const BARS = /(?<![ \t])[ \t]*\|[ \t|]*/g

/** Markdown as plain text: without block marks and link targets. */
export function writePlain(markdown: string): string {
  return markdown
    .replace(LINK, '$1')
    .replace(LINE_MARK, '')
    .replace(BARS, ' ')
    .replace(/\\([\\`*_[\]<>])/g, '$1')
}
