import { PharosError } from '../../src/core/errors.ts'
import type { CrawlSummary } from '../../src/crawl/events.ts'
import { type Crawl, MAX_FOCUSED_RUNS } from '../../src/library/ports/store.ts'
import { labelOf, type Source } from '../../src/library/source.ts'

/** The crawls of all sources. */
export class Crawls {
  /** Crawls by id, in the order of their start. */
  readonly #crawls = new Map<string, Crawl>()

  /**
   * Begins a crawl, or resumes `resume`. Stale crawls of the source are closed at their last heartbeat. A live crawl blocks the start, even
   * if it is the crawl to resume, because then another process runs it. A crawl of `goneRunner` is not live, whatever its heartbeat.
   */
  begin(source: Source, crawl: Crawl, staleMs: number, resume?: string, goneRunner?: string): Crawl {
    const now = resume === undefined ? crawl.startedAt : crawl.heartbeatAt
    const running = this.#listOf(source.id).filter(({ state }) => state === 'running')
    const isGone = ({ runner }: Crawl): boolean => goneRunner !== undefined && runner === goneRunner
    if (running.some((other) => !isGone(other) && Math.abs(now - other.heartbeatAt) < staleMs)) {
      throw new PharosError('CRAWL_RUNNING', { source: labelOf(source) })
    }
    const begun = resume === undefined ? { ...crawl } : { ...this.#reopen(source, resume, now), runner: crawl.runner }
    for (const stale of running) {
      if (stale.id !== resume) this.#put({ ...stale, state: 'cancelled', endedAt: stale.heartbeatAt })
    }
    if (crawl.options.isFocused === true) this.#deleteOldFocused(source.id)
    return { ...this.#put(begun) }
  }

  /** Records a heartbeat; false when the crawl is no longer running, or when another runner has taken it over. */
  touch(id: string, now: number, runner?: string): boolean {
    const crawl = this.#crawls.get(id)
    if (crawl?.state !== 'running' || crawl.runner !== (runner ?? crawl.runner)) return false
    this.#put({ ...crawl, heartbeatAt: now })
    return true
  }

  /** Whether a crawl may write: it must be running. An unknown crawl has no owner and may write too. */
  mayWrite(id: string): boolean {
    return (this.#crawls.get(id)?.state ?? 'running') === 'running'
  }

  /** Whether a source has a running crawl. */
  isRunning(sourceId: string): boolean {
    return this.#listOf(sourceId).some(({ state }) => state === 'running')
  }

  /** Ends a running crawl; has no effect after another runner has taken it over. */
  end(id: string, summary: CrawlSummary | null, now: number, runner?: string): void {
    const crawl = this.#crawls.get(id)
    if (crawl?.state !== 'running' || crawl.runner !== (runner ?? crawl.runner)) return
    this.#put({ ...crawl, state: summary?.end ?? 'cancelled', endedAt: now, summary })
  }

  /** The running crawls of all sources. */
  listRunning(): Crawl[] {
    return [...this.#crawls.values()].filter(({ state }) => state === 'running').map((crawl) => ({ ...crawl }))
  }

  /** Lists the crawls of a source, newest first. */
  list(sourceId: string, limit: number): Crawl[] {
    const newest = this.#listOf(sourceId).reverse()
    return newest
      .sort((a, b) => b.startedAt - a.startedAt)
      .slice(0, limit)
      .map((crawl) => ({ ...crawl }))
  }

  /** Crawls that have ended, newest first, without runs for changes in a watched folder. */
  listEnded(): Crawl[] {
    const ended = [...this.#crawls.values()].filter(({ state, options }) => state !== 'running' && !options.isFocused)
    return ended.reverse()
  }

  removeSource(sourceId: string): void {
    for (const { id } of this.#listOf(sourceId)) this.#crawls.delete(id)
  }

  /** Deletes the oldest focused runs, so that the new one stays within the limit. */
  #deleteOldFocused(sourceId: string): void {
    const focused = this.list(sourceId, Number.MAX_SAFE_INTEGER).filter(
      ({ state, options }) => options.isFocused === true && state !== 'running',
    )
    for (const { id } of focused.slice(MAX_FOCUSED_RUNS - 1)) this.#crawls.delete(id)
  }

  #reopen(source: Source, id: string, now: number): Crawl {
    const crawl = this.#crawls.get(id)
    const isOpen = crawl?.state === 'running' || crawl?.state === 'cancelled'
    if (crawl?.sourceId !== source.id || !isOpen) {
      throw new TypeError(`Expected \`resume\` to be an interrupted crawl of ${source.name}, got \`${id}\``)
    }
    return { ...crawl, state: 'running', heartbeatAt: now, endedAt: null, summary: null }
  }

  #listOf(sourceId: string): Crawl[] {
    return [...this.#crawls.values()].filter((crawl) => crawl.sourceId === sourceId)
  }

  #put(crawl: Crawl): Crawl {
    this.#crawls.set(crawl.id, crawl)
    return crawl
  }
}
