import * as zlib from 'node:zlib'
import { codeOf } from '../core/errors.ts'
import { joinBytes } from '../core/join-bytes.ts'

/** Supported content codings, in order of preference. */
export const ACCEPTED_ENCODINGS = 'gzip, br, zstd, deflate'

/** A content coding (RFC 9110, section 8.4.1). */
export type Encoding = 'gzip' | 'br' | 'zstd' | 'deflate'

/** Limit of stacked content codings; real servers never need more. */
const MAX_ENCODINGS = 3

/**
 * Parses a Content-Encoding header into the codings in decoding order, or undefined when one is unknown or there are more than {@link
 * MAX_ENCODINGS}.
 */
export function parseEncodings(field: string): Encoding[] | undefined {
  const encodings: Encoding[] = []
  for (const token of field.toLowerCase().split(',')) {
    const name = token.trim()
    if (name === '' || name === 'identity') continue
    const encoding = ENCODINGS.get(name)
    if (encoding === undefined || encodings.length === MAX_ENCODINGS) return undefined
    encodings.unshift(encoding)
  }
  return encodings
}

/** Result of decoding a body. `corrupt` includes a body that ends too early. */
export type DecodeResult =
  | { readonly type: 'decoded'; readonly bytes: Uint8Array }
  | { readonly type: 'too-large' }
  | { readonly type: 'corrupt' }

/** Controls the source of a coded body's bytes. */
export interface FlowControl {
  pause(): void
  resume(): void
  /** Called when no more bytes are needed. */
  stop(): void
  /** Returns a promise to wait for before the output exceeds this many bytes; undefined to continue at once. */
  waitForRoom?(bytes: number): Promise<void> | undefined
}

/** Size limit of a body, and whether a larger one is truncated instead of refused. */
export interface BodySize {
  readonly maxBytes: number
  readonly isClipped: boolean
}

/** Bodies up to this size are decoded in one call, which is many times cheaper than a stream. */
const SMALL_BYTES = 64 * 1024

/** Output limit of decoding in one call, so that the call never blocks the event loop for long. */
const SMALL_OUTPUT_BYTES = 2 ** 20

/** Size of each output buffer of a decoder. */
const CHUNK_BYTES = 64 * 1024

/** Decodes one body as it arrives. No coding may produce more than `maxBytes`; memory stays below a small multiple of that. */
export class BodyDecoder {
  readonly #encodings: readonly Encoding[]
  readonly #size: BodySize
  readonly #flow: FlowControl
  /** Bytes that arrived before a decoding stream was needed. */
  #buffered: Uint8Array[] = []
  #bufferedSize = 0
  /** Decodes the outermost coding of a large body; undefined while the body is small. */
  #stream: DecodingStream | undefined

  constructor(encodings: readonly Encoding[], size: BodySize, flow: FlowControl) {
    this.#encodings = encodings
    // A body with several codings cannot be decoded from its start alone.
    this.#size = { ...size, isClipped: size.isClipped && encodings.length === 1 }
    this.#flow = flow
  }

