import { fenceFor } from '../core/extract/write/escape.ts'

/* Small pieces of Markdown that several converters write. */

/** Writes a code block with a fence that the code cannot close. */
export function writeFence(code: string, language: string): string {
  const fence = fenceFor(code, 3)
  const name = /^[\w+#.-]{1,30}$/.test(language) ? language : ''
  return `${fence}${name}\n${code}\n${fence}`
}

/** Text of a table cell: on one line, with escaped bars. */
export function writeCellText(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<!\\)\|/g, '\\|')
}

/** Characters that may need a backslash; most values of tables contain none. */
const MARKDOWN_CHARACTERS = /[\\`*[\]<>|~_]/

/** Escapes text so that Markdown shows it literally: an underscore within a word stays, other marks get a backslash. */
export function escapeMarkdown(text: string): string {
  if (!MARKDOWN_CHARACTERS.test(text)) return text
  return text.replace(/[\\`*[\]<>|~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
}
