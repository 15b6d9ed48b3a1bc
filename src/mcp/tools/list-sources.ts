import { z } from 'zod'
import { countOf } from '../../core/text/count.ts'
import { labelOf } from '../../library/source.ts'
import { sourceRecord } from '../records.ts'
import { orNull } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'
import { oneLine, timeOrNull, writeTime } from '../words.ts'

/** `list_sources`: what the library holds. */
export const listSources: Tool = createTool({
  name: 'list_sources',
  title: 'List sources',
  description: `Lists every indexed source: name (with version), start URL, status (PENDING, CRAWLING, INDEXED, UPDATING, ERROR), number of pages and chunks, and when it was last crawled.
Use it to learn what search_docs can answer from, and the names that other tools take as source.`,
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({}),
  output: z.object({
    sources: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        version: orNull(z.string()),
        url: z.string(),
        status: z.string(),
        pages: z.number(),
        chunks: z.number(),
        lastCrawledAt: orNull(z.string()),
      }),
    ),
  }),
  async run(_args, { library }) {
    const opened = await library()
    const { reportSource } = await import('../../library/operations/source-status.ts')
    const reports = []
    for (const source of await opened.store.listSources()) reports.push(await reportSource(opened, source))
    const lines = reports.map(({ source, status, pages, chunks, crawl }) => {
      const at = crawl?.endedAt ?? null
      const when = at === null ? 'never crawled' : `last crawled ${writeTime(at)}`
      const size = `${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')}`
      return `${oneLine(labelOf(source))} — ${oneLine(source.url)} — ${status} — ${size} — ${when} — id ${source.id}`
    })
    return {
      content: [lines.length === 0 ? 'There are no sources yet; add_source adds one.' : lines.join('\n')],
      structured: {
        sources: reports.map(({ source, status, pages, chunks, crawl }) => ({
          ...sourceRecord(source),
          status,
          pages,
          chunks,
          lastCrawledAt: timeOrNull(crawl?.endedAt ?? null),
        })),
      },
    }
  },
})
