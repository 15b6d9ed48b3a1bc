/** Copies pieces into one array that owns its memory, so that it can be transferred to another thread. */
export function joinBytes(pieces: readonly Uint8Array[], length: number = sumLengths(pieces)): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

function sumLengths(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}
