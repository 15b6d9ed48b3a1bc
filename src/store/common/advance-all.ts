import { setTimeout as sleep } from 'node:timers/promises'

/** How often an index is tried while others keep it from being tended. */
export const RETRY_MS = 20
/** How long is rested between two steps: others who wait to write look no more often than that, and a process has other things to do. */
export const REST_MS = 10
/** How long others may keep it from being tended before that is given up. */
const PATIENCE_MS = 2000

/** What became of a step: there may be more to do, nothing is left to do, somebody else is at it, or nothing can be written for now. */
export type Outcome = 'done' | 'complete' | 'busy' | 'blocked'

/** An index that can be brought up to date, step by step. */
export interface Advancing {
  advance(): Outcome | Promise<Outcome>
  isBehind(): boolean | Promise<boolean>
  isClosed(): boolean
}

/** How the steps follow each other. */
export interface Pace {
  /** Whether it begins although a search would miss nothing. */
  readonly isThorough?: boolean
  /** Whether the process stays for it. */
  readonly ref: boolean
  readonly signal?: AbortSignal | undefined
}

/** Does all there is to do for an index, unless nothing can be written for a while. */
export async function advanceAll(index: Advancing, { isThorough = false, ref, signal }: Pace): Promise<void> {
  let busyAt: number | undefined
  // Whoever begins goes on until everything is merged that can be: searches are faster then.
  if (index.isClosed() || !(isThorough || (await index.isBehind()))) return
  while (!index.isClosed() && signal?.aborted !== true) {
    const outcome = await index.advance()
    if (outcome === 'complete' || outcome === 'blocked') return
    const now = performance.now()
    busyAt = outcome === 'busy' ? (busyAt ?? now) : undefined
    if (busyAt !== undefined && now - busyAt > PATIENCE_MS) return
    await sleep(outcome === 'busy' ? RETRY_MS : REST_MS, undefined, { ref })
  }
}
