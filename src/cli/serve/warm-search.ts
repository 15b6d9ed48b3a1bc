import type { Feed } from '../../library/jobs/events/feed.ts'
import type { SearchInput } from '../../library/search.ts'

/** Cool-down between two warm-ups. */
const COOLDOWN_MS = 1000
/** Maximum number of feed events read at once. */
const MAX_EVENTS = 1000
const NO_LOGS = { logs: false, jobId: null }
/** Any question will do: what takes long is loading the modules and the model, starting the threads, and indexing new chunks. */
const QUESTION: SearchInput = { query: 'how to start', limit: 1 }

/**
 * Searches now and then while a crawl runs, so that the first search of a user does not have to load everything on a busy machine, nor to
 * index the chunks that the crawl has written. Returns a function that stops it.
 */
export function warmSearchDuringCrawls(
  feed: Feed,
  search: (input: SearchInput) => Promise<unknown>,
  cooldownMs: number = COOLDOWN_MS,
): () => void {
  let after = feed.last
  let warmedAt = Number.NEGATIVE_INFINITY
  let isWarming = false
  return feed.listen(() => {
    const { events, upTo } = feed.read(after, NO_LOGS, MAX_EVENTS)
    after = upTo
    // One at a time: on a busy machine a search can take longer than the cool-down.
    if (isWarming || performance.now() - warmedAt < cooldownMs) return
    // The list of jobs changes when a crawl starts, before it makes progress.
    if (!events.some(({ name }) => name === 'jobs' || name === 'progress')) return
    warmedAt = performance.now()
    isWarming = true
    search(QUESTION)
      // A user's search reports the error.
      .catch(() => undefined)
      .finally(() => {
        isWarming = false
      })
  })
}
