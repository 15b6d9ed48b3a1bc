import type { CrawlEvent } from './events.ts'
import type { Clock } from './ports.ts'

/** What a process has in use, and how it gets rid of what it does not need. */
export interface Memory {
  /** Bytes that are in use now. */
  used(): number
  /** Gives back what can be given back. */
  relieve(): Promise<void>
}

/** What the gate works with. */
export interface MemoryGateOptions {
  /** Without it everything passes. */
  readonly memory: Memory | undefined
  readonly limitBytes: number
  readonly clock: Clock
  readonly tell: (event: Extract<CrawlEvent, { type: 'paused' | 'resumed' }>) => void
}

/** Below this share of the limit the pause is over, so that it does not begin again with the next page. */
const ENOUGH = 0.85
/** How long to wait for memory while nothing of ours is under way that could give some back. */
const MOST_WAIT_MS = 5000

/** Lets no visit begin beside others while too much memory is in use. One at a time goes on whatever happens. */
export class MemoryGate {
  readonly #options: MemoryGateOptions
  /** Since when there is too little memory. */
  #tightSince: number | undefined
  /** Since when nothing was under way meanwhile. */
  #idleSince: number | undefined

  constructor(options: MemoryGateOptions) {
    this.#options = options
  }

  /** Whether a visit may begin now, beside so many others. */
  admits(inFlight: number): boolean {
    const { memory, limitBytes, clock, tell } = this.#options
    if (memory === undefined) return true
    const used = memory.used()
    const now = clock.now()
    if (this.#tightSince === undefined) {
      if (used <= limitBytes) return true
      this.#tightSince = now
      tell({ type: 'paused', cause: 'memory', detail: `${inMegabytes(used)} of ${inMegabytes(limitBytes)} are in use` })
    } else if (used <= limitBytes * ENOUGH) {
      tell({ type: 'resumed', cause: 'memory', pausedMs: now - this.#tightSince })
      this.#tightSince = undefined
      this.#idleSince = undefined
      return true
    }
    if (inFlight > 0) return false
    if (this.#idleSince === undefined) {
      this.#idleSince = now
      // Whether it helped is seen when the next one asks.
      memory.relieve().catch(() => undefined)
    }
    return now - this.#idleSince >= MOST_WAIT_MS
  }
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`
}
