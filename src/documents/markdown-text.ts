import { closesFence, type Fence, readFence } from '../core/extract/dialects/fences.ts'
import { splitLines } from '../core/text/lines.ts'

/* Small pieces of Markdown that several converters write. */

/** Writes a code block with a fence that the code cannot close. */
export function writeFence(code: string, language: string): string {
  let fence = '```'
  for (const [, run = ''] of code.matchAll(/^ {0,3}(`{3,})/gm)) if (run.length >= fence.length) fence = `${run}\``
  const name = /^[\w+#.-]{1,30}$/.test(language) ? language : ''
  return `${fence}${name}\n${code}\n${fence}`
}

/** Closes the last open fence, so that following text is not part of it. */
export function closeFences(text: string): string {
  let fence: Fence | undefined
  for (const line of splitLines(text)) {
    if (fence === undefined) fence = readFence(line)
    else if (closesFence(line, fence)) fence = undefined
  }
  return fence === undefined ? text : `${text}\n${fence.marker}`
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
