/*
 * Products of int8 weights with 7-bit activations, exact in 32 bits.
 *
 * Weights are packed in panels of 16 outputs. A panel holds, for every four inputs, four vectors of four outputs by four inputs, so that a
 * lane of an accumulator is an output and nothing is added across lanes. Activations are rows of bytes from 1 to 127; four of them are
 * broadcast at a time. A tile is two rows by 16 outputs: eight accumulators, as many as the 16 registers of x64 leave room for.
 */

/** 16-bit ones. V8 would rebuild a constant at each use, but keeps a loaded value in a register. */
const ONES = memory.data<i16>([1, 1, 1, 1, 1, 1, 1, 1], 16)
const LOW_BYTES = memory.data<i16>([255, 255, 255, 255, 255, 255, 255, 255], 16)
/** Four bytes of 127, and four of 255. */
const PROBE = memory.data<i32>([0x7f7f7f7f, -1], 16)

/**
 * Whether the machine multiplies and adds four bytes in one instruction (VNNI on newer x64, SDOT on arm64), which is then the fastest way.
 * Older x64 does it in steps, one of which saturates for bytes above the range of activations; this probe detects that.
 */
export function hasDot(): bool {
  if (!ASC_FEATURE_RELAXED_SIMD) return false
  const weights = v128.load32_splat(PROBE)
  const bytes = v128.load32_splat(PROBE, 4)
  const sum = i32x4.relaxed_dot_i8x16_i7x16_add_s(weights, bytes, i32x4.splat(0))
  return i32x4.extract_lane(sum, 0) != 2 * i16.MAX_VALUE
}

/**
 * out[i][j] = (activations[i] · weights[j] + offsets[j]) × rowScales[i] × scales[j] + biases[j], added to the old value if `adds`. Rows are
 * processed in pairs: with an odd number, one more row is computed.
 */
export function product(
  activations: usize,
  rowScales: usize,
  rows: i32,
  inputs: i32,
  outputs: i32,
  weights: usize,
  scales: usize,
  biases: usize,
  offsets: usize,
  out: usize,
  adds: bool,
): void {
  multiply(activations, rowScales, rows, inputs, outputs, weights, scales, biases, offsets, out, adds, false)
}

/** The same with the instruction that {@link hasDot} detects. A separate function, because V8 generates slower code for both in one. */
export function dotProduct(
  activations: usize,
  rowScales: usize,
  rows: i32,
  inputs: i32,
  outputs: i32,
  weights: usize,
  scales: usize,
  biases: usize,
  offsets: usize,
  out: usize,
  adds: bool,
): void {
  multiply(activations, rowScales, rows, inputs, outputs, weights, scales, biases, offsets, out, adds, true)
}

