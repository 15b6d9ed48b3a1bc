import type { Feed } from '../../library/jobs/events/feed.ts'
import type { SearchPool } from '../../processes/search-pool.ts'

/** Cool-down between two warm-ups. */
const COOLDOWN_MS = 10_000
/** Maximum number of feed events read at once. */
const MAX_EVENTS = 1000
const NO_LOGS = { logs: false, jobId: null }
/** Any question will do: what takes long is loading the modules, the index and the model, and starting the threads. */
const QUESTION = { query: 'how to start', limit: 1, tokens: 1 }

/**
 * Searches now and then while a crawl runs, so that the first search of a user does not have to load everything on a busy machine. It goes
 * on until a search by meaning has loaded the model, because vectors appear only after the first pages. Returns a function that stops it.
 */
export function warmSearchDuringCrawls(feed: Feed, pool: Pick<SearchPool, 'search'>): () => void {
  let after = feed.last
  let warmedAt = Number.NEGATIVE_INFINITY
  let isComplete = false
  const warm = async (): Promise<void> => {
    const { engines } = await pool.search(QUESTION)
    isComplete = engines.includes('vectors')
  }
  return feed.listen(() => {
    const { events, upTo } = feed.read(after, NO_LOGS, MAX_EVENTS)
    after = upTo
    if (isComplete || performance.now() - warmedAt < COOLDOWN_MS) return
    // The list of jobs changes when a crawl starts, before it makes progress.
    if (!events.some(({ name }) => name === 'jobs' || name === 'progress')) return
    warmedAt = performance.now()
    // A user's search reports the error.
    void warm().catch(() => undefined)
  })
}
