/**
 * Describes what is wrong with a header to be sent; undefined when it is valid. The value may be a secret, so the message does not contain
 * it.
 */
export function findFieldProblem(name: string, value: string): string | undefined {
  if (!FIELD_NAME.test(name)) return `${JSON.stringify(name)} is not the name of a header field`
  if (RESERVED_FIELDS.has(name.toLowerCase())) return `the header field ${name} cannot be set`
  return isFieldValue(value) ? undefined : `the value of the header field ${name} has characters that cannot be sent`
}

/** Whether a text is a valid header value. */
export function isFieldValue(text: string): boolean {
  return FIELD_VALUE.test(text)
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers that belong to the connection or determine the kind of response, and that only this program may set. */
const RESERVED_FIELDS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'accept-encoding',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
])

/** The value of a header that may occur once; null when it is missing or its values differ. */
export function singleValue(field: string | string[] | undefined): string | null {
  if (field === undefined) return null
  if (typeof field === 'string') return field
  return new Set(field).size === 1 ? (field[0] ?? null) : null
}

export function joinValues(field: string | string[] | undefined): string | undefined {
  return typeof field === 'object' ? field.join(', ') : field
}

/** Whether a validator can be sent back as received. */
export function isSendable(validator: string | null | undefined): validator is string {
  return typeof validator === 'string' && validator !== '' && isFieldValue(validator)
}

/** Joins headers, with names in lower case. Later values replace earlier ones. */
export function mergeFields(
  ...sets: readonly (Readonly<Record<string, string>> | undefined)[]
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    sets.flatMap((headers = {}) => Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )
}