@inline
function multiply(
  activations: usize,
  rowScales: usize,
  rows: i32,
  inputs: i32,
  outputs: i32,
  weights: usize,
  scales: usize,
  biases: usize,
  offsets: usize,
  out: usize,
  adds: bool,
  dot: bool,
): void {
  const ones = v128.load(ONES)
  const mask = v128.load(LOW_BYTES)
  const stride = <usize>outputs << 2
  for (let j: usize = 0; j < stride; j += 64) {
    const panel = weights + (j >> 2) * <usize>inputs
    for (let i: i32 = 0; i < rows; i += 2) {
      let w = panel
      let p = activations + <usize>(i * inputs)
      let q = p + <usize>inputs
      const end = q
      let s0 = v128.load(offsets + j)
      let s1 = v128.load(offsets + j, 16)
      let s2 = v128.load(offsets + j, 32)
      let s3 = v128.load(offsets + j, 48)
      let t0 = s0
      let t1 = s1
      let t2 = s2
      let t3 = s3
      while (p < end) {
        const x = v128.load32_splat(p)
        const y = v128.load32_splat(q)
        if (ASC_FEATURE_RELAXED_SIMD) {
          let v = v128.load(w)
          s0 = addProducts(s0, v, x, ones, dot)
          t0 = addProducts(t0, v, y, ones, dot)
          v = v128.load(w, 16)
          s1 = addProducts(s1, v, x, ones, dot)
          t1 = addProducts(t1, v, y, ones, dot)
          v = v128.load(w, 32)
          s2 = addProducts(s2, v, x, ones, dot)
          t2 = addProducts(t2, v, y, ones, dot)
          v = v128.load(w, 48)
          s3 = addProducts(s3, v, x, ones, dot)
          t3 = addProducts(t3, v, y, ones, dot)
        } else {
          const xEven = v128.and(x, mask)
          const xOdd = i16x8.shr_u(x, 8)
          const yEven = v128.and(y, mask)
          const yOdd = i16x8.shr_u(y, 8)
          let v = v128.load(w)
          let even = i16x8.shr_s(i16x8.shl(v, 8), 8)
          let odd = i16x8.shr_s(v, 8)
          s0 = addHalves(s0, even, odd, xEven, xOdd)
          t0 = addHalves(t0, even, odd, yEven, yOdd)
          v = v128.load(w, 16)
          even = i16x8.shr_s(i16x8.shl(v, 8), 8)
          odd = i16x8.shr_s(v, 8)
          s1 = addHalves(s1, even, odd, xEven, xOdd)
          t1 = addHalves(t1, even, odd, yEven, yOdd)
          v = v128.load(w, 32)
          even = i16x8.shr_s(i16x8.shl(v, 8), 8)
          odd = i16x8.shr_s(v, 8)
          s2 = addHalves(s2, even, odd, xEven, xOdd)
          t2 = addHalves(t2, even, odd, yEven, yOdd)
          v = v128.load(w, 48)
          even = i16x8.shr_s(i16x8.shl(v, 8), 8)
          odd = i16x8.shr_s(v, 8)
          s3 = addHalves(s3, even, odd, xEven, xOdd)
          t3 = addHalves(t3, even, odd, yEven, yOdd)
        }
        p += 4
        q += 4
        w += 64
      }
      const at = out + <usize>i * stride + j
      const f = v128.load32_splat(rowScales + (<usize>i << 2))
      const g = v128.load32_splat(rowScales + (<usize>i << 2), 4)
      store4(at, s0, s1, s2, s3, f, scales + j, biases + j, adds)
      store4(at + stride, t0, t1, t2, t3, g, scales + j, biases + j, adds)
    }
  }
}

/** Pairs of products fit in 16 bits: 2 × 128 × 127 < 32,768. So no instruction saturates, and every machine gives the same sums. */
@inline
function addProducts(sum: v128, weights: v128, activations: v128, ones: v128, dot: bool): v128 {
  return dot
    ? i32x4.relaxed_dot_i8x16_i7x16_add_s(weights, activations, sum)
    : i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.relaxed_dot_i8x16_i7x16_s(weights, activations), ones))
}

/** Adds the products of bytes at even and at odd positions, each widened to 16 bits. */
@inline
function addHalves(sum: v128, even: v128, odd: v128, xEven: v128, xOdd: v128): v128 {
  return i32x4.add(sum, i32x4.add(i32x4.dot_i16x8_s(even, xEven), i32x4.dot_i16x8_s(odd, xOdd)))
}

@inline
function store4(at: usize, s0: v128, s1: v128, s2: v128, s3: v128, f: v128, m: usize, n: usize, adds: bool): void {
  let v0 = f32x4.add(f32x4.mul(f32x4.mul(f32x4.convert_i32x4_s(s0), f), v128.load(m)), v128.load(n))
  let v1 = f32x4.add(f32x4.mul(f32x4.mul(f32x4.convert_i32x4_s(s1), f), v128.load(m, 16)), v128.load(n, 16))
  let v2 = f32x4.add(f32x4.mul(f32x4.mul(f32x4.convert_i32x4_s(s2), f), v128.load(m, 32)), v128.load(n, 32))
  let v3 = f32x4.add(f32x4.mul(f32x4.mul(f32x4.convert_i32x4_s(s3), f), v128.load(m, 48)), v128.load(n, 48))
  if (adds) {
    v0 = f32x4.add(v0, v128.load(at))
    v1 = f32x4.add(v1, v128.load(at, 16))
    v2 = f32x4.add(v2, v128.load(at, 32))
    v3 = f32x4.add(v3, v128.load(at, 48))
  }
  v128.store(at, v0)
  v128.store(at, v1, 16)
  v128.store(at, v2, 32)
  v128.store(at, v3, 48)
}
