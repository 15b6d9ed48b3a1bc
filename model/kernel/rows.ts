/*
 * Operations on rows between two matrix products. Sums have a fixed order: four lanes each, then the lanes from first to last.
 */

/** Activations are bytes from 1 to 127: 64 plus −63 to 63. */
const LEVELS: f32 = 63
/** Adding this number rounds to an integer, half to even, and leaves that integer plus 64 in the low bits. */
const ROUND: f32 = 12582912 + 64
const ROUND_BITS: i32 = 0x4b400000
/** A row of smaller numbers is quantized as if this were its largest magnitude. */
const MIN_MAGNITUDE: f32 = 1e-8
const EPSILON: f32 = 1e-12

/** GELU is interpolated from a table. Beyond this distance from 0 it is 0 or the number itself; within, the error is at most 4e-7. */
const GELU_RANGE: f32 = 7.9
/** Table entries per unit; the table covers −8 to 8. */
const GELU_STEPS: f32 = 512
const GELU_MIDDLE: i32 = 4096
/** Floats from 2^23 on are integers: adding 2^23 − 0.5 rounds down and leaves the integer in the low bits. */
const TWO_TO_23: f32 = 8388608

// V8 rebuilds vector constants at each use, so they are read from memory.
const CONSTANTS = memory.data<f32>(
  [GELU_RANGE, -GELU_RANGE, GELU_STEPS, <f32>GELU_MIDDLE, TWO_TO_23 - 0.5, TWO_TO_23, 0],
  16,
)
const LOW_BITS = memory.data<i32>([0xfffc], 16)

@inline
function constant(index: usize): v128 {
  return v128.load32_splat(CONSTANTS + (index << 2))
}

@inline
function sumLanes(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3)
  )
}

@inline
function maxLanes(v: v128): f32 {
  return max(
    max(f32x4.extract_lane(v, 0), f32x4.extract_lane(v, 1)),
    max(f32x4.extract_lane(v, 2), f32x4.extract_lane(v, 3)),
  )
}

/** Converts token rows of int8, each with a scale, to floats. */
export function expand(tokens: usize, scales: usize, rows: i32, width: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>rows; i++) {
    const scale = v128.load32_splat(scales + (i << 2))
    const from = tokens + i * <usize>width
    const to = out + ((i * <usize>width) << 2)
    for (let z: usize = 0; z < <usize>width; z += 4) {
      const wide = i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_zero(from + z)))
      v128.store(to + (z << 2), f32x4.mul(f32x4.convert_i32x4_s(wide), scale))
    }
  }
}

/** Writes a row as bytes, and its scale; `largest` is its largest magnitude. */
@inline
function writeBytes(row: usize, width: usize, largest: v128, bytes: usize, scale: usize): void {
  const s = max(maxLanes(largest), MIN_MAGNITUDE) / LEVELS
  store<f32>(scale, s)
  const inverse = f32x4.splat(<f32>1 / s)
  const round = f32x4.splat(ROUND)
  const bits = i32x4.splat(ROUND_BITS)
  for (let z: usize = 0; z < width; z += 16) {
    const p = row + (z << 2)
    const v0 = i32x4.sub(f32x4.add(f32x4.mul(v128.load(p), inverse), round), bits)
    const v1 = i32x4.sub(f32x4.add(f32x4.mul(v128.load(p, 16), inverse), round), bits)
    const v2 = i32x4.sub(f32x4.add(f32x4.mul(v128.load(p, 32), inverse), round), bits)
    const v3 = i32x4.sub(f32x4.add(f32x4.mul(v128.load(p, 48), inverse), round), bits)
    v128.store(
      bytes + z,
      i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(v0, v1), i16x8.narrow_i32x4_s(v2, v3)),
    )
  }
}

/** Quantises rows of floats to bytes, with a scale for each row. */
export function quantize(x: usize, rows: i32, width: i32, bytes: usize, scales: usize): void {
  const length = <usize>width << 2
  for (let i: usize = 0; i < <usize>rows; i++) {
    const row = x + i * length
    let largest = f32x4.splat(0)
    for (let z: usize = 0; z < length; z += 16) largest = f32x4.pmax(largest, f32x4.abs(v128.load(row + z)))
    writeBytes(row, <usize>width, largest, bytes + i * <usize>width, scales + (i << 2))
  }
}

