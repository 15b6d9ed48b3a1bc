/*
 * Attention of one text: every row attends to all rows of the text. Heads are 32 wide. Two rows are processed at a time, with 16 keys or
 * half a head in separate SIMD lanes, so that nothing is added across lanes.
 */
import { exponential } from './exponential'

const HEAD_BYTES: usize = 128
/** 1 / √32. */
const SCALE: f32 = 0.17677669529663687

/**
 * @param x rows of queries, keys and values, each `heads` × 32 floats
 * @param out rows of `heads` × 32 floats
 * @param scratch room for keys (32 × rows rounded up to 16), values (rows × 32) and two rows of weights, as floats
 */
export function attend(x: usize, rows: i32, heads: i32, out: usize, scratch: usize): void {
  const width = <usize>heads * HEAD_BYTES
  const stride: usize = 3 * width
  const padded = <usize>((rows + 15) & ~15)
  const lineBytes = padded << 2
  const keys = scratch
  const values = keys + 32 * lineBytes
  const firstWeights = values + <usize>rows * HEAD_BYTES
  const secondWeights = firstWeights + lineBytes
  for (let head: usize = 0; head < <usize>heads; head++) {
    const column = x + head * HEAD_BYTES
    gather(column + width, column + 2 * width, stride, <usize>rows, padded, keys, values)
    for (let i: usize = 0; i < <usize>rows; i += 2) {
      // With an odd number of rows, the last one is computed twice.
      const next = min(i + 1, <usize>rows - 1)
      score(column + i * stride, column + next * stride, keys, lineBytes, firstWeights, secondWeights)
      const firstFactor = weigh(firstWeights, <usize>rows, lineBytes)
      const secondFactor = weigh(secondWeights, <usize>rows, lineBytes)
      const to = out + head * HEAD_BYTES
      mix(values, <usize>rows, firstWeights, secondWeights, firstFactor, secondFactor, to + i * width, to + next * width)
      mix(
        values + 64,
        <usize>rows,
        firstWeights,
        secondWeights,
        firstFactor,
        secondFactor,
        to + i * width + 64,
        to + next * width + 64,
      )
    }
  }
}

/** Copies the values of a head, and its keys column by column, padded with zeros. */
@inline
function gather(from: usize, valuesFrom: usize, stride: usize, rows: usize, padded: usize, keys: usize, values: usize): void {
  const lineBytes = padded << 2
  for (let j: usize = 0; j < padded; j += 4) {
    for (let d: usize = 0; d < HEAD_BYTES; d += 16) {
      const at = from + j * stride + d
      const zero = f32x4.splat(0)
      const a = j < rows ? v128.load(at) : zero
      const b = j + 1 < rows ? v128.load(at + stride) : zero
      const c = j + 2 < rows ? v128.load(at + 2 * stride) : zero
      const e = j + 3 < rows ? v128.load(at + 3 * stride) : zero
      const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5)
      const ce = v128.shuffle<f32>(c, e, 0, 4, 1, 5)
      const abHigh = v128.shuffle<f32>(a, b, 2, 6, 3, 7)
      const ceHigh = v128.shuffle<f32>(c, e, 2, 6, 3, 7)
      const to = keys + (d >> 2) * lineBytes + (j << 2)
      v128.store(to, v128.shuffle<f64>(ab, ce, 0, 2))
      v128.store(to + lineBytes, v128.shuffle<f64>(ab, ce, 1, 3))
      v128.store(to + 2 * lineBytes, v128.shuffle<f64>(abHigh, ceHigh, 0, 2))
      v128.store(to + 3 * lineBytes, v128.shuffle<f64>(abHigh, ceHigh, 1, 3))
    }
  }
  for (let j: usize = 0; j < rows; j++) {
    for (let d: usize = 0; d < HEAD_BYTES; d += 16) {
      v128.store(values + j * HEAD_BYTES + d, v128.load(valuesFrom + j * stride + d))
    }
  }
}

