/**
 * Orders two strings by their UTF-8 bytes, which is the order of their code points. The product uses no other string order: JavaScript's
 * `<` compares UTF-16 units and puts U+1F600 before U+FF01, unlike other languages and tools. A lone surrogate, which has no UTF-8 form,
 * sorts after every other character of the basic plane.
 */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0
  const shorter = Math.min(a.length, b.length)
  for (let i = 0; i < shorter; i++) {
    const unitA = a.charCodeAt(i)
    const unitB = b.charCodeAt(i)
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB)
  }
  return a.length - b.length
}

/** Moves the surrogates, which encode code points above U+FFFF, behind U+E000–U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
