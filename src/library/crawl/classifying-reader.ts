import { classifyPage } from '../../core/classify/classify-page.ts'
import type { PageReading, ReadOptions } from '../../crawl/ports.ts'
import type { Library } from '../library.ts'

/** Adds the page class to a reading; a reading without a page is returned unchanged. */
export function classifyReading(reading: PageReading): PageReading {
  const { record } = reading
  return record === null ? reading : { ...reading, record: { ...record, classification: classifyPage(record.page) } }
}

/** Returns a page reader with the chunk options of a source that also classifies each page. */
export function createClassifyingReader(
  library: Pick<Library, 'readPage'>,
  chunks: NonNullable<ReadOptions['chunks']>,
): Library['readPage'] {
  return async (snapshot, key, options) =>
    classifyReading(await library.readPage(snapshot, key, { ...options, chunks }))
}
