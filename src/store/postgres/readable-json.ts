/** An escape in JSON: of NUL or of half a character, or any other. */
const ESCAPES = /\\(?:(u0000|ud[89a-f][\da-f]{2})|.)/g

/**
 * JSON that questions look into. PostgreSQL refuses to read any of it where one text in it has a NUL or half a character, which
 * addresses and files of others may have.
 */
export function readableJson(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPES, (found, isUnreadable) => (isUnreadable ? '\uFFFD' : found))
}
