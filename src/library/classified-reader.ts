import { classifyPage } from '../analysis/classify-page.ts'
import type { PageReading } from '../crawl/ports.ts'

/** Adds to what was read of a page what kind of page it is. What is no page stays as it is. */
export function classifyReading(reading: PageReading): PageReading {
  const { record } = reading
  return record === null ? reading : { ...reading, record: { ...record, classification: classifyPage(record.page) } }
}
