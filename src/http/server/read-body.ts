import { messageOf, PharosError, usageError } from '../../core/errors.ts'

/** Default limit for a request body. */
const MAX_BYTES = 1024 * 1024

/** Reads the whole body, and rejects it as soon as it exceeds the limit. */
export async function readBody(request: Request, maxBytes: number = MAX_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new PharosError('BODY_TOO_LARGE', { most: maxBytes })
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of iterate(request.body)) {
    bytes += part.byteLength
    if (bytes > maxBytes) throw tooLarge()
    parts.push(part)
  }
  const joined = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.byteLength
  }
  return joined
}

/** Iterates over the chunks of a stream, and cancels the stream when the consumer stops early. */
async function* iterate(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader()
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isDone = done
      if (done) return
      yield value
    }
  } finally {
    if (!isDone) await reader.cancel().catch(() => undefined)
  }
}

/** The body, parsed as JSON; undefined if the request has no body. */
export async function readJson(request: Request, maxBytes?: number): Promise<unknown> {
  const bytes = await readBody(request, maxBytes)
  if (bytes.length === 0) return undefined
  const type = request.headers.get('content-type') ?? 'without a type'
  if (!/^application\/(?:[\w.+-]*\+)?json\b/i.test(type))
    throw new PharosError('BODY_NOT_JSON', { type: type.slice(0, 100) })
  const excess = findExcess(bytes)
  if (excess !== undefined) throw usageError(`body: it ${excess}`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const why = messageOf(error)
    throw usageError(`body: it is not valid JSON: ${why.slice(0, 200)}`)
  }
}

/** Limit for nested JSON: no valid request is deeper, and recursion into deeper values could overflow the stack. */
const MAX_DEPTH = 64
/** Limit for objects, lists and commas: the largest import has 700,000. Many more would block the server while they are parsed. */
const MAX_VALUES = 750_000

/** Why JSON is refused before it is parsed; undefined if it is not. A single pass, because the body may be hostile. */
function findExcess(bytes: Uint8Array): string | undefined {
  let depth = 0
  let values = 0
  let isInString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) isInString = !isInString
    else if (isInString) i += byte === BACKSLASH ? 1 : 0
    else if (byte === CLOSED_LIST || byte === CLOSED_OBJECT) depth--
    else if (byte === COMMA) values++
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++
      depth++
      if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`
    }
    if (values > MAX_VALUES) return `has more than ${MAX_VALUES} values: send less at once`
  }
  return undefined
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSED_LIST, OPEN_OBJECT, CLOSED_OBJECT] = new TextEncoder().encode(
  '"\\,[]{}',
)

/** The fields of a form. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBody(request)))
}
