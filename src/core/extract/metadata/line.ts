import { clipText } from '../../text/lines.ts'
import { collapseText } from '../write/escape.ts'

/** The most characters of what a page says about itself; more is not said but smuggled. */
export const MAX_TITLE = 500
export const MAX_DESCRIPTION = 2000
export const MAX_AUTHOR = 300
/** For names of languages and of media types. */
export const MAX_NAME = 100

/** A statement of a page about itself on one line, without characters that nobody sees; null when nothing is left. */
export function cleanLine(text: string, most: number): string | null {
  return clipText(collapseText(text).trim(), most).trimEnd() || null
}
