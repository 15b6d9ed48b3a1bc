/** Number of bits that are set in a number of 32 bits; Warren, Hacker's Delight, 5-1. */
export function countBits(bits: number): number {
  const fours = countInFours(bits)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The same for three numbers together: up to twelve bits of four are counted in each digit before the digits are added up. */
export function countBitsOfThree(a: number, b: number, c: number): number {
  const fours = countInFours(a) + countInFours(b) + countInFours(c)
  return Math.imul((fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f), 0x01010101) >>> 24
}

/** The number of bits that are set in each four of a number. */
function countInFours(bits: number): number {
  const twos = bits - ((bits >>> 1) & 0x55555555)
  return (twos & 0x33333333) + ((twos >>> 2) & 0x33333333)
}
