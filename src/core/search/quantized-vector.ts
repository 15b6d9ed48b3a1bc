/** How far the length of a vector may be from 1. */
const LENGTH_TOLERANCE = 1e-3
/** A vector whose numbers all differ by less than this carries no information. */
const MIN_SPREAD = 1e-6
/** Number of bytes of the step size, which precedes the numbers. */
export const SCALE_BYTES = 4
const STEPS = 127

/** The reason why a vector cannot be stored; undefined for a valid one. */
export function findVectorProblem(vector: Float32Array, dimensions: number): string | undefined {
  if (vector.length !== dimensions) return `it has ${vector.length} dimensions instead of ${dimensions}`
  let squares = 0
  let smallest = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (const value of vector) {
    if (!Number.isFinite(value)) return `it holds ${value}`
    squares += value * value
    smallest = Math.min(smallest, value)
    greatest = Math.max(greatest, value)
  }
  if (greatest - smallest < MIN_SPREAD) return 'all its numbers are the same'
  const length = Math.sqrt(squares)
  return Math.abs(length - 1) > LENGTH_TOLERANCE ? `its length is ${length.toPrecision(4)} instead of 1` : undefined
}

/**
 * A vector as one byte per dimension, after the step size as a little-endian float of four bytes. The greatest absolute value is 127 steps,
 * so that the error is at most half a step.
 */
export function quantizeVector(vector: Float32Array): Uint8Array {
  const greatest = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0)
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

/** Restores a quantized vector. Each number is within half a step of the original. */
export function restoreVector(bytes: Uint8Array): Float32Array {
  const step = readStep(bytes)
  const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + SCALE_BYTES, bytes.length - SCALE_BYTES)
  return Float32Array.from(numbers, (number) => number * step)
}

/** The cosine of a vector with a quantized one. Both originals must have length 1. */
export function compareQuantized(query: Float32Array, bytes: Uint8Array): number {
  const step = readStep(bytes)
  return step * multiplyBytes(query, new Int8Array(bytes.buffer, bytes.byteOffset + SCALE_BYTES, query.length), 0)
}

/** The dot product of a vector and the same number of bytes, from index `start` of `numbers`. */
export function multiplyBytes(vector: Float32Array, numbers: Int8Array, start: number): number {
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) * (numbers[start + i] ?? 0)
  return sum
}

/** Reads the signs of a quantized vector into `target` from index `start` on, as bits, 32 in a number. */
export function readSigns(bytes: Uint8Array, target: Int32Array, start: number): void {
  for (let i = SCALE_BYTES; i < bytes.length; i += 32) {
    let word = 0
    for (let bit = 0; bit < 32 && i + bit < bytes.length; bit++) word |= ((bytes[i + bit] ?? 0) >>> 7) << bit
    target[start++] = word
  }
}
