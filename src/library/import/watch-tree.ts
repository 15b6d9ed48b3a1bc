import { PharosError, usageError } from '../../core/errors.ts'
import { PathSelection } from '../../core/folder/path-selection.ts'
import type { CrawlEvent, CrawlKind, CrawlProgress, CrawlSummary } from '../../crawl/events.ts'
import type { Reason } from '../../crawl/ledger-reasons.ts'
import { readRowsAt } from '../copy/read-rows.ts'
import { crawlSource } from '../crawl/crawl-source.ts'
import type { Library } from '../library.ts'
import type { CrawlRunOptions } from '../ports/store.ts'
import { keysOf, type TreeWatch } from '../ports/tree.ts'
import { labelOf, type Source } from '../source.ts'
import { ANY_PATH, ChangeDebouncer } from './debounce-changes.ts'
import { FailedFiles } from './failed-files.ts'
import { possibleContainers, TreeSurvey } from './tree-survey.ts'

/** Options for watching a folder. */
export interface WatchInput {
  /** Kind of the first run. @default recrawl */
  readonly kind?: CrawlKind
  /** Options of the first run. @default none */
  readonly options?: Partial<CrawlRunOptions>
  /** Poll interval in milliseconds, instead of notifications of the system. @default polls only if the system sends no notifications */
  readonly pollMs?: number | undefined
}

/** Why a file was checked. */
export type WatchCause = 'startup' | 'catch-up' | 'created' | 'modified' | 'retry'

/** An event of watching a folder. */
export type WatchEvent =
  /** Everything has been checked; from now on changes are followed. */
  | {
      readonly type: 'caught-up'
      readonly isFirst: boolean
      readonly summary: CrawlSummary
      /** Number of watched folders. */
      readonly folders: number
      readonly polling: TreeWatch['polling']
    }
  | { readonly type: 'indexed'; readonly path: string; readonly chunks: number; readonly cause: WatchCause }
  | { readonly type: 'unchanged'; readonly path: string; readonly cause: WatchCause }
  | {
      readonly type: 'skipped'
      readonly path: string
      readonly reason: Reason | null
      readonly detail: string | null
      readonly cause: WatchCause
    }
  | { readonly type: 'removed'; readonly path: string; readonly cause: WatchCause }
  /** The file could not be read; its stored page stays. */
  | {
      readonly type: 'failed'
      readonly path: string
      readonly reason: Reason | null
      readonly detail: string | null
      readonly cause: WatchCause
      readonly retries: number
      /** Time until the next retry in milliseconds; null if only a change of the file can help. */
      readonly retryMs: number | null
    }
  /** A failed file was read, or no longer exists. */
  | { readonly type: 'healed'; readonly path: string; readonly isGone: boolean; readonly retries: number }
  /** Pages of missing files stay, because the loss gate does not allow the removal of so many. */
  | { readonly type: 'withheld'; readonly pages: number; readonly problem: string | null }
  /** A run has failed. */
  | { readonly type: 'vain'; readonly problem: string | null }
  /** Progress of a full check. */
  | { readonly type: 'progress'; readonly progress: CrawlProgress }
  /** A batch of changes is settled. */
  | { readonly type: 'settled'; readonly summary: CrawlSummary }
  /** The folder is missing; nothing is removed, and the watch waits for it. */
  | { readonly type: 'away'; readonly problem: string }
  | { readonly type: 'back' }
  /** The watch waits for the end of a temporary problem, then retries. */
  | { readonly type: 'waiting'; readonly problem: string }

/** Above this number of changed paths and this share of the known ones, a full check is cheaper. */
const FULL_CHECK_THRESHOLD = { paths: 100, share: 0.5 } as const
/** Interval for checking that the folder still exists. */
const FOLDER_CHECK_INTERVAL_MS = 30_000
/** Back-off for temporary problems; the last value repeats. */
const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 30_000] as const
/** Window in which removed pages count together for the loss gate, because a large folder takes several batches to delete. */
const LOSS_WINDOW_MS = 60_000

/** Temporary errors, after which the pending work is retried. */
const TEMPORARY_ERRORS: ReadonlySet<string> = new Set([
  'CRAWL_RUNNING',
  'LIBRARY_LOCKED',
  'LIBRARY_FULL',
  'LIBRARY_UNREACHABLE',
  'LIBRARY_READ_ONLY',
])

