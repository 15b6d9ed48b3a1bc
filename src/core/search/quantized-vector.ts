/** How far the length of a vector may be from 1. */
const LENGTH_TOLERANCE = 1e-3
/** Numbers that lie closer together than this say nothing. */
const LEAST_SPREAD = 1e-6
/** Bytes of the size of a step, before the numbers. */
export const SCALE_BYTES = 4
const STEPS = 127

/** Why a vector cannot be kept; undefined when it can. */
export function findVectorProblem(vector: Float32Array, dimensions: number): string | undefined {
  if (vector.length !== dimensions) return `it has ${vector.length} dimensions instead of ${dimensions}`
  let squares = 0
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (const value of vector) {
    if (!Number.isFinite(value)) return `it holds ${value}`
    squares += value * value
    least = Math.min(least, value)
    greatest = Math.max(greatest, value)
  }
  if (greatest - least < LEAST_SPREAD) return 'all its numbers are the same'
  const length = Math.sqrt(squares)
  return Math.abs(length - 1) > LENGTH_TOLERANCE ? `its length is ${length.toPrecision(4)} instead of 1` : undefined
}

/**
 * A vector in one byte a dimension, after the size of one step as a float of four, least byte first. The greatest number uses all
 * of a byte, so that no more is lost than half a step of 127.
 */
export function quantizeVector(vector: Float32Array): Uint8Array {
  const greatest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const step = greatest / STEPS
  const bytes = new Uint8Array(SCALE_BYTES + vector.length)
  new DataView(bytes.buffer).setFloat32(0, step, true)
  const numbers = new Int8Array(bytes.buffer, SCALE_BYTES)
  vector.forEach((value, i) => {
    numbers[i] = step > 0 ? Math.round(value / step) : 0
  })
  return bytes
}

/** The size of one step of a quantized vector. */
export function readStep(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true)
}

/** A vector as it was kept: each number is within half a step of what it was. */
export function restoreVector(bytes: Uint8Array): Float32Array {
  const step = readStep(bytes)
  const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + SCALE_BYTES, bytes.length - SCALE_BYTES)
  return Float32Array.from(numbers, (number) => number * step)
}

/** The cosine of a vector with one that was quantized. Both were of length 1. */
export function compareQuantized(query: Float32Array, bytes: Uint8Array): number {
  const step = readStep(bytes)
  return step * multiplyBytes(query, new Int8Array(bytes.buffer, bytes.byteOffset + SCALE_BYTES, query.length), 0)
}

/** The scalar product of a vector and as many bytes, which begin at a place of `numbers`. */
export function multiplyBytes(vector: Float32Array, numbers: Int8Array, start: number): number {
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) * (numbers[start + i] ?? 0)
  return sum
}

/** Writes the signs of a quantized vector as bits, 32 in a number, beginning at a place of `target`. */
export function readSigns(bytes: Uint8Array, target: Int32Array, start: number): void {
  for (let i = SCALE_BYTES; i < bytes.length; i += 32) {
    let word = 0
    for (let bit = 0; bit < 32 && i + bit < bytes.length; bit++) word |= ((bytes[i + bit] ?? 0) >>> 7) << bit
    target[start++] = word
  }
}
