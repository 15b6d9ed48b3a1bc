import { z } from 'zod'
import type { Source } from '../library/source.ts'
import { sourceRecord } from './records.ts'
import { SOURCE_RECORD } from './schemas.ts'
import type { ToolAnswer } from './tool.ts'
import { oneLine } from './words.ts'

/** What is answered when a crawl of a known source has begun. */
export const STARTED: z.ZodObject<{
  source: typeof SOURCE_RECORD
  sourceId: z.ZodString
  crawlId: z.ZodString
  status: z.ZodString
}> = z.object({ source: SOURCE_RECORD, sourceId: z.string(), crawlId: z.string(), status: z.string() })

/** The same as an answer. */
export function writeStarted(source: Source, crawlId: string, what: string): ToolAnswer<z.input<typeof STARTED>> {
  return {
    content: [`${oneLine(what)}.\nSource: ${source.id}\nCrawl: ${crawlId}\nStatus: UPDATING`],
    structured: { source: sourceRecord(source), sourceId: source.id, crawlId, status: 'UPDATING' },
  }
}
