import type { CrawlEvent } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'

/**
 * Creates what keeps the milestones and problems of a crawl that no server runs, as those of a job: its id is that of the crawl. So
 * whoever asks later what is known of a site learns of them too.
 */
export function createNoteKeeper({ jobLog, clock }: Library, { url }: Source): (event: CrawlEvent) => Promise<void> {
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
