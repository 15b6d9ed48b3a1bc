import { z } from 'zod'
import { PharosError, usageError } from '../../core/errors.ts'
import { writeLabel } from '../../library/search/display-text.ts'
import { labelOf } from '../../library/source.ts'
import { parseCrawlId, pickArgument } from '../arguments.ts'
import { findNamedSource } from '../find-named-source.ts'
import { ONE_SOURCE, text, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `cancel_crawl`: stops a crawl. */
export const cancelCrawl: Tool = createTool({
  name: 'cancel_crawl',
  description:
    'Stops a running crawl, named by crawlId or source. Pages that are indexed stay searchable; recrawl_source resumes the crawl later.',
  effects: { isIdempotent: true },
  isSafe: false,
  input: z.strictObject({
    crawlId: text(),
    jobId: unlisted(text()),
    ...ONE_SOURCE,
    version: text(),
  }),
  output: z.object({ crawlId: z.string(), source: z.string(), isEnded: z.boolean() }),
  async run(args, context) {
    const givenId = pickArgument(args, 'crawlId', 'jobId')
    const id = givenId === undefined ? undefined : parseCrawlId(givenId)
    const name = pickArgument(args, 'source', 'library', 'sourceId')
    if (id === undefined && name === undefined)
      throw usageError('crawlId or source is missing: say which crawl to stop')
    const library = await context.library()
    const jobs = await context.jobs()
    const { findCrawlSource } = await import('../../library/sources/describe-crawl.ts')
    const source = id === undefined ? await findNamedSource(library, args) : await findCrawlSource(library, jobs, id)
    const label = writeLabel(source)
    // For a crawl that had to wait, the client got the id of the job instead.
    const wantedId = id === undefined ? undefined : (jobs.find(id)?.crawlId ?? id)
    const isWanted = (crawlId: string) => wantedId === undefined || crawlId === wantedId
    const job = jobs
      .list()
      .find(({ sourceId, crawlId, endedAt }) => sourceId === source.id && isWanted(crawlId) && endedAt === null)
    if (job === undefined || !(await jobs.cancel(job.crawlId))) {
      const { reportSource } = await import('../../library/sources/source-status.ts')
      const { isRunning, crawl } = await reportSource(library, source)
      const isElsewhere = isRunning && (id === undefined || crawl?.id === id)
      const where = isElsewhere ? ' here; another process crawls it: stop it there' : ''
      throw new PharosError('CRAWL_NOT_RUNNING', { source: label, where })
    }
    const isEnded = job.endedAt !== null
    return {
      content: [
        isEnded
          ? `Cancelled the crawl ${job.crawlId} of ${label}.`
          : `Cancelling the crawl ${job.crawlId} of ${label}: pages being fetched are finished first.`,
      ],
      structured: { crawlId: job.crawlId, source: labelOf(source), isEnded },
    }
  },
})
