import { setImmediate as pause, setTimeout as sleep } from 'node:timers/promises'
import { PharosError } from '../../../core/errors.ts'
import { BRIEF_STEP, type ChunkIndex, type IndexStep, SMALL_STEP } from '../../../core/retrieval/index/chunk-index.ts'
import { causeOf } from '../../../crawl/store-retry.ts'
import { type AdvanceOptions, advanceAll, STEP_PAUSE_MS, type StepOutcome } from '../../common/advance-all.ts'
import { type Database, tryWriteTo } from '../database/database.ts'

/** Updates the parts of the index that writers left outstanding. */
export interface IndexMaintenance {
  /** Works on the index for as long as a waiting search can afford; the rest follows in the background. */
  runBriefly(): Promise<void>
  /** Does all outstanding work, unless writing stays impossible. */
  runAll(signal?: AbortSignal): Promise<void>
  /** Why the last step could not write; undefined if it could. */
  readProblem(): PharosError | undefined
}

/** How long a search may wait for the index. */
const SEARCH_WAIT_MS = 300

/** Creates the index maintenance. It stops when the database is closed; background work does not keep the process alive. */
export function createIndexMaintenance(db: Database, index: ChunkIndex): IndexMaintenance {
  /** Whether background work is active. */
  let isRunning = false
  /** Whether it is to add chunks that a search did not wait for; otherwise it only merges segments. */
  let isCatchingUp = false
  /** Whether another writer held the lock at the last step. */
  let isLockBusy = false
  let problem: PharosError | undefined

  const advance = (step: IndexStep): StepOutcome => {
    try {
      const outcome = tryWriteTo(db, () => index.advance(step))
      isLockBusy = outcome === 'busy'
      problem = undefined
      if (outcome === 'busy') return 'busy'
      return outcome.result ? 'done' : 'complete'
    } catch (error) {
      if (!(error instanceof PharosError) || causeOf(error) === undefined) throw error
      problem = error
      return 'blocked'
    }
  }
  const isDue = (): boolean => index.isBehind() || index.hasMerges()
  const advanceBy = (options: AdvanceOptions): Promise<void> =>
    advanceAll({ advance: () => advance(SMALL_STEP), isBehind: isDue, isClosed: () => !db.open }, options)
  /** Continues in the background. Errors are ignored, because the next search meets them again. */
  const continueInBackground = (): void => {
    if (isRunning) return
    isRunning = true
    sleep(STEP_PAUSE_MS, undefined, { ref: false })
      .then(() => advanceBy({ ref: false }))
      .catch(() => undefined)
      .finally(() => {
        isRunning = false
        isCatchingUp = false
      })
  }
  const catchUpInBackground = (): void => {
    continueInBackground()
    isCatchingUp = true
  }

  return {
    runBriefly: async () => {
      const until = performance.now() + SEARCH_WAIT_MS
      // While background work makes progress, searches do not wait for it.
      while ((!isCatchingUp || isLockBusy) && index.isBehind()) {
        const outcome = advance(BRIEF_STEP)
        if (outcome === 'blocked') return
        if (outcome !== 'done' || performance.now() >= until) return catchUpInBackground()
        await pause()
      }
      if (!isRunning && index.hasMerges()) continueInBackground()
    },
    runAll: (signal) => advanceBy({ ref: true, signal }),
    readProblem: () => problem,
  }
}
