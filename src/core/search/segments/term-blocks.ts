import { ByteReader, ByteWriter, DecodeError } from '../bytes.ts'
import { LIMIT_COUNT, type TermPostings, type TermWindows } from './term-postings.ts'

/** The terms that share a stem, with their postings. */
export interface StemEntry {
  readonly stem: string
  readonly terms: readonly TermPostings[]
  /** Number of documents with at least one of the terms. */
  readonly count: number
  /** Short forms with this stem, each with a term that it finds. */
  readonly longForms: readonly (readonly [form: string, term: string])[]
}

/** Size up to which entries fill a block, about one page of a database file. */
const BLOCK_BYTES = 4000

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The bytes of a text. Entries and blocks are sorted by these bytes. */
export function encodeText(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Writes entries, which come in stem order, into blocks. */
export class BlockWriter {
  readonly #blocks: Uint8Array[] = []
  readonly #directory = new ByteWriter()
  readonly #block = new ByteWriter(2 * BLOCK_BYTES)
  #previous = ''

  add(stem: string, entry: ByteWriter): void {
    const size = entry.length + 3 * stem.length + 8
    if (this.#block.length > 0 && this.#block.length + size > BLOCK_BYTES) this.#closeBlock()
    if (this.#block.length === 0) {
      this.#previous = ''
      this.#directory.writeText(stem)
    }
    writeFrontCoded(this.#block, this.#previous, stem)
    this.#previous = stem
    this.#block.writeNumber(entry.length)
    this.#block.writeBytes(entry.buffer, 0, entry.length)
  }

  finish(): { readonly blocks: readonly Uint8Array[]; readonly directory: Uint8Array } {
    if (this.#block.length > 0) this.#closeBlock()
    return { blocks: this.#blocks, directory: this.#directory.toBytes() }
  }

  #closeBlock(): void {
    this.#blocks.push(this.#block.toBytes())
    this.#block.clear()
  }
}

/** Writes a text as its difference from another one: the number of shared bytes, and the rest. */
export function writeFrontCoded(writer: ByteWriter, before: string, text: string): void {
  if (isAscii(text)) {
    let shared = 0
    while (shared < text.length && before.charCodeAt(shared) === text.charCodeAt(shared)) shared++
    writer.writeNumber(shared)
    writer.writeNumber(text.length - shared)
    for (let i = shared; i < text.length; i++) writer.writeNumber(text.charCodeAt(i))
    return
  }
  const bytes = encodeText(text)
  const bytesBefore = before === text ? bytes : encodeText(before)
  let shared = 0
  while (shared < bytes.length && bytesBefore[shared] === bytes[shared]) shared++
  writer.writeNumber(shared)
  writer.writeNumber(bytes.length - shared)
  writer.writeBytes(bytes, shared)
}

/** Terms are short and mostly ASCII, for which a loop is several times faster than encoders and decoders. */
function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/** Writes the terms that short forms match, after the terms of their entry. */
export function writeLongForms(writer: ByteWriter, longForms: StemEntry['longForms']): void {
  if (longForms.length === 0) return
  writer.writeNumber(longForms.length)
  for (const [form, term] of longForms) {
    writer.writeText(form)
    writer.writeText(term)
  }
}

/** Holds the first stem of each block. */
export class BlockDirectory {
  readonly #bytes: Uint8Array
  /** Where the stem of each block begins and ends. */
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array

  constructor(bytes: Uint8Array) {
    const starts: number[] = []
    const ends: number[] = []
    const reader = new ByteReader(bytes)
    while (reader.remaining > 0) {
      const { length } = reader.readBytes(reader.readNumber())
      const end = bytes.length - reader.remaining
      starts.push(end - length)
      ends.push(end)
    }
    this.#bytes = bytes
    this.#starts = Uint32Array.from(starts)
    this.#ends = Uint32Array.from(ends)
  }

  get size(): number {
    return this.#starts.length
  }

  /** The first stem of a block. */
  stemAt(block: number): string {
    return decoder.decode(this.#bytes.subarray(this.#starts[block], this.#ends[block]))
  }

  /** The block that can hold a stem; -1 when it sorts before all. */
  find(stem: Uint8Array): number {
    let low = 0
    let high = this.#starts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(middle, stem) <= 0) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Compares the first stem of a block with another one by bytes, in place: subarrays would cost more than all the rest. */
  #compare(block: number, stem: Uint8Array): number {
    const bytes = this.#bytes
    const start = this.#starts[block] ?? 0
    const length = (this.#ends[block] ?? 0) - start
    const shorter = Math.min(length, stem.length)
    for (let i = 0; i < shorter; i++) {
      const difference = (bytes[start + i] ?? 0) - (stem[i] ?? 0)
      if (difference !== 0) return difference
    }
    return length - stem.length
  }
}

/** Finds the entry of a stem, given as text and as bytes, in its block. */
export function findStemEntry(block: Uint8Array, text: string, stem: Uint8Array): StemEntry | undefined {
  const reader = new ByteReader(block)
  // Length of the prefix that the stem shares with the last entry, which sorts before it. An entry that shares more with the last entry
  // also sorts before the stem, and one that shares less sorts after it: only entries that share the same length are compared.
  let matched = 0
  while (reader.remaining > 0) {
    const shared = reader.readNumber()
    const suffixLength = reader.readNumber()
    const suffix = reader.skip(suffixLength)
    const length = reader.readNumber()
    const start = reader.skip(length)
    if (shared > matched) continue
    if (shared < matched) return undefined
    let same = 0
    while (same < suffixLength && block[suffix + same] === stem[matched + same]) same++
    matched += same
    if (same === suffixLength && matched === stem.length) {
      return readStemEntry(text, block.subarray(start, start + length))
    }
    if (same < suffixLength && (block[suffix + same] ?? 0) > (stem[matched] ?? -1)) return undefined
  }
  return undefined
}

/** The entries of a block, in their order. */
export function* readStemEntries(block: Uint8Array): Generator<StemEntry, void, void> {
  const reader = new ByteReader(block)
  let stem = ''
  while (reader.remaining > 0) {
    stem = readFrontCoded(reader, stem)
    yield readStemEntry(stem, reader.readBytes(reader.readNumber()))
  }
}

function readFrontCoded(reader: ByteReader, before: string): string {
  const shared = reader.readNumber()
  const suffix = reader.readBytes(reader.readNumber())
  if (isAscii(before) && suffix.every((byte) => byte < 0x80)) {
    return before.slice(0, shared) + Reflect.apply(String.fromCharCode, null, suffix)
  }
  const bytesBefore = encodeText(before)
  if (suffix.length === 0 && shared === bytesBefore.length) return before
  const bytes = new Uint8Array(shared + suffix.length)
  bytes.set(bytesBefore.subarray(0, shared))
  bytes.set(suffix, shared)
  return decoder.decode(bytes)
}

function readStemEntry(stem: string, bytes: Uint8Array): StemEntry {
  const reader = new ByteReader(bytes)
  const header = reader.readNumber()
  const termCount = header >>> 1
  if (termCount > reader.remaining) throw new DecodeError('unexpected end of bytes')
  const union = termCount > 1 ? reader.readNumber() : undefined
  const terms = header % 2 === 1 ? readWindowed(stem, bytes, reader, termCount) : []
  for (let left = termCount - terms.length; left > 0; left--) {
    const term = readFrontCoded(reader, stem)
    const count = reader.readNumber()
    const documentBytes = reader.readNumber()
    const positionBytes = reader.readNumber()
    const start = reader.skip(documentBytes + positionBytes)
    terms.push({ term, count, bytes, start, positionsStart: start + documentBytes, windows: undefined })
  }
  const longForms: [string, string][] = []
  for (let left = reader.remaining > 0 ? reader.readCount() : 0; left > 0; left--) {
    longForms.push([reader.readText(), reader.readText()])
  }
  return { stem, terms, count: union ?? terms[0]?.count ?? 0, longForms }
}

/** Reads the terms of an entry with windows; see `EntryWriter`. */
function readWindowed(stem: string, bytes: Uint8Array, reader: ByteReader, termCount: number): TermPostings[] {
  const shift = reader.readNumber()
  const count = reader.readCount()
  const names = Array.from({ length: termCount }, () => ({
    term: readFrontCoded(reader, stem),
    count: reader.readNumber(),
  }))
  const stride = LIMIT_COUNT + 2 * termCount
  const rows = new Uint32Array((count + 1) * stride)
  let position = reader.skip(0)
  const begin = position
  // A common stem has hundreds of windows, so their numbers are read here and not one by one by the reader.
  for (let row = 0; row < count * stride; row += stride) {
    for (let column = 0; column < stride; column++) {
      let byte = bytes[position++] ?? 0
      let value = byte & 0x7f
      for (let bits = 7; byte > 0x7f; bits += 7) {
        byte = bytes[position++] ?? 0
        value |= (byte & 0x7f) << bits
      }
      if (column >= LIMIT_COUNT) rows[row + stride + column] = (rows[row + column] ?? 0) + value
      else if (value > 0 || column > 0) rows[row + column] = value
      // An empty window has no other limits.
      else column = LIMIT_COUNT - 1
    }
  }
  reader.skip(position - begin)
  const last = count * stride
  const windows = names.map((_, i): TermWindows => ({ shift, count, rows, stride, column: LIMIT_COUNT + 2 * i }))
  const starts = windows.map(({ column }) => reader.skip(rows[last + column] ?? 0))
  return names.map((name, i) => {
    const positionsStart = reader.skip(rows[last + LIMIT_COUNT + 2 * i + 1] ?? 0)
    return { ...name, bytes, start: starts[i] ?? 0, positionsStart, windows: windows[i] }
  })
}
