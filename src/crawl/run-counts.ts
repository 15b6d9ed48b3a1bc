import type { LedgerState, Settled, Settlement } from './ledger.ts'
import type { CrawlRun } from './run.ts'

/** Counts of the addresses that a run settled. Each counts once, in its final state. */
export interface RunCounts {
  visited: number
  indexed: number
  unchanged: number
  skipped: number
  failed: number
  /** Pages that are proven gone. They are no failures: they are counted when they are removed. */
  provenGone: number
  readonly startedAt: number
  readonly run: Pick<CrawlRun, 'isResumed'>
}

/** The moment from which on addresses were settled in this run: an interrupted crawl settled some before. */
export function countedSince({ run, startedAt }: RunCounts): number {
  return run.isResumed ? startedAt : 0
}

type CountedState = 'indexed' | 'unchanged' | 'skipped' | 'failed'

/** Counts a visit that came to an end. */
export function countVisit(counts: RunCounts, settlement: Pick<Settlement, 'isProvenGone'>, settled: Settled): void {
  counts.visited++
  if (settled.state === 'failed' && settlement.isProvenGone === true && settled.hasPage === true) counts.provenGone++
  else countState(counts, settled)
}

/** Counts a page by its state, and moves the page that lost its content to it from its state to the skipped ones. */
export function countState(counts: RunCounts, { state, demoted = null }: Settled): void {
  if (isCounted(state)) counts[state]++
  if (demoted === null || !isCounted(demoted.state) || (demoted.checkedAt ?? 0) < countedSince(counts)) return
  counts[demoted.state]--
  counts.skipped++
}

/** Takes back addresses that were skipped in this run and are visited once more. */
export function uncountSkipped(counts: RunCounts, count: number): void {
  counts.skipped -= count
  counts.visited -= count
}

/** Failures of a run that ended: pages that are proven gone and stay are failures after all. */
export function countFailures(
  { failed, provenGone }: Pick<RunCounts, 'failed' | 'provenGone'>,
  isRemoved: boolean,
): number {
  return isRemoved ? failed : failed + provenGone
}

function isCounted(state: LedgerState): state is CountedState {
  return state === 'indexed' || state === 'unchanged' || state === 'skipped' || state === 'failed'
}
