import type { Node } from '../../../html/tree.ts'

/** Length of the text in an element on one line, as in `lineOf`, up to `maxLength`. Reading stops there. */
export function lineLength(node: Node, maxLength: number): number {
  let length = 0
  let isAfterSpace = false
  const read = (inner: Node): void => {
    if (typeof inner === 'string') {
      for (let i = 0; i < inner.length && length < maxLength; i++) {
        const isSpace = isWhiteSpace(inner.charCodeAt(i))
        // White space counts once, between other characters.
        if (!isSpace) length += isAfterSpace && length > 0 ? 2 : 1
        isAfterSpace = isSpace
      }
    } else if (inner.dropped === undefined) {
      for (const child of inner.children) {
        if (length >= maxLength) return
        read(child)
      }
    }
  }
  read(node)
  return Math.min(length, maxLength)
}

/** Matches the same characters as `\s`. */
function isWhiteSpace(code: number): boolean {
  return code <= 0x20
    ? code === 0x20 || (code >= 9 && code <= 13)
    : code >= 0xa0 && /\s/.test(String.fromCharCode(code))
}