/** Applies GELU, x × Φ(x), then quantises. */
export function activate(x: usize, rows: i32, width: i32, bytes: usize, scales: usize, table: usize): void {
  const length = <usize>width << 2
  for (let i: usize = 0; i < <usize>rows; i++) {
    const row = x + i * length
    let largest = f32x4.splat(0)
    for (let z: usize = 0; z < length; z += 16) {
      const v = gelu(v128.load(row + z), table)
      v128.store(row + z, v)
      largest = f32x4.pmax(largest, f32x4.abs(v))
    }
    writeBytes(row, <usize>width, largest, bytes + i * <usize>width, scales + (i << 2))
  }
}

@inline
function gelu(x: v128, table: usize): v128 {
  const inside = f32x4.pmin(f32x4.pmax(x, constant(1)), constant(0))
  const position = f32x4.add(f32x4.mul(inside, constant(2)), constant(3))
  const floor = f32x4.add(position, constant(4))
  const offsets = v128.and(i32x4.shl(floor, 2), v128.load32_splat(LOW_BITS))
  // Loads each entry together with the next one.
  let low = v128.load64_zero(table + i32x4.extract_lane(offsets, 0))
  low = v128.load64_lane(table + i32x4.extract_lane(offsets, 1), low, 1)
  let high = v128.load64_zero(table + i32x4.extract_lane(offsets, 2))
  high = v128.load64_lane(table + i32x4.extract_lane(offsets, 3), high, 1)
  const from = v128.shuffle<f32>(low, high, 0, 2, 4, 6)
  const to = v128.shuffle<f32>(low, high, 1, 3, 5, 7)
  const fraction = f32x4.sub(position, f32x4.sub(floor, constant(5)))
  const v = f32x4.add(from, f32x4.mul(f32x4.sub(to, from), fraction))
  return f32x4.add(v, f32x4.pmax(f32x4.sub(x, inside), constant(6)))
}

/**
 * Writes the GELU table: 8,193 floats. Uses formula 7.1.26 of Abramowitz and Stegun for the error function, with an error of at most
 * 1.5e-7.
 */
export function writeGelu(table: usize): void {
  for (let i: i32 = 0; i <= 2 * GELU_MIDDLE; i++) {
    const x = <f64>(i - GELU_MIDDLE) / <f64>GELU_STEPS
    const z = abs<f64>(x) / Math.SQRT2
    const t = 1 / (1 + 0.3275911 * z)
    const p = (((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592
    // AssemblyScript compiles this exponential into the module, so the result does not depend on the host.
    const e = 1 - p * t * Math.exp(-z * z)
    store<f32>(table + (<usize>i << 2), <f32>(x * 0.5 * (1 + (x < 0 ? -e : e))))
  }
}

/** Layer norm in place; also writes the rows as bytes. */
export function normalize(x: usize, rows: i32, width: i32, gains: usize, biases: usize, bytes: usize, scales: usize): void {
  const length = <usize>width << 2
  for (let i: usize = 0; i < <usize>rows; i++) {
    const row = x + i * length
    let sum = f32x4.splat(0)
    for (let z: usize = 0; z < length; z += 16) sum = f32x4.add(sum, v128.load(row + z))
    const mean = f32x4.splat(sumLanes(sum) / <f32>width)
    let squares = f32x4.splat(0)
    for (let z: usize = 0; z < length; z += 16) {
      const d = f32x4.sub(v128.load(row + z), mean)
      squares = f32x4.add(squares, f32x4.mul(d, d))
    }
    const factor = f32x4.splat(<f32>1 / sqrt<f32>(sumLanes(squares) / <f32>width + EPSILON))
    let largest = f32x4.splat(0)
    for (let z: usize = 0; z < length; z += 16) {
      const d = f32x4.mul(f32x4.sub(v128.load(row + z), mean), factor)
      const v = f32x4.add(f32x4.mul(d, v128.load(gains + z)), v128.load(biases + z))
      v128.store(row + z, v)
      largest = f32x4.pmax(largest, f32x4.abs(v))
    }
    writeBytes(row, <usize>width, largest, bytes + i * <usize>width, scales + (i << 2))
  }
}

/** The mean of rows, normalised to length 1. */
export function pool(x: usize, rows: i32, width: i32, out: usize): void {
  const length = <usize>width << 2
  let squares: f64 = 0
  for (let z: usize = 0; z < length; z += 16) {
    let sum = f32x4.splat(0)
    for (let i: usize = 0; i < <usize>rows; i++) sum = f32x4.add(sum, v128.load(x + i * length + z))
    v128.store(out + z, sum)
  }
  for (let z: usize = 0; z < length; z += 4) {
    const v = <f64>load<f32>(out + z)
    squares += v * v
  }
  const factor = <f64>1 / sqrt<f64>(squares)
  for (let z: usize = 0; z < length; z += 4) store<f32>(out + z, <f32>(<f64>load<f32>(out + z) * factor))
}
