/** What is wrong with a field somebody wants to send, in words; undefined for nothing. Its value may be a secret and is not repeated. */
export function findFieldProblem(name: string, value: string): string | undefined {
  if (!FIELD_NAME.test(name)) return `${JSON.stringify(name)} is not the name of a header field`
  if (OWN_FIELDS.has(name.toLowerCase())) return `the header field ${name} cannot be set`
  return isFieldValue(value) ? undefined : `the value of the header field ${name} has characters that cannot be sent`
}

/** Whether a text can be the value of a field. */
export function isFieldValue(text: string): boolean {
  return FIELD_VALUE.test(text)
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Fields that belong to the connection or decide what kind of answer comes, and are ours alone. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
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
