import { clipText } from '../../text/lines.ts'
import { collapseText } from '../write/escape.ts'

/** Longest metadata values in characters; longer ones are spam. */
export const MAX_TITLE = 500
export const MAX_DESCRIPTION = 2000
export const MAX_AUTHOR = 300
/** For names of languages and of media types. */
export const MAX_NAME = 100

/** Metadata text on one line, without invisible characters; null when it is empty. */
export function cleanLine(text: string, most: number): string | null {
  return clipText(collapseText(text).trim(), most).trimEnd() || null
}
