import { decodeHTML } from 'entities/decode'
import { parseHtml } from '../../html/parse-html.ts'
import { linkBaseOf } from '../links.ts'
import { normalizeContent } from '../normalize/content.ts'
import { writeMarkdown } from '../write/markdown.ts'
import { textOfExpression } from './scanner.ts'

/** Elements whose content is read as a whole: code and tables. */
export const WHOLE_ELEMENTS: ReadonlySet<string> = new Set(['pre', 'code', 'tt', 'samp', 'table', 'codeblock'])

export function codeText(source: string): string {
  const expression = /^\s*\{([\s\S]*)\}\s*$/.exec(source)?.[1]
  if (expression !== undefined) return textOfExpression(expression)
  return decodeHTML(source.replace(/<\/?[A-Za-z][^<>]{0,2000}>/g, ''))
}

/** Converts an HTML table to Markdown. Its links stay as written. */
export function writeTable(html: string): string {
  const root = parseHtml(html)
  normalizeContent(root)
  return writeMarkdown([root], linkBaseOf({ url: '', body: '', relativeLinks: 'kept' }, '')).markdown.trimEnd()
}
