import { z } from 'zod'
import type { Library, SourceState } from '../library/library.ts'
import { oneLine } from '../library/search/display-text.ts'
import type { Source } from '../library/source.ts'
import { sourceRecord } from './records.ts'
import { SOURCE_RECORD } from './schemas.ts'
import type { ToolAnswer } from './tool.ts'

/** The response when a crawl has started. */
export const STARTED_CRAWL: z.ZodObject<{
  source: typeof SOURCE_RECORD
  sourceId: z.ZodString
  crawlId: z.ZodString
  status: z.ZodString
}> = z.object({ source: SOURCE_RECORD, sourceId: z.string(), crawlId: z.string(), status: z.string() })

/** Writes the response for a started crawl. If the crawl has already ended, the response has the status after it. */
export async function writeStartedCrawl(
  library: SourceState & Pick<Library, 'vectors'>,
  source: Source,
  crawlId: string,
  headline: string,
  hasEnded = false,
): Promise<ToolAnswer<z.input<typeof STARTED_CRAWL>>> {
  const { readRunningStatus, reportSource } = await import('../library/sources/source-status.ts')
  const status = hasEnded
    ? (await reportSource(library, source)).status
    : await readRunningStatus(library, source.id, crawlId)
  return {
    content: [`${oneLine(headline)}.\nSource: ${source.id}\nCrawl: ${crawlId}\nStatus: ${status}`],
    structured: { source: sourceRecord(source), sourceId: source.id, crawlId, status },
  }
}
