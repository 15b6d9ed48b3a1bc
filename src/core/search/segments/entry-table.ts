import { ByteReader, ByteWriter } from '../bytes.ts'

/** What an index stores about a document besides its terms. */
export interface IndexEntry {
  /** The number of the document in the collection. */
  readonly number: number
  readonly source: number
  readonly page: number
  /** A small number that encodes traits of the document, such as its kind. */
  readonly traits: number
  /** Tie-breaker between documents with equal scores: the smaller value comes first. At most 48 bits. */
  readonly order: number
  /** A hash of its text: equal for the same text, and hardly ever for others; 0 if unknown. At most 48 bits. */
  readonly text: number
}

/** The documents of a segment, column by column; inside the segment they are identified by index. */
export interface EntryTable {
  readonly count: number
  readonly numbers: Float64Array
  readonly sources: Uint32Array
  readonly pages: Float64Array
  readonly traits: Uint32Array
  readonly orders: Float64Array
  readonly texts: Float64Array
  /** Tokens by document and field: `lengths[document * fieldCount + field]`. */
  readonly lengths: Uint32Array
}

/** Writes a table. The columns in which successive values are similar are written as differences. */
export function writeEntryTable(documents: readonly IndexEntry[], lengths: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(documents.length * 16 + 16)
  writer.writeNumber(documents.length)
  for (const column of COLUMNS) {
    let last = 0
    for (const { [column]: value } of documents) {
      writer.writeNumber(value >= last ? (value - last) * 2 : (last - value) * 2 - 1)
      last = value
    }
  }
  for (const { order } of documents) writer.writeNumber(order)
  for (const { text } of documents) writer.writeNumber(text)
  for (let i = 0; i < lengths.length; i++) writer.writeNumber(lengths[i] ?? 0)
  return writer.toBytes()
}

const COLUMNS = ['number', 'source', 'page', 'traits'] as const

/** Parses the output of `writeEntryTable`. */
export function readEntryTable(bytes: Uint8Array, fieldCount: number): EntryTable {
  const reader = new ByteReader(bytes)
  const count = reader.readCount()
  const readDifferences = <T extends Float64Array | Uint32Array>(column: T): T => {
    let last = 0
    for (let i = 0; i < count; i++) {
      const difference = reader.readNumber()
      last += difference % 2 === 0 ? difference / 2 : -(difference + 1) / 2
      column[i] = last
    }
    return column
  }
  const numbers = readDifferences(new Float64Array(count))
  const sources = readDifferences(new Uint32Array(count))
  const pages = readDifferences(new Float64Array(count))
  const traits = readDifferences(new Uint32Array(count))
  const readNumbers = <T extends Float64Array | Uint32Array>(column: T): T => {
    for (let i = 0; i < column.length; i++) column[i] = reader.readNumber()
    return column
  }
  const orders = readNumbers(new Float64Array(count))
  const texts = readNumbers(new Float64Array(count))
  const lengths = readNumbers(new Uint32Array(count * fieldCount))
  return { count, numbers, sources, pages, traits, orders, texts, lengths }
}

/** One document of a table. */
export function entryAt(table: EntryTable, index: number): IndexEntry {
  return {
    number: table.numbers[index] ?? 0,
    source: table.sources[index] ?? 0,
    page: table.pages[index] ?? 0,
    traits: table.traits[index] ?? 0,
    order: table.orders[index] ?? 0,
    text: table.texts[index] ?? 0,
  }
}