/** Multiplies the queries of two rows with all keys. */
@inline
function score(
  firstQuery: usize,
  secondQuery: usize,
  keys: usize,
  lineBytes: usize,
  firstWeights: usize,
  secondWeights: usize,
): void {
  const scale = f32x4.splat(SCALE)
  for (let j: usize = 0; j < lineBytes; j += 64) {
    let k = keys + j
    let p = firstQuery
    let q = secondQuery
    const end = p + HEAD_BYTES
    let s0 = f32x4.splat(0)
    let s1 = s0
    let s2 = s0
    let s3 = s0
    let t0 = s0
    let t1 = s0
    let t2 = s0
    let t3 = s0
    while (p < end) {
      const a = v128.load32_splat(p)
      const b = v128.load32_splat(q)
      let v = v128.load(k)
      s0 = f32x4.add(s0, f32x4.mul(v, a))
      t0 = f32x4.add(t0, f32x4.mul(v, b))
      v = v128.load(k, 16)
      s1 = f32x4.add(s1, f32x4.mul(v, a))
      t1 = f32x4.add(t1, f32x4.mul(v, b))
      v = v128.load(k, 32)
      s2 = f32x4.add(s2, f32x4.mul(v, a))
      t2 = f32x4.add(t2, f32x4.mul(v, b))
      v = v128.load(k, 48)
      s3 = f32x4.add(s3, f32x4.mul(v, a))
      t3 = f32x4.add(t3, f32x4.mul(v, b))
      p += 4
      q += 4
      k += lineBytes
    }
    v128.store(firstWeights + j, f32x4.mul(s0, scale))
    v128.store(firstWeights + j, f32x4.mul(s1, scale), 16)
    v128.store(firstWeights + j, f32x4.mul(s2, scale), 32)
    v128.store(firstWeights + j, f32x4.mul(s3, scale), 48)
    v128.store(secondWeights + j, f32x4.mul(t0, scale))
    v128.store(secondWeights + j, f32x4.mul(t1, scale), 16)
    v128.store(secondWeights + j, f32x4.mul(t2, scale), 32)
    v128.store(secondWeights + j, f32x4.mul(t3, scale), 48)
  }
}

/** Turns scores into weights; returns the reciprocal of their sum. Padding after the last score becomes 0. */
@inline
function weigh(scores: usize, rows: usize, lineBytes: usize): v128 {
  for (let j = rows << 2; j < lineBytes; j += 4) store<f32>(scores + j, -1e30)
  let largest = v128.load(scores)
  for (let j: usize = 16; j < lineBytes; j += 16) largest = f32x4.pmax(largest, v128.load(scores + j))
  const top = f32x4.splat(
    max(
      max(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
      max(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
    ),
  )
  let sum = f32x4.splat(0)
  for (let j: usize = 0; j < lineBytes; j += 16) {
    const v = exponential(f32x4.sub(v128.load(scores + j), top))
    v128.store(scores + j, v)
    sum = f32x4.add(sum, v)
  }
  return f32x4.splat(
    <f32>1 /
      (f32x4.extract_lane(sum, 0) +
        f32x4.extract_lane(sum, 1) +
        f32x4.extract_lane(sum, 2) +
        f32x4.extract_lane(sum, 3)),
  )
}

/** Sums of half a head of the values, for two rows, with the weights and the factor of each row. */
@inline
function mix(
  values: usize,
  rows: usize,
  firstWeights: usize,
  secondWeights: usize,
  firstFactor: v128,
  secondFactor: v128,
  firstOut: usize,
  secondOut: usize,
): void {
  let s0 = f32x4.splat(0)
  let s1 = s0
  let s2 = s0
  let s3 = s0
  let t0 = s0
  let t1 = s0
  let t2 = s0
  let t3 = s0
  let p = firstWeights
  let q = secondWeights
  let k = values
  const end = firstWeights + (rows << 2)
  while (p < end) {
    const x = v128.load32_splat(p)
    const y = v128.load32_splat(q)
    let v = v128.load(k)
    s0 = f32x4.add(s0, f32x4.mul(v, x))
    t0 = f32x4.add(t0, f32x4.mul(v, y))
    v = v128.load(k, 16)
    s1 = f32x4.add(s1, f32x4.mul(v, x))
    t1 = f32x4.add(t1, f32x4.mul(v, y))
    v = v128.load(k, 32)
    s2 = f32x4.add(s2, f32x4.mul(v, x))
    t2 = f32x4.add(t2, f32x4.mul(v, y))
    v = v128.load(k, 48)
    s3 = f32x4.add(s3, f32x4.mul(v, x))
    t3 = f32x4.add(t3, f32x4.mul(v, y))
    p += 4
    q += 4
    k += HEAD_BYTES
  }
  v128.store(firstOut, f32x4.mul(s0, firstFactor))
  v128.store(firstOut, f32x4.mul(s1, firstFactor), 16)
  v128.store(firstOut, f32x4.mul(s2, firstFactor), 32)
  v128.store(firstOut, f32x4.mul(s3, firstFactor), 48)
  v128.store(secondOut, f32x4.mul(t0, secondFactor))
  v128.store(secondOut, f32x4.mul(t1, secondFactor), 16)
  v128.store(secondOut, f32x4.mul(t2, secondFactor), 32)
  v128.store(secondOut, f32x4.mul(t3, secondFactor), 48)
}
