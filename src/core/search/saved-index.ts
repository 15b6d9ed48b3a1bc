import type { Analyzer } from './analyzer.ts'
import { ByteReader, ByteWriter } from './bytes.ts'
import { type EncodedEntries, visitEntryTerms } from './postings.ts'
import type { Vocabulary } from './vocabulary.ts'

const MAGIC = 0x58444953 // "SIDX"
const FORMAT_VERSION = 1

/** Thrown for bytes that are not an index in a known format, saved with the same options. */
export class SearchIndexFormatError extends Error {
  override readonly name = 'SearchIndexFormatError'
  readonly reason: 'not-an-index' | 'newer-version' | 'other-analyzer' | 'other-fields' | 'damaged'

  constructor(reason: SearchIndexFormatError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** What a saved index depends on. */
interface IndexParts {
  readonly analyzer: Analyzer
  readonly fields: readonly string[]
  readonly vocabulary: Vocabulary
}

/** Writes an index, given its documents in key order. */
export function writeIndex({
  analyzer,
  fields,
  vocabulary,
  keys,
  documents,
}: IndexParts & { readonly keys: readonly string[]; readonly documents: EncodedEntries }): Uint8Array<ArrayBuffer> {
  const counts = new Float64Array(vocabulary.size)
  visitAll(documents, (id) => {
    counts[id] = (counts[id] ?? 0) + 1
  })
  const terms: { id: number; term: string }[] = []
  for (let id = 0; id < counts.length; id++) if (counts[id]) terms.push({ id, term: vocabulary.term(id) })
  terms.sort((a, b) => (counts[b.id] ?? 0) - (counts[a.id] ?? 0) || analyzer.compare(a.term, b.term))

  const writer = new ByteWriter(documents.tokens.length + 1024)
  writer.writeNumber(MAGIC)
  writer.writeNumber(FORMAT_VERSION)
  writer.writeText(analyzer.id)
  writer.writeNumber(fields.length)
  for (const field of fields) writer.writeText(field)
  writer.writeNumber(terms.length)
  for (const { term } of terms) writer.writeText(term)
  writer.writeNumber(keys.length)
  for (const key of keys) writer.writeText(key)
  for (const length of documents.lengths) writer.writeNumber(length)
  const numbers = new Uint32Array(counts.length)
  terms.forEach(({ id }, number) => {
    numbers[id] = number
  })
  visitAll(documents, (id) => writer.writeNumber(numbers[id] ?? 0))
  return writer.toBytes()
}

/** The documents of a saved index: the row of each key, and by row where its tokens begin and how many each field has. */
interface SavedRows {
  readonly rows: Map<string, number>
  readonly starts: Uint32Array<ArrayBuffer>
  readonly lengths: Uint32Array<ArrayBuffer>
  readonly tokens: ByteWriter
}

/** Parses the output of `writeIndex`; its terms are added to `vocabulary`, which must be empty. */
export function readIndex(bytes: Uint8Array, parts: IndexParts): SavedRows {
  try {
    return readRows(new ByteReader(bytes), parts)
  } catch (error) {
    if (error instanceof SearchIndexFormatError) throw error
    throw new SearchIndexFormatError('damaged', 'The saved index is damaged. Build it again.', { cause: error })
  }
}

function readRows(reader: ByteReader, { analyzer, fields, vocabulary }: IndexParts): SavedRows {
  const { length: fieldCount } = fields
  const rows = new Map<string, number>()
  const tokens = new ByteWriter()
  if (reader.remaining < 6 || reader.readNumber() !== MAGIC) {
    throw new SearchIndexFormatError('not-an-index', 'These bytes are not a saved search index.')
  }
  const version = reader.readNumber()
  if (version > FORMAT_VERSION) {
    const message = `The saved index has format ${version}, but this program reads up to ${FORMAT_VERSION}. Upgrade.`
    throw new SearchIndexFormatError('newer-version', message)
  }
  const analyzerId = reader.readText()
  if (analyzerId !== analyzer.id) {
    const message = `The saved index was made with analyzer ${analyzerId}, not ${analyzer.id}. Build it again.`
    throw new SearchIndexFormatError('other-analyzer', message)
  }
  const savedFields = Array.from({ length: reader.readCount() }, () => reader.readText())
  if (savedFields.join('\n') !== fields.join('\n')) {
    const message = `The saved index has the fields ${savedFields.join(', ')}, not ${fields.join(', ')}.`
    throw new SearchIndexFormatError('other-fields', message)
  }
  const termCount = reader.readCount()
  for (let i = 0; i < termCount; i++) {
    const term = reader.readText()
    if (vocabulary.intern(term, 0, term.length) !== i) throw new RangeError('a term occurs twice')
  }
  const keys = Array.from({ length: reader.readCount() }, () => reader.readText())
  const starts = new Uint32Array(Math.max(64, keys.length))
  const lengths = new Uint32Array(starts.length * fieldCount)
  for (let i = 0; i < keys.length * fieldCount; i++) lengths[i] = reader.readCount()
  keys.forEach((key, row) => {
    rows.set(key, row)
    starts[row] = tokens.length
    for (let f = 0; f < fieldCount; f++) {
      for (let left = lengths[row * fieldCount + f] ?? 0; left > 0; left--) {
        const id = reader.readNumber()
        if (id >= termCount) throw new RangeError('a document refers to a missing term')
        tokens.writeNumber(id)
      }
    }
  })
  if (rows.size !== keys.length) throw new RangeError('a key occurs twice')
  if (reader.remaining > 0) throw new RangeError('bytes follow the last document')
  return { rows, starts, lengths, tokens }
}

function visitAll(documents: EncodedEntries, visit: (id: number) => void): void {
  for (let document = 0; document < documents.starts.length; document++) visitEntryTerms(documents, document, visit)
}
