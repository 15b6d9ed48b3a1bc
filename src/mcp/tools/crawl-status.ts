import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import type { CrawlEntry } from '../../library/sources/describe-crawl.ts'
import { parseCrawlId, pickArgument, readNumber } from '../arguments.ts'
import { isState, STATE_FILTERS } from '../crawl-states.ts'
import { findNamedSource } from '../find-named-source.ts'
import { crawlRecord, reportRecord } from '../records.ts'
import { CRAWL_ENTRY, CRAWL_REPORT, number, ONE_SOURCE, orNull, rare, text, unlisted } from '../schemas.ts'
import { writeCrawlLine, writeCrawlStatus } from '../status-text.ts'
import { createTool, type Tool } from '../tool.ts'

/** Maximum number of addresses listed with their reason. */
const MAX_LISTED = 20
const LIMIT = { default: 20, minimum: 1, maximum: 200 } as const

/** `crawl_status`: the progress of a crawl, or its result. */
export const crawlStatus: Tool = createTool({
  name: 'crawl_status',
  description:
    'Shows the progress or result of a crawl, with failed pages and reasons. Name a source or a crawl; without either it lists crawls, newest first.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    ...ONE_SOURCE,
    version: text(),
    crawlId: text(),
    jobId: unlisted(text()),
    status: rare(
      z.enum(STATE_FILTERS).optional().describe('Filters the list: running, completed, failed or another state.'),
    ),
    limit: rare(number('Of the list. Default 20.')),
  }),
  output: z.object({ report: orNull(CRAWL_REPORT), crawls: z.array(CRAWL_ENTRY) }),
  async run(args, context) {
    const crawlId = pickArgument(args, 'crawlId', 'jobId')
    const name = pickArgument(args, 'source', 'library', 'sourceId')
    const id = crawlId === undefined ? undefined : parseCrawlId(crawlId)
    if (id === undefined && name === undefined && args.version !== undefined) {
      throw usageError('version alone names no source: give source as well')
    }
    const library = await context.library()
    const jobs = await context.jobs()
    const { describeCrawl, findCrawlSource, findWithdrawn, listCrawls } = await import(
      '../../library/sources/describe-crawl.ts'
    )
    if (id === undefined && name === undefined) {
      const limit = readNumber('limit', args.limit ?? LIMIT.default, LIMIT)
      const all = await listCrawls(library, LIMIT.maximum)
      return writeList(all.filter(({ state }) => isState(state, args.status)).slice(0, limit))
    }
    const source =
      name === undefined
        ? undefined
        : await findNamedSource(library, args).catch((error: unknown) => {
            const withdrawn = findWithdrawn(jobs, name)
            if (withdrawn === undefined) throw error
            return withdrawn
          })
    const owner = id === undefined ? source : await findCrawlSource(library, jobs, id)
    if (owner === undefined || (source !== undefined && source.id !== owner.id)) {
      throw usageError(`crawl ${id} does not belong to ${source?.name}: name only the crawl, or only the source`)
    }
    const report = await describeCrawl(library, jobs, owner, MAX_LISTED, id)
    return {
      content: [writeCrawlStatus(report, context.isReadOnly)],
      structured: { report: reportRecord(report), crawls: [] },
    }
  },
})

function writeList(entries: readonly CrawlEntry[]) {
  const text = entries.length === 0 ? 'There are no such crawls.' : entries.map(writeCrawlLine).join('\n')
  return { content: [text], structured: { report: null, crawls: entries.map(crawlRecord) } }
}
