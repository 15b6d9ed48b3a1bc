import { BUILT_IN_SPACE, type VectorSpace } from '../embedding/space.ts'
import { PharosError } from '../errors.ts'
import { findVectorProblem, multiplyBytes, quantizeVector, restoreVector } from '../search/quantized-vector.ts'

/** Name of the entry that holds the vectors of a pack. */
export const VECTORS_FILE = 'vectors.bin'

/** Version of the entry. */
const VECTORS_VERSION = 1

/** A longer header is invalid. */
const MAX_HEADER_BYTES = 1024

const DAMAGED_HEADER = 'has a damaged header'

const INITIAL_BUFFER_BYTES = 64 * 1024

/** No model in use has longer vectors. */
const MAX_DIMENSIONS = 8192

/** Bytes before the numbers of a quantized vector: the size of one step. */
const STEP_BYTES = 4

/** A quantized vector is not exactly of length 1: each number is off by up to half a step. */
const LENGTH_TOLERANCE = 0.05

/** A chunk by its position in the pack, and how near it is to a question. */
export interface NearChunk {
  readonly position: number
  readonly similarity: number
}

/**
 * The vectors of the chunks of a pack, in the order of the chunks, with one byte for each dimension. A chunk without a vector has zeros,
 * so that vectors can be added one by one.
 */
export class PackVectors {
  readonly space: VectorSpace
  /** Number of chunks, including those without a vector. */
  readonly count: number
  readonly #bytes: Uint8Array
  // Two views of `#bytes`: `#view` for the steps, `#numbers` for the quantized numbers.
  readonly #view: DataView
  readonly #numbers: Int8Array
  readonly #width: number
  #embedded = 0

  constructor(space: VectorSpace, count: number, bytes?: Uint8Array) {
    this.space = space
    this.count = count
    this.#width = widthOf(space)
    this.#bytes = bytes ?? new Uint8Array(count * this.#width)
    const { buffer, byteOffset, byteLength } = this.#bytes
    this.#view = new DataView(buffer, byteOffset, byteLength)
    this.#numbers = new Int8Array(buffer, byteOffset, byteLength)
    for (let i = 0; bytes !== undefined && i < count; i++) if (this.has(i)) this.#embedded++
  }

  /** Number of chunks that have a vector. */
  get embedded(): number {
    return this.#embedded
  }

  has(position: number): boolean {
    // A chunk without a vector has a step of zero, and only that step has four zero bytes.
    return this.#view.getUint32(position * this.#width) !== 0
  }

  /** The quantized vector of a chunk. */
  at(position: number): Uint8Array {
    return this.#bytes.subarray(position * this.#width, (position + 1) * this.#width)
  }

  /** Sets the vector of a chunk. */
  set(position: number, vector: Float32Array): void {
    const problem = findVectorProblem(vector, this.space.dimensions)
    if (problem !== undefined) throw new TypeError(`the vector of chunk ${position} cannot be stored: ${problem}`)
    this.copy(position, quantizeVector(vector))
  }

  /** Copies a quantized vector to a chunk. */
  copy(position: number, quantized: Uint8Array): void {
    if (!this.has(position)) this.#embedded++
    this.at(position).set(quantized)
  }

  /** The cosine of a question with a chunk; null for a chunk without a vector. */
  compare(question: Float32Array, position: number): number | null {
    if (!this.has(position)) return null
    const start = position * this.#width
    return this.#view.getFloat32(start, true) * multiplyBytes(question, this.#numbers, start + STEP_BYTES)
  }

  /** The accepted chunks nearest to a question, nearest first, with a similarity of at least `minSimilarity`. */
  nearest(
    question: Float32Array,
    limit: number,
    minSimilarity: number,
    accept: (position: number) => boolean,
  ): NearChunk[] {
    const found: NearChunk[] = []
    for (let position = 0; position < this.count; position++) {
      const similarity = this.compare(question, position)
      if (similarity !== null && similarity >= minSimilarity) found.push({ position, similarity })
    }
    found.sort((a, b) => b.similarity - a.similarity || a.position - b.position)
    const near: NearChunk[] = []
    for (const one of found) {
      if (near.length === limit) break
      if (accept(one.position)) near.push(one)
    }
    return near
  }

  /** The vectors of some chunks, in the order of `positions`. */
  select(positions: readonly number[]): PackVectors {
    const selected = new PackVectors(this.space, positions.length)
    for (const [i, position] of positions.entries()) if (this.has(position)) selected.copy(i, this.at(position))
    return selected
  }

