/*
 * Products of int8 weights with 7-bit activations, exact in 32 bits.
 *
 * Weights are packed in panels of 16 outputs. A panel holds, for every four inputs, four vectors of four outputs by four inputs, so that a
 * lane of an accumulator is an output and nothing is added across lanes. Activations are rows of bytes from 1 to 127; four of them are
 * broadcast at a time. A tile is two rows by 16 outputs: eight accumulators, as many as the 16 registers of x64 leave room for.
 */

/** Sixteen-bit ones. V8 would build a constant anew at each use; it keeps a loaded value in a register. */
const ONES = memory.data<i16>([1, 1, 1, 1, 1, 1, 1, 1], 16)
const LOW_BYTES = memory.data<i16>([255, 255, 255, 255, 255, 255, 255, 255], 16)

/**
 * out[i][j] = (activations[i] · weights[j] − offsets[j]) × rowScales[i] × scales[j] + biases[j], plus what is there if `adds`.
 * Rows come in pairs: one more is computed where their number is odd.
 */
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
): void {
  const ones = v128.load(ONES)
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
          s0 = addProducts(v, x, s0, ones)
          t0 = addProducts(v, y, t0, ones)
          v = v128.load(w, 16)
          s1 = addProducts(v, x, s1, ones)
          t1 = addProducts(v, y, t1, ones)
          v = v128.load(w, 32)
          s2 = addProducts(v, x, s2, ones)
          t2 = addProducts(v, y, t2, ones)
          v = v128.load(w, 48)
          s3 = addProducts(v, x, s3, ones)
          t3 = addProducts(v, y, t3, ones)
        } else {
          const mask = v128.load(LOW_BYTES)
          const xe = v128.and(x, mask)
          const xo = i16x8.shr_u(x, 8)
          const ye = v128.and(y, mask)
          const yo = i16x8.shr_u(y, 8)
          let v = v128.load(w)
          let e = i16x8.shr_s(i16x8.shl(v, 8), 8)
          let o = i16x8.shr_s(v, 8)
          s0 = i32x4.add(s0, i32x4.add(i32x4.dot_i16x8_s(e, xe), i32x4.dot_i16x8_s(o, xo)))
          t0 = i32x4.add(t0, i32x4.add(i32x4.dot_i16x8_s(e, ye), i32x4.dot_i16x8_s(o, yo)))
          v = v128.load(w, 16)
          e = i16x8.shr_s(i16x8.shl(v, 8), 8)
          o = i16x8.shr_s(v, 8)
          s1 = i32x4.add(s1, i32x4.add(i32x4.dot_i16x8_s(e, xe), i32x4.dot_i16x8_s(o, xo)))
          t1 = i32x4.add(t1, i32x4.add(i32x4.dot_i16x8_s(e, ye), i32x4.dot_i16x8_s(o, yo)))
          v = v128.load(w, 32)
          e = i16x8.shr_s(i16x8.shl(v, 8), 8)
          o = i16x8.shr_s(v, 8)
          s2 = i32x4.add(s2, i32x4.add(i32x4.dot_i16x8_s(e, xe), i32x4.dot_i16x8_s(o, xo)))
          t2 = i32x4.add(t2, i32x4.add(i32x4.dot_i16x8_s(e, ye), i32x4.dot_i16x8_s(o, yo)))
          v = v128.load(w, 48)
          e = i16x8.shr_s(i16x8.shl(v, 8), 8)
          o = i16x8.shr_s(v, 8)
          s3 = i32x4.add(s3, i32x4.add(i32x4.dot_i16x8_s(e, xe), i32x4.dot_i16x8_s(o, xo)))
          t3 = i32x4.add(t3, i32x4.add(i32x4.dot_i16x8_s(e, ye), i32x4.dot_i16x8_s(o, yo)))
        }
        p += 4
        q += 4
        w += 64
      }
      const a = out + <usize>i * stride + j
      const b = a + stride
      const f = v128.load32_splat(rowScales + (<usize>i << 2))
      const g = v128.load32_splat(rowScales + (<usize>i << 2), 4)
      const m = scales + j
      const n = biases + j
      store4(a, s0, s1, s2, s3, f, m, n, adds)
      store4(b, t0, t1, t2, t3, g, m, n, adds)
    }
  }
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

/** Pairs of products fit in 16 bits: 2 × 128 × 127 < 32,768. So no instruction saturates, and every machine gives the same sums. */
@inline
function addProducts(weights: v128, activations: v128, sum: v128, ones: v128): v128 {
  return i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.relaxed_dot_i8x16_i7x16_s(weights, activations), ones))
}

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
): void {
  multiply(activations, rowScales, rows, inputs, outputs, weights, scales, biases, offsets, out, false)
}

export function addProduct(
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
): void {
  multiply(activations, rowScales, rows, inputs, outputs, weights, scales, biases, offsets, out, true)
}
