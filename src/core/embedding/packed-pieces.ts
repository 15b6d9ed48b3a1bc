import type { PieceTable } from './word-piece.ts'

/** Offsets of a table of pieces in a buffer. In every thread, a `Map` of the same pieces would take ten times the memory. */
export interface PackedPieces {
  /** UTF-16 units of all pieces, one after the other. */
  readonly units: number
  /** The start of each piece within `units`, and the end of the last piece. */
  readonly starts: number
  /** Hash table of the pieces: each slot has a token plus 1, or 0 if it is free. */
  readonly slots: number
  readonly count: number
}

/** A power of two, at least twice the number of pieces, so that lookups probe few slots. */
const SLOTS = 65_536

/** Plans the layout of pieces, and returns a function that writes them. */
export function planPieces(
  pieces: readonly string[],
  reserve: (bytes: number) => number,
): { readonly packed: PackedPieces; readonly write: (buffer: ArrayBufferLike) => void } {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const packed = {
    ...{ units: reserve(length * 2), starts: reserve((pieces.length + 1) * 4), slots: reserve(SLOTS * 2) },
    count: pieces.length,
  }
  return { packed, write: (buffer) => writePieces(pieces, packed, buffer) }
}

function writePieces(pieces: readonly string[], packed: PackedPieces, buffer: ArrayBufferLike): void {
  const { units, starts, slots } = viewsOf(packed, buffer)
  let at = 0
  for (const [token, piece] of pieces.entries()) {
    starts[token] = at
    for (let i = 0; i < piece.length; i++) units[at++] = piece.charCodeAt(i)
    let slot = hashOf(piece)
    while (slots[slot] !== 0) slot = (slot + 1) % SLOTS
    slots[slot] = token + 1
  }
  starts[pieces.length] = at
}

/** Opens a table that was written before, possibly by another thread. */
export function openPieces(packed: PackedPieces, buffer: ArrayBufferLike): PieceTable {
  const { units, starts, slots } = viewsOf(packed, buffer)
  const isPiece = (token: number, piece: string): boolean => {
    const start = starts[token] ?? 0
    if ((starts[token + 1] ?? 0) - start !== piece.length) return false
    for (let i = 0; i < piece.length; i++) if (units[start + i] !== piece.charCodeAt(i)) return false
    return true
  }
  return {
    get(piece) {
      for (let slot = hashOf(piece); ; slot = (slot + 1) % SLOTS) {
        const token = (slots[slot] ?? 0) - 1
        if (token < 0) return undefined
        if (isPiece(token, piece)) return token
      }
    },
  }
}

function viewsOf({ units, starts, slots, count }: PackedPieces, buffer: ArrayBufferLike) {
  return {
    units: new Uint16Array(buffer, units, (starts - units) / 2),
    starts: new Uint32Array(buffer, starts, count + 1),
    slots: new Uint16Array(buffer, slots, SLOTS),
  }
}

/** FNV-1a over UTF-16 units, folded to a slot. */
function hashOf(piece: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < piece.length; i++) hash = Math.imul(hash ^ piece.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & (SLOTS - 1)
}