  /** The entry of a pack: a line of JSON that names the model, then the vectors. */
  write(): Uint8Array {
    const { model, fingerprint, dimensions } = this.space
    const header = { version: VECTORS_VERSION, model, fingerprint, dimensions, count: this.count }
    const line = new TextEncoder().encode(`${JSON.stringify(header)}\n`)
    const entry = new Uint8Array(line.length + this.#bytes.length)
    entry.set(line)
    entry.set(this.#bytes, line.length)
    return entry
  }
}

/**
 * Parses the vectors of an untrusted pack: their size must fit the number of chunks, and each must be a valid vector. Memory is allocated
 * for received bytes, never for a size that the header claims. Throws `PACK_INVALID` for invalid data, and `PACK_VERSION` for an entry of a
 * later version.
 */
export function parsePackVectors(pieces: Iterable<Uint8Array>, count: number, name: string): PackVectors {
  const check: (holds: boolean, problem: string) => asserts holds = (holds, problem) => {
    if (!holds) throw new PharosError('PACK_INVALID', { path: name, problem: `${VECTORS_FILE} ${problem}` })
  }
  const source = pieces[Symbol.iterator]()
  let beginning = new Uint8Array()
  let end = -1
  while (end < 0) {
    const { value, done } = source.next()
    check(done !== true && beginning.length <= MAX_HEADER_BYTES, DAMAGED_HEADER)
    beginning = join(beginning, value)
    end = beginning.indexOf(0x0a)
  }
  const { version, model, fingerprint, dimensions, count: headerCount } = parseHeader(beginning.subarray(0, end))
  check(typeof version === 'number', DAMAGED_HEADER)
  if (version > VECTORS_VERSION) throw new PharosError('PACK_VERSION', { found: version, supported: VECTORS_VERSION })
  check(typeof model === 'string' && /^[\w./:@-]{1,200}$/.test(model), 'has no valid "model"')
  check(typeof fingerprint === 'string' && /^[0-9a-f]{64}$/.test(fingerprint), 'has no valid "fingerprint"')
  check(isCount(dimensions) && dimensions <= MAX_DIMENSIONS, 'has no valid "dimensions"')
  check(headerCount === count, `is for ${JSON.stringify(headerCount)} chunks, the pack has ${count}`)
  const isBuiltIn = fingerprint === BUILT_IN_SPACE.fingerprint
  check(!isBuiltIn || dimensions === BUILT_IN_SPACE.dimensions, 'has vectors whose size does not match their model')
  const space = { model, fingerprint, dimensions }
  const size = count * widthOf(space)
  let bytes = new Uint8Array(Math.min(size, INITIAL_BUFFER_BYTES))
  let length = 0
  const append = (piece: Uint8Array) => {
    check(length + piece.length <= size, 'is longer than its vectors')
    if (length + piece.length > bytes.length) {
      const grown = new Uint8Array(Math.min(size, 2 * (length + piece.length)))
      grown.set(bytes.subarray(0, length))
      bytes = grown
    }
    bytes.set(piece, length)
    length += piece.length
  }
  append(beginning.subarray(end + 1))
  for (let step = source.next(); step.done !== true; step = source.next()) append(step.value)
  check(length === size, `is cut off: it has ${length} bytes of vectors instead of ${size}`)
  const vectors = new PackVectors(space, count, bytes)
  for (let i = 0; i < count; i++) {
    check(!vectors.has(i) || isVector(vectors.at(i)), `has an invalid vector for chunk ${i + 1}`)
  }
  return vectors
}

/** Returns a message if the vectors are of another model than `space`, so that they cannot be compared. */
export function describeModelMismatch(vectors: PackVectors, space: VectorSpace): string | undefined {
  if (vectors.space.fingerprint === space.fingerprint) return undefined
  return `the pack has vectors of another model (${vectors.space.model}) than the built-in one (${space.model}); answered by words alone`
}

function widthOf({ dimensions }: VectorSpace): number {
  return STEP_BYTES + dimensions
}

function isVector(quantized: Uint8Array): boolean {
  let squares = 0
  for (const value of restoreVector(quantized)) squares += value * value
  return Math.abs(Math.sqrt(squares) - 1) <= LENGTH_TOLERANCE
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** The unchecked values of the header. */
type Header = { readonly [Name in 'version' | 'model' | 'fingerprint' | 'dimensions' | 'count']?: unknown }

function parseHeader(line: Uint8Array): Header {
  try {
    const header: unknown = JSON.parse(new TextDecoder().decode(line))
    return typeof header === 'object' && header !== null ? header : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
