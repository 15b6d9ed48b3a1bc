import { classifyPage } from '../analysis/classify-page.ts'
import type { PageReading, ReadOptions } from '../crawl/ports.ts'
import type { Library } from './library.ts'

/** Adds to what was read of a page what kind of page it is. What is no page stays as it is. */
export function classifyReading(reading: PageReading): PageReading {
  const { record } = reading
  return record === null ? reading : { ...reading, record: { ...record, classification: classifyPage(record.page) } }
}

/** Reads pages for a source that has them cut in a way, and says of each what kind it is. */
export function readClassified(library: Library, chunks: NonNullable<ReadOptions['chunks']>): Library['readPage'] {
  return async (snapshot, key, options) =>
    classifyReading(await library.readPage(snapshot, key, { ...options, chunks }))
}
