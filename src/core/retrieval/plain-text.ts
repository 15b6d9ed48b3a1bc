/** A link or image: its text counts, not where it leads. A bracket that is escaped opens none. */
const LINK = /(?<!\\)!?\[((?:[^[\]\\]|\\.)*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\)/g

/** Marks at the beginning of a line: of headings, quotes and list items, and the line under the header of a table. */
const LINE_MARK =
  /^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+(?:\[![A-Z]+\][ \t]*)?|(?:[-*+]|\d{1,9}[.)])[ \t]+|[-|:][-|: \t]*$|`{3,}.*$|~{3,}.*$)/gm

/** Bars between cells with the space around them, looked for only where that begins: else each space of many is tried anew. */
const BARS = /(?<![ \t])[ \t]*\|[ \t|]*/g

/** Markdown as one reads it in a line: without the marks of its blocks and without the targets of links. */
export function writePlain(markdown: string): string {
  return markdown
    .replace(LINK, '$1')
    .replace(LINE_MARK, '')
    .replace(BARS, ' ')
    .replace(/\\([\\`*_[\]<>])/g, '$1')
}
