import { setTimeout as sleep } from 'node:timers/promises'

/** Interval between attempts while another process blocks the index. */
export const BUSY_RETRY_DELAY_MS = 20
/** Pause between two steps, so that other writers can take the lock and the process can do other work. */
export const STEP_PAUSE_MS = 10
/** How long another process may block the index before the update gives up. */
const BUSY_TIMEOUT_MS = 2000

/**
 * The result of a step: more may be left to do, nothing is left, another process is working on the index, or writing is impossible for now.
 */
export type StepOutcome = 'done' | 'complete' | 'busy' | 'blocked'

/** An index that is updated step by step. */
export interface IncrementalIndex {
  advance(): StepOutcome | Promise<StepOutcome>
  isBehind(): boolean | Promise<boolean>
  isClosed(): boolean
}

/** How an index update proceeds. */
export interface AdvanceOptions {
  /** Whether to start even if the index is already complete for searches. */
  readonly isThorough?: boolean
  /** Whether the pending work keeps the process alive. */
  readonly ref: boolean
  readonly signal?: AbortSignal | undefined
}

/** Runs all outstanding steps of an index, unless writing stays impossible. */
export async function advanceAll(
  index: IncrementalIndex,
  { isThorough = false, ref, signal }: AdvanceOptions,
): Promise<void> {
  let busyAt: number | undefined
  // Once started, the update continues until all segments are merged, because searches are faster then.
  if (index.isClosed() || !(isThorough || (await index.isBehind()))) return
  while (!index.isClosed() && signal?.aborted !== true) {
    const outcome = await index.advance()
    if (outcome === 'complete' || outcome === 'blocked') return
    const now = performance.now()
    busyAt = outcome === 'busy' ? (busyAt ?? now) : undefined
    if (busyAt !== undefined && now - busyAt > BUSY_TIMEOUT_MS) return
    await sleep(outcome === 'busy' ? BUSY_RETRY_DELAY_MS : STEP_PAUSE_MS, undefined, { ref })
  }
}
