import { PharosError } from '../../core/errors.ts'
import { FIRST_SEED, hashText } from '../../core/retrieval/text-hash.ts'
import { parseDuration, writeDuration } from '../../core/text/duration.ts'
import type { CrawlSummary } from '../../crawl/events.ts'
import type { Crawl } from '../ports/store.ts'
import type { RefreshSchedule, Source, SourceChange } from '../source.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A shorter interval would burden sites that change far less often. */
const MIN_EVERY_MS = 600_000
const MAX_EVERY_MS = 366 * DAY_MS
/** Sources with the same interval are due at different times within this span. */
const MAX_SPREAD_MS = HOUR_MS
/** Delay before the second attempt, unless the interval is shorter. It doubles with every further attempt. */
const FIRST_RETRY_MS = HOUR_MS
/** The delay between attempts grows up to this, or up to the interval if that is longer. */
const MAX_RETRY_MS = DAY_MS
const MAX_PROBLEM_CHARS = 500

/** The word that turns a schedule off. */
export const NEVER = 'never'

/** Parses how often a source is refreshed; null for never. `name` is the option or field, for the error. */
export function parseEvery(name: string, text: string): number | null {
  if (text.trim().toLowerCase() === NEVER) return null
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= MIN_EVERY_MS && ms <= MAX_EVERY_MS) return ms
  const range = `a duration from ${writeDuration(MIN_EVERY_MS)} to ${writeDuration(MAX_EVERY_MS)} such as 12h, 1d or 2w`
  throw new PharosError('USAGE', {
    problem: `${name}: expected ${range}, or ${NEVER}, got ${JSON.stringify(text)}`,
    field: name,
  })
}

/** The schedule of a source that was last crawled successfully at `from`. */
export function createSchedule(sourceId: string, everyMs: number, from: number): RefreshSchedule {
  return { everyMs, dueAt: from + everyMs + spreadOf(sourceId, everyMs), attempts: 0, problem: null }
}

/**
 * Whether a source is due. A time later than any schedule could set comes from a clock that was ahead, and counts as due; the attempt then
 * replaces it.
 */
export function isDue({ everyMs, dueAt }: RefreshSchedule, now: number): boolean {
  return dueAt <= now || dueAt > now + Math.max(everyMs, MAX_RETRY_MS) + MAX_SPREAD_MS
}

/** The schedule after an attempt has begun. If nothing more is heard of the attempt, the next one follows after a growing delay. */
export function beginAttempt(sourceId: string, schedule: RefreshSchedule, now: number): RefreshSchedule {
  const attempts = schedule.attempts + 1
  return { ...schedule, attempts, problem: null, dueAt: retryAt(sourceId, { ...schedule, attempts }, now) }
}

/** The change of a source after a crawl. Crawls of a part of the source, and stopped ones, leave the schedule as it is. */
export function scheduleAfterCrawl(
  { id, refresh }: Source,
  { kind, options }: Pick<Crawl, 'kind' | 'options'>,
  { end, parked, problem }: Pick<CrawlSummary, 'end' | 'parked' | 'problem'>,
  now: number,
): SourceChange {
  const isWhole = kind !== 'retry' && options.isFocused !== true && Object.keys(options.scope).length === 0
  if (refresh === undefined || !isWhole || end === 'cancelled') return {}
  if (end === 'completed' && parked.length === 0) return { refresh: createSchedule(id, refresh.everyMs, now) }
  const unavailable = parked.map(({ host, detail }) => `${host}: ${detail}`).join('; ')
  const failed = { ...refresh, attempts: Math.max(1, refresh.attempts) }
  const shown = (problem ?? unavailable).slice(0, MAX_PROBLEM_CHARS)
  return { refresh: { ...failed, problem: shown || null, dueAt: retryAt(id, failed, now) } }
}

/** The change of a source whose attempt failed without a crawl that could record it. */
export function scheduleAfterProblem({ refresh }: Source, problem: string): SourceChange {
  if (refresh === undefined || refresh.attempts === 0 || refresh.problem !== null) return {}
  return { refresh: { ...refresh, problem: problem.slice(0, MAX_PROBLEM_CHARS) } }
}

/** `every 1d, next in 5h`, or what went wrong and when the next attempt follows. */
export function writeSchedule(schedule: RefreshSchedule, now: number, isRunning = false): string {
  const { everyMs, dueAt, attempts, problem } = schedule
  const every = `every ${writeDuration(everyMs)}`
  if (isRunning) return `${every}, now running`
  const when = isDue(schedule, now) ? 'now' : `in ${writeDuration(roundUp(dueAt - now))}`
  if (attempts === 0) return `${every}, next ${when}`
  const what = problem === null ? 'last one unfinished' : `last one failed: ${problem}`
  return `${every}, ${what}, attempt ${attempts + 1} ${when}`
}

/** Rounds up to whole minutes, unless the time is short. */
function roundUp(ms: number): number {
  const unit = ms < 60_000 ? 1000 : 60_000
  return Math.ceil(ms / unit) * unit
}

function retryAt(sourceId: string, { everyMs, attempts }: RefreshSchedule, now: number): number {
  // The exponent is limited so that the product stays a safe number.
  const grown = Math.min(everyMs, FIRST_RETRY_MS) * 2 ** Math.min(attempts - 1, 30)
  const delayMs = Math.min(grown, Math.max(everyMs, MAX_RETRY_MS))
  return now + delayMs + spreadOf(sourceId, delayMs)
}

/** Up to a tenth of a delay, always the same for a source, so that sources with the same interval do not start together. */
function spreadOf(sourceId: string, delayMs: number): number {
  const share = (hashText(sourceId, FIRST_SEED) >>> 0) / 2 ** 32
  return Math.floor(share * Math.min(delayMs / 10, MAX_SPREAD_MS))
}