  /** Takes the next bytes of the body. */
  write(chunk: Uint8Array): void {
    if (this.#stream !== undefined) {
      this.#stream.write(chunk)
      return
    }
    this.#buffered.push(chunk)
    this.#bufferedSize += chunk.length
    const [encoding] = this.#encodings
    if (this.#bufferedSize <= SMALL_BYTES || encoding === undefined) return
    const beginning = this.#takeBuffer()
    this.#stream = openDecodingStream(encoding, beginning, this.#size, this.#flow)
    this.#stream.write(beginning)
  }

  /** Ends the body and returns the result. */
  async end(): Promise<DecodeResult> {
    // A response without a body may still have a Content-Encoding header, RFC 9110 section 8.4.
    if (this.#stream === undefined && this.#bufferedSize === 0) return { type: 'decoded', bytes: new Uint8Array() }
    let result: DecodeResult = this.#stream ? await this.#stream.end() : { type: 'decoded', bytes: this.#takeBuffer() }
    for (const encoding of this.#encodings.slice(this.#stream ? 1 : 0)) {
      if (result.type !== 'decoded') break
      result =
        decodeSmall(result.bytes, encoding, this.#size) ??
        (await decodeLarge(result.bytes, encoding, this.#size, this.#flow))
    }
    return result
  }

  /** Frees all buffers; nothing is decoded afterwards. */
  close(): void {
    this.#buffered = []
    this.#stream?.close()
  }

  #takeBuffer(): Uint8Array {
    const bytes = joinBytes(this.#buffered, this.#bufferedSize)
    this.#buffered = []
    return bytes
  }
}

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  ['deflate', 'deflate'],
])

/** Decodes in one call. Returns undefined when the output is too large for that. */
function decodeSmall(
  bytes: Uint8Array,
  encoding: Encoding,
  { maxBytes, isClipped }: BodySize,
): DecodeResult | undefined {
  if (bytes.length > SMALL_BYTES) return undefined
  const maxOutputLength = Math.min(maxBytes, SMALL_OUTPUT_BYTES)
  try {
    const output = inflate(bytes, encoding, { maxOutputLength, chunkSize: CHUNK_BYTES })
    return { type: 'decoded', bytes: joinBytes([output], output.length) }
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return { type: 'corrupt' }
    return maxOutputLength < maxBytes || isClipped ? undefined : { type: 'too-large' }
  }
}

function inflate(
  bytes: Uint8Array,
  encoding: Encoding,
  options: { maxOutputLength: number; chunkSize: number },
): Uint8Array {
  switch (encoding) {
    case 'gzip':
      return zlib.gunzipSync(bytes, options)
    case 'br':
      return zlib.brotliDecompressSync(bytes, options)
    case 'zstd':
      return zlib.zstdDecompressSync(bytes, { ...options, params: ZSTD_PARAMS })
    case 'deflate':
      return hasZlibHeader(bytes) ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options)
  }
}

async function decodeLarge(
  bytes: Uint8Array,
  encoding: Encoding,
  size: BodySize,
  flow: FlowControl,
): Promise<DecodeResult> {
  const waitForRoom = (length: number) => flow.waitForRoom?.(length)
  const stream = openDecodingStream(encoding, bytes, size, { pause() {}, resume() {}, stop() {}, waitForRoom })
  stream.write(bytes)
  return await stream.end()
}

/** One coding that is being decoded in the thread pool. */
interface DecodingStream {
  write(chunk: Uint8Array): void
  end(): Promise<DecodeResult>
  close(): void
}

function openDecodingStream(
  encoding: Encoding,
  beginning: Uint8Array,
  size: BodySize,
  flow: FlowControl,
): DecodingStream {
  const { maxBytes, isClipped } = size
  const stream = createStream(encoding, beginning)
  const output: Uint8Array[] = []
  let length = 0
  const { promise, resolve } = Promise.withResolvers<DecodeResult>()
  const fail = (type: 'too-large' | 'corrupt'): void => {
    stream.destroy()
    output.length = 0
    resolve({ type })
    flow.stop()
  }
  const clip = (): void => {
    resolve({ type: 'decoded', bytes: joinBytes(output, length).slice(0, maxBytes) })
    stream.destroy()
    flow.stop()
  }
  stream.on('data', (chunk: Uint8Array) => {
    length += chunk.length
    if (length > maxBytes && !isClipped) return fail('too-large')
    output.push(chunk)
    if (length > maxBytes) return clip()
    const room = flow.waitForRoom?.(length)
    if (room === undefined) return
    stream.pause()
    void room.then(() => stream.resume())
  })
  stream.on('end', () => resolve({ type: 'decoded', bytes: joinBytes(output, length) }))
  stream.on('error', () => fail('corrupt'))
  stream.on('drain', () => flow.resume())
  return {
    write(chunk) {
      if (!stream.destroyed && !stream.write(chunk)) flow.pause()
    },
    end() {
      if (!stream.destroyed) stream.end()
      return promise
    },
    close() {
      stream.destroy()
      output.length = 0
    },
  }
}

function createStream(
  encoding: Encoding,
  beginning: Uint8Array,
): zlib.Gunzip | zlib.BrotliDecompress | zlib.ZstdDecompress {
  const options = { chunkSize: CHUNK_BYTES }
  switch (encoding) {
    case 'gzip':
      return zlib.createGunzip(options)
    case 'br':
      return zlib.createBrotliDecompress(options)
    case 'zstd':
      return zlib.createZstdDecompress({ ...options, params: ZSTD_PARAMS })
    case 'deflate':
      return hasZlibHeader(beginning) ? zlib.createInflate(options) : zlib.createInflateRaw(options)
  }
}

/** RFC 9659: a decoder for the web needs a window of no more than 8 MB. */
const ZSTD_PARAMS: Readonly<Record<number, number>> = { [zlib.constants.ZSTD_d_windowLogMax]: 23 }

/** `deflate` means the zlib format (RFC 1950, section 2.2), but some servers send the compressed data without the zlib header. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0
}
