import type { CrawlEvent } from './events.ts'
import type { Clock } from './ports.ts'

/** Measures the memory of the process and can free some. */
export interface Memory {
  /** Bytes currently in use. */
  used(): number
  /** Frees memory that is not needed. */
  relieve(): Promise<void>
}

/** Options of {@link MemoryLimiter}. */
export interface MemoryLimiterOptions {
  /** Without it, the limiter admits every visit. */
  readonly memory: Memory | undefined
  readonly limitBytes: number
  readonly clock: Clock
  readonly tell: (event: Extract<CrawlEvent, { type: 'paused' | 'resumed' }>) => void
}

/** The pause ends below this share of the limit, so that the next page does not cause another pause. */
const RESUME_SHARE = 0.85
/** Maximum wait for memory while no visit is in progress. */
const MAX_MEMORY_WAIT_MS = 5000

/** Admits no concurrent visits while too much memory is in use. One visit at a time always continues. */
export class MemoryLimiter {
  readonly #options: MemoryLimiterOptions
  /** Since when memory has been short. */
  #shortSince: number | undefined
  /** Since when no visit has been in progress during that time. */
  #idleSince: number | undefined

  constructor(options: MemoryLimiterOptions) {
    this.#options = options
  }

  /** Whether a visit may begin now, beside `inFlight` others. */
  admits(inFlight: number): boolean {
    const { memory, limitBytes, clock, tell } = this.#options
    if (memory === undefined) return true
    const used = memory.used()
    const now = clock.now()
    if (this.#shortSince === undefined) {
      if (used <= limitBytes) return true
      this.#shortSince = now
      tell({ type: 'paused', cause: 'memory', detail: `${inMegabytes(used)} of ${inMegabytes(limitBytes)} are in use` })
    } else if (used <= limitBytes * RESUME_SHARE) {
      tell({ type: 'resumed', cause: 'memory', pausedMs: now - this.#shortSince })
      this.#shortSince = undefined
      this.#idleSince = undefined
      return true
    }
    if (inFlight > 0) return false
    if (this.#idleSince === undefined) {
      this.#idleSince = now
      // The next call to `admits` measures the effect.
      memory.relieve().catch(() => undefined)
    }
    return now - this.#idleSince >= MAX_MEMORY_WAIT_MS
  }
}

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MB`
}
