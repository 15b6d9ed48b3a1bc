import type { CrawlEvent } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/**
 * Returns a function that logs the milestones and problems of a crawl that runs without a server. The crawl id serves as job id, so that
 * later queries about the site find them.
 */
export function createNoteLogger(
  { jobLog, clock }: Pick<Library, 'clock' | 'jobLog'>,
  { url }: Source,
): (event: CrawlEvent) => Promise<void> {
  let jobId: string | undefined
  const scope = URL.parse(url)?.host || null
  return async (event) => {
    if (event.type === 'started') jobId = event.crawlId
    if (jobLog === undefined || jobId === undefined) return
    if (event.type !== 'milestone' && event.type !== 'problem') return
    const { type, kind, target, message, details } = event
    await jobLog.append([{ jobId, at: clock.now(), type, data: { kind, scope, target, message, details } }])
  }
}
