import type { CrawlInput } from '../operations/crawl-source.ts'
import type { Source } from '../source.ts'
import type { CrawlOrder } from './dispatcher.ts'

/** What the process of a crawl of a known source is told. Fields for its site are left out: what it is told is kept. */
export function writeSourceOrder({ id, url }: Source, { kind, headers: _, ...options }: CrawlInput): CrawlOrder {
  return { url, sourceId: id, args: [`--source=${id}`, `--kind=${kind}`, `--options=${JSON.stringify(options)}`] }
}
