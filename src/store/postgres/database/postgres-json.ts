/** A JSON escape: group 1 matches NUL and surrogates, which PostgreSQL cannot read. */
const ESCAPES = /\\(?:(u0000|ud[89a-f][\da-f]{2})|.)/g

/**
 * Writes JSON that SQL queries read, with U+FFFD for NUL and lone surrogates. PostgreSQL rejects a whole value if a text in it contains
 * them, as foreign addresses and files may.
 */
export function writePostgresJson(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPES, (found, isUnreadable) => (isUnreadable ? '\uFFFD' : found))
}
