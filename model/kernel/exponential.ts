/*
 * The exponential in 32-bit floats, with multiplications, additions and integer operations only, because every machine rounds these alike.
 * Constants are in a table in memory, because V8 would rebuild vector constants at each use.
 */
const LOG2_E: f32 = 1.44269504088896341
const LN2_HIGH: f32 = 0.693359375
const LN2_LOW: f32 = -2.12194440e-4
/** Adding this number rounds to an integer, half to even, and leaves that integer in the low bits. */
const ROUND: f32 = 12582912
/** Below this the result is 0. */
const MIN_INPUT: f32 = -87

const TABLE = memory.data<f32>(
  [
    LOG2_E,
    LN2_HIGH,
    LN2_LOW,
    ROUND,
    MIN_INPUT,
    1.9875691500e-4,
    1.3981999507e-3,
    8.3334519073e-3,
    4.1665795894e-2,
    1.6666665459e-1,
    5.0000001201e-1,
    1,
  ],
  16,
)

@inline
function constant(index: usize): v128 {
  return v128.load32_splat(TABLE + (index << 2))
}

/** e to the power of x, for x of at most 0. */
@inline
export function exponential(x: v128): v128 {
  const rounded = f32x4.add(f32x4.mul(x, constant(0)), constant(3))
  const n = f32x4.sub(rounded, constant(3))
  const f = f32x4.sub(f32x4.sub(x, f32x4.mul(n, constant(1))), f32x4.mul(n, constant(2)))
  let p = f32x4.add(f32x4.mul(constant(5), f), constant(6))
  p = f32x4.add(f32x4.mul(p, f), constant(7))
  p = f32x4.add(f32x4.mul(p, f), constant(8))
  p = f32x4.add(f32x4.mul(p, f), constant(9))
  p = f32x4.add(f32x4.mul(p, f), constant(10))
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(f, f)), f), constant(11))
  // The low bits of `rounded` are n: shifted, they are added to the exponent.
  return v128.and(i32x4.add(p, i32x4.shl(rounded, 23)), f32x4.gt(x, constant(4)))
}
