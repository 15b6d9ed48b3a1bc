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
export function writeEntryTable(table: EntryTable): Uint8Array<ArrayBuffer> {
  const { count, numbers, sources, pages, traits, orders, texts, lengths } = table
  const writer = new ByteWriter(count * 32 + 16)
  writer.writeNumber(count)
  for (const column of [numbers, sources, pages, traits]) {
    let last = 0
    for (let i = 0; i < count; i++) {
      const value = column[i] ?? 0
      writer.writeNumber(value >= last ? (value - last) * 2 : (last - value) * 2 - 1)
      last = value
    }
  }
  for (const column of [orders, texts, lengths]) {
    for (let i = 0; i < column.length; i++) writer.writeNumber(column[i] ?? 0)
  }
  return writer.toBytes()
}

/** Parses the output of `writeEntryTable`. */
export function readEntryTable(bytes: Uint8Array, fieldCount: number): EntryTable {
  const reader = new ByteReader(bytes)
  const table = createEntryTable(reader.readCount(), fieldCount)
  const { numbers, sources, pages, traits, orders, texts, lengths } = table
  for (const column of [numbers, sources, pages, traits]) {
    reader.readNumbers(column)
    let last = 0
    for (let i = 0; i < column.length; i++) {
      const difference = column[i] ?? 0
      last += difference % 2 === 0 ? difference / 2 : -(difference + 1) / 2
      column[i] = last
    }
  }
  for (const column of [orders, texts, lengths]) reader.readNumbers(column)
  return table
}

/** A table of zeros. */
function createEntryTable(count: number, fieldCount: number): EntryTable {
  return {
    count,
    numbers: new Float64Array(count),
    sources: new Uint32Array(count),
    pages: new Float64Array(count),
    traits: new Uint32Array(count),
    orders: new Float64Array(count),
    texts: new Float64Array(count),
    lengths: new Uint32Array(count * fieldCount),
  }
}

/** The documents as a table; `lengths` has their tokens by document and field. */
export function toEntryTable(documents: readonly IndexEntry[], lengths: readonly number[]): EntryTable {
  const table = createEntryTable(documents.length, 0)
  documents.forEach(({ number, source, page, traits, order, text }, i) => {
    table.numbers[i] = number
    table.sources[i] = source
    table.pages[i] = page
    table.traits[i] = traits
    table.orders[i] = order
    table.texts[i] = text
  })
  return { ...table, lengths: Uint32Array.from(lengths) }
}

/** Some documents of several tables, one table after the other; `newIndexes` has their indexes in the result, -1 for dropped documents. */
export function joinEntryTables(
  parts: readonly { readonly table: EntryTable; readonly newIndexes: Int32Array }[],
  count: number,
  fieldCount: number,
): EntryTable {
  const joined = createEntryTable(count, fieldCount)
  for (const { table, newIndexes } of parts) {
    for (let i = 0; i < newIndexes.length; i++) {
      const to = newIndexes[i] ?? -1
      if (to < 0) continue
      joined.numbers[to] = table.numbers[i] ?? 0
      joined.sources[to] = table.sources[i] ?? 0
      joined.pages[to] = table.pages[i] ?? 0
      joined.traits[to] = table.traits[i] ?? 0
      joined.orders[to] = table.orders[i] ?? 0
      joined.texts[to] = table.texts[i] ?? 0
      for (let f = 0; f < fieldCount; f++) joined.lengths[to * fieldCount + f] = table.lengths[i * fieldCount + f] ?? 0
    }
  }
  return joined
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
