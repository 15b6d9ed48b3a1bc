/** Number of bits that are set in a number of 32 bits; Warren, Hacker's Delight, 5-1. */
export function countBits(bits: number): number {
  const twos = bits - ((bits >>> 1) & 0x55555555)
  const fours = (twos & 0x33333333) + ((twos >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
