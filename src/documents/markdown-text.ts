import { closesFence, type Fence, readFence } from '../core/extract/dialects/fences.ts'
import { splitLines } from '../core/text/lines.ts'

/* Small pieces of Markdown that several converters write. */

/** A fence that its code cannot close. */
export function writeFence(code: string, language: string): string {
  let fence = '```'
  for (const [, run = ''] of code.matchAll(/^ {0,3}(`{3,})/gm)) if (run.length >= fence.length) fence = `${run}\``
  const name = /^[\w+#.-]{1,30}$/.test(language) ? language : ''
  return `${fence}${name}\n${code}\n${fence}`
}

/** Markdown whose last fence is closed, so that what follows it is no part of that. */
export function closeFences(text: string): string {
  let fence: Fence | undefined
  for (const line of splitLines(text)) {
    if (fence === undefined) fence = readFence(line)
    else if (closesFence(line, fence)) fence = undefined
  }
  return fence === undefined ? text : `${text}\n${fence.marker}`
}

/** Text in a cell of a table: on one line, with its bars escaped. */
export function writeCellText(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<!\\)\|/g, '\\|')
}

/** Most values of tables have no sign of these. */
const MARKS = /[\\`*[\]<>|~_]/

/** Text that is to stand in Markdown as it is: `snake_case` is no emphasis, other marks get a backslash. */
export function escapeMarkdown(text: string): string {
  if (!MARKS.test(text)) return text
  return text.replace(/[\\`*[\]<>|~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
}