/**
 * Keeps a folder in sync with the library until stopped. First it checks everything, to catch up with earlier changes; then it collects
 * changes and settles them in batches. Nothing is removed before its replacement has been read, or because a file is unreadable.
 */
export async function* watchTree(
  library: Library,
  source: Source,
  input: WatchInput,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, void> {
  const session = new WatchSession(library, source, input, signal)
  try {
    for (;;) {
      try {
        yield* session.doPendingWork()
      } catch (error) {
        if (signal.aborted) return
        yield* session.waitAfter(error)
      }
      if (signal.aborted) return
    }
  } finally {
    session.close()
  }
}

/** State of a watched folder: collected changes and pending work. */
class WatchSession {
  readonly #library: Library
  readonly #source: Source
  readonly #input: WatchInput
  readonly #signal: AbortSignal
  readonly #changes = new ChangeDebouncer()
  readonly #failed = new FailedFiles()
  readonly #losses: { readonly at: number; readonly pages: number }[] = []
  #watch: TreeWatch | undefined
  #isAway = false
  #isCaughtUp = false
  /** Consecutive temporary failures. */
  #failureCount = 0
  #wake = new AbortController()

  constructor(library: Library, source: Source, input: WatchInput, signal: AbortSignal) {
    this.#library = library
    this.#source = source
    this.#input = input
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake.abort(), { once: true })
  }

  close(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  /** Does the pending work, or waits for some. */
  async *doPendingWork(): AsyncGenerator<WatchEvent, void, void> {
    if (this.#watch === undefined) yield* this.#begin()
    const retried = this.#failed.listDue(this.#now())
    const changed = this.#changes.take(this.#now())
    if (retried.length === 0 && changed.length === 0) {
      await this.#waitForWork()
      // Walks nothing, but throws if the folder is missing: its deletion may cause no event.
      if (this.#changes.nextAt() === null) await this.#walk(new PathSelection([]))
      return
    }
    try {
      yield* (await this.#needsFullCheck(changed)) ? this.#catchUp(retried) : this.#settle(changed, retried)
      this.#failureCount = 0
    } catch (error) {
      // Returns the changes to the queue.
      for (const path of changed) this.#changes.note(path, this.#now())
      throw error
    }
  }

  /** Whether everything must be checked. A page limit always requires a full check, because the limit applies to all pages. */
  async #needsFullCheck(changed: readonly string[]): Promise<boolean> {
    if (changed.includes(ANY_PATH) || this.#source.scope.maxPages !== null) return true
    if (changed.length <= FULL_CHECK_THRESHOLD.paths) return false
    const { total } = await this.#library.store.countLedger(this.#source.id)
    return changed.length > total * FULL_CHECK_THRESHOLD.share
  }

  /** Waits after a temporary problem, or while the folder is missing; rethrows everything else. */
  async *waitAfter(error: unknown): AsyncGenerator<WatchEvent, void, void> {
    if (!(error instanceof PharosError)) throw error
    const { code, message } = error
    // Another run intervened, so everything must be checked.
    if (code === 'CRAWL_UNFINISHED') return this.#changes.note(ANY_PATH, this.#now())
    const isAway = code === 'SOURCE_NOT_FOUND' || code === 'SOURCE_UNREADABLE'
    if (!isAway && !TEMPORARY_ERRORS.has(code)) throw error
    if (isAway && !this.#isCaughtUp && !this.#isAway && this.#watch === undefined) throw error
    if (isAway) {
      this.close()
      if (!this.#isAway) yield { type: 'away', problem: message }
      this.#isAway = true
    } else if (this.#failureCount === 0) yield { type: 'waiting', problem: message }
    const delayMs = RETRY_DELAYS_MS[Math.min(this.#failureCount, RETRY_DELAYS_MS.length - 1)] ?? 0
    this.#failureCount++
    await this.#library.clock.sleep(delayMs, this.#signal).catch(() => undefined)
  }

  #now(): number {
    return this.#library.clock.now()
  }

  /** Starts the watch and marks everything as changed. */
  async *#begin(): AsyncGenerator<WatchEvent, void, void> {
    const { trees } = this.#library
    if (trees?.watch === undefined) {
      throw usageError(`${labelOf(this.#source)} cannot be watched: this library was opened without access to folders`)
    }
    const onChange = (path: string) => {
      const before = this.#changes.nextAt()
      this.#changes.note(path, this.#now())
      // Wakes the loop only for the first change; later ones are already scheduled.
      if (before === null) this.#wake.abort()
    }
    this.#watch = await trees.watch(this.#source.url, { onChange, pollMs: this.#input.pollMs })
    this.#changes.note(ANY_PATH, -Infinity)
    if (this.#isAway) yield { type: 'back' }
    this.#isAway = false
    this.#failureCount = 0
  }

  async #waitForWork(): Promise<void> {
    const times = [this.#changes.nextAt(), this.#failed.nextAt(), this.#now() + FOLDER_CHECK_INTERVAL_MS]
    const until = times.reduce((earliest: number, at) => Math.min(earliest, at ?? earliest), Infinity)
    this.#wake = new AbortController()
    if (this.#signal.aborted) return
    await this.#library.clock.sleep(Math.max(0, until - this.#now()), this.#wake.signal).catch(() => undefined)
  }

  async #walk(focus: PathSelection | undefined): Promise<TreeSurvey> {
    const survey = new TreeSurvey(this.#source.scope)
    for await (const entry of this.#watch?.walk(focus, this.#signal) ?? []) survey.add(entry)
    return survey
  }

  /** Checks everything. The walk comes first: it watches every folder on the way, so that no later change is missed. */
  async *#catchUp(retried: readonly string[]): AsyncGenerator<WatchEvent, void, void> {
    yield* this.#forgetMissing(await this.#walk(undefined))
    const { kind = 'recrawl', options = {} } = this.#isCaughtUp ? {} : this.#input
    const cause = this.#isCaughtUp ? 'catch-up' : 'startup'
    const retriedPaths = new Set(retried)
    const lostBefore = this.#countLosses()
    const summary = yield* this.#run({ kind, ...options, lostBefore }, (path) =>
      retriedPaths.has(path) ? 'retry' : cause,
    )
    const isFirst = !this.#isCaughtUp
    this.#isCaughtUp = true
    const { folders = 0, polling = null } = this.#watch ?? {}
    yield { type: 'caught-up', isFirst, summary, folders, polling }
  }

  /** Checks changed paths and due retries. No run starts if nothing concerns the library. */
  async *#settle(changed: readonly string[], retried: readonly string[]): AsyncGenerator<WatchEvent, void, void> {
    // A page of a container file is read together with its file.
    const containers = await Promise.all(retried.map((path) => this.#fileOf(path)))
    const focus = new PathSelection([...changed, ...retried, ...containers])
    const survey = await this.#walk(focus)
    yield* this.#forgetMissing(survey, focus)
    const concerned: string[] = []
    const known = new Set<string>()
    const readable = listReadable(survey)
    const readablePaths = new PathSelection(readable)
    for (const path of focus.paths) {
      const hasPages = await this.#collectKeys(path, known)
      if (hasPages || readable.has(path) || readablePaths.hasPathBelow(path)) concerned.push(path)
    }
    if (concerned.length === 0) return
    const retriedPaths = new Set(retried.filter((path) => !changed.includes(path)))
    const causeOf = (path: string): WatchCause =>
      retriedPaths.has(path) ? 'retry' : known.has(path) ? 'modified' : 'created'
    const lostBefore = this.#countLosses()
    const summary = yield* this.#run({ kind: 'refresh', discover: true, focus: concerned, lostBefore }, causeOf)
    yield { type: 'settled', summary }
  }

  /** Removes failures of files that no longer exist. */
  *#forgetMissing(survey: TreeSurvey, focus = new PathSelection([ANY_PATH])): Generator<WatchEvent, void, void> {
    for (const path of this.#failed.paths) {
      if (focus.contains(path) && survey.stateOf(path) !== 'file' && survey.stateOf(path) !== 'unreadable') {
        yield* this.#heal(path, true)
      }
    }
  }

  /** Adds ledger keys at and below a path to `known`; returns whether any of them has a page. */
  async #collectKeys(path: string, known: Set<string>): Promise<boolean> {
    let hasPages = false
    for await (const rows of readRowsAt(this.#library.store, this.#source.id, path)) {
      for (const { key } of rows) known.add(key)
      hasPages ||= rows.some(({ hasPage }) => hasPage)
    }
    return hasPages
  }

  /** Counts recently removed pages. */
  #countLosses(): number {
    const since = this.#now() - LOSS_WINDOW_MS
    while ((this.#losses[0]?.at ?? Infinity) < since) this.#losses.shift()
    return this.#losses.reduce((sum, { pages }) => sum + pages, 0)
  }

  async *#run(
    input: Parameters<typeof crawlSource>[2],
    causeOf: (path: string) => WatchCause,
  ): AsyncGenerator<WatchEvent, CrawlSummary, void> {
    const missingPaths: string[] = []
    let summary: CrawlSummary | undefined
    for await (const event of crawlSource(this.#library, this.#source, input, this.#signal)) {
      if (event.type === 'ended') summary = event.summary
      if (event.type === 'progress' && input.focus === undefined) yield { type: 'progress', progress: event }
      if (event.type !== 'settled') continue
      const [path = event.url] = keysOf(this.#library, this.#source, event.url)
      if (event.state === 'failed' && event.reason === 'not-found') missingPaths.push(path)
      else yield* this.#report(path, event, causeOf(path))
    }
    this.#signal.throwIfAborted()
    // Another process runs the crawl, or the library could not be written for too long.
    if (summary === undefined || summary.end === 'cancelled') {
      throw new PharosError('CRAWL_RUNNING', { source: labelOf(this.#source) })
    }
    const { end, removed, moved = 0, withheld, problem } = summary
    const lost = removed - moved
    if (lost > 0) this.#losses.push({ at: this.#now(), pages: lost })
    if (end === 'gate') yield { type: 'withheld', pages: withheld, problem }
    if (end === 'failed') yield { type: 'vain', problem }
    for (const path of missingPaths) {
      if (end === 'completed') yield { type: 'removed', path, cause: causeOf(path) }
      yield* this.#heal(path, true)
    }
    return summary
  }

  async *#report(
    path: string,
    { state, reason, detail, chunks }: Extract<CrawlEvent, { type: 'settled' }>,
    cause: WatchCause,
  ): AsyncGenerator<WatchEvent, void, void> {
    if (state === 'failed' || (reason !== null && DEFECTS.has(reason))) {
      const stamp = await this.#readStamp(await this.#fileOf(path))
      const now = this.#now()
      const { retries, retryAt } = this.#failed.fail(path, now, stamp)
      const retryMs = retryAt === null ? null : retryAt - now
      yield { type: 'failed', path, reason, detail, cause, retries, retryMs }
      return
    }
    if (state === 'indexed') yield { type: 'indexed', path, chunks, cause }
    if (state === 'unchanged') yield { type: 'unchanged', path, cause }
    if (state === 'skipped') yield { type: 'skipped', path, reason, detail, cause }
    yield* this.#heal(path, false)
  }

  /** Returns the file of a page in a container; any other path is returned unchanged. */
  async #fileOf(path: string): Promise<string> {
    for (const file of [path, ...possibleContainers(path)]) if ((await this.#readStamp(file)) !== null) return file
    return path
  }

  async #readStamp(path: string): Promise<string | null> {
    return (await this.#watch?.readStamp(path)) ?? null
  }

  *#heal(path: string, isGone: boolean): Generator<WatchEvent, void, void> {
    const failed = this.#failed.remove(path)
    if (failed !== undefined) yield { type: 'healed', path, isGone, retries: failed.retries }
  }
}

/** Lists files that must be read. */
function listReadable(survey: TreeSurvey): ReadonlySet<string> {
  const isReadable = (path: string) => survey.stateOf(path) === 'file' && survey.findRefusal(path) === null
  return new Set([...survey.paths()].filter(isReadable))
}

/** Reasons why a file has no content now but may have some once it is repaired. */
const DEFECTS: ReadonlySet<Reason> = new Set<Reason>(['damaged', 'encrypted', 'page-defect', 'unreadable'])
