import { clipText } from '../../text/lines.ts'
import { collapseText } from '../write/escape.ts'

/** Maximum lengths of metadata values in characters. Longer values are spam and are cut. */
export const MAX_TITLE = 500
export const MAX_DESCRIPTION = 2000
export const MAX_AUTHOR = 300
/** For languages, media types, types and sections. */
export const MAX_NAME = 100

/** Metadata text on one line, without invisible characters; null when it is empty. */
export function cleanLine(text: string, maxChars: number): string | null {
  return clipText(collapseText(text).trim(), maxChars).trimEnd() || null
}
