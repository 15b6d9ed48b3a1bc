import type { LedgerState } from './ledger-reasons.ts'
import type { CrawlRun } from './run.ts'
import type { Settlement, SettlementResult } from './settlement.ts'

/** Counts of the addresses that a run settled. Each address counts once, in its final state. */
export interface RunCounts {
  visited: number
  indexed: number
  unchanged: number
  skipped: number
  failed: number
  /** Pages proven gone. They count as failures only if the crawl does not remove them. */
  provenGone: number
  readonly startedAt: number
  readonly run: Pick<CrawlRun, 'isResumed'>
}

/** Addresses settled after this moment belong to this run; a resumed crawl settled others before. */
export function countedSince({ run, startedAt }: RunCounts): number {
  return run.isResumed ? startedAt : 0
}

type CountedState = 'indexed' | 'unchanged' | 'skipped' | 'failed'

/** Counts a completed visit. */
export function countVisit(
  counts: RunCounts,
  settlement: Pick<Settlement, 'isProvenGone'>,
  settled: SettlementResult,
): void {
  counts.visited++
  if (settled.state === 'failed' && settlement.isProvenGone === true && settled.hasPage === true) counts.provenGone++
  else countState(counts, settled)
}

/** Counts a page by its state. If another page lost its content to this one, that page moves from its former state to skipped. */
export function countState(counts: RunCounts, { state, demoted = null }: SettlementResult): void {
  if (isCounted(state)) counts[state]++
  if (demoted === null || !isCounted(demoted.state) || (demoted.checkedAt ?? 0) < countedSince(counts)) return
  counts[demoted.state]--
  counts.skipped++
}

/** Uncounts addresses that this run skipped and visits again. An address that the page cap then leaves out counts as unread. */
export function uncountSkipped(counts: RunCounts, count: number): void {
  counts.skipped -= count
  counts.visited -= count
}

/** Failures of a finished run: pages proven gone that were not removed count as failures. */
export function countFailures(
  { failed, provenGone }: Pick<RunCounts, 'failed' | 'provenGone'>,
  isRemoved: boolean,
): number {
  return isRemoved ? failed : failed + provenGone
}

function isCounted(state: LedgerState): state is CountedState {
  return state === 'indexed' || state === 'unchanged' || state === 'skipped' || state === 'failed'
}
