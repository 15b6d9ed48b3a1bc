/** A JSON escape: group 1 matches NUL and surrogates, which PostgreSQL cannot read. */
const ESCAPES = /\\(?:(u0000|ud[89a-f][\da-f]{2})|.)/g

/**
 * JSON that SQL queries look into. PostgreSQL rejects the whole value when a text in it contains NUL or a lone surrogate, which foreign
 * addresses and files may contain.
 */
export function writePostgresJson(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPES, (found, isUnreadable) => (isUnreadable ? '\uFFFD' : found))
}
