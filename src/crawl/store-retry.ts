import { type ErrorCode, PharosError } from '../core/errors.ts'
import type { CrawlEvent, PauseCause } from './events.ts'
import type { Ledger } from './ledger.ts'
import type { Clock } from './ports.ts'
import type { CrawlPorts } from './run.ts'

/** First delay before a failed write is retried; each delay doubles, up to the maximum. */
const FIRST_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 5000

/** Options of {@link StoreRetry}. */
export interface StoreRetryOptions {
  readonly clock: Clock
  /** Once aborted, nothing waits: a failing write then throws at once. */
  readonly signal: AbortSignal
  /** Maximum total wait by cause. */
  readonly maxWaitMs: (cause: PauseCause) => number
  readonly tell: (event: Extract<CrawlEvent, { type: 'paused' | 'resumed' }>) => void
  /** Called with the problem as text when the maximum wait is reached. */
  readonly giveUp: (problem: string) => void
}

/**
 * Waits while a library cannot be written: the disk is full, another process holds the lock, or the library is unreachable or read-only.
 * Only one of the waiting writes retries, so that each pause is reported once and a struggling disk gets few requests.
 */
export class StoreRetry {
  readonly #options: StoreRetryOptions
  /** Resolves when the wait has ended, successfully or not. */
  #waiting: Promise<void> | undefined

  constructor(options: StoreRetryOptions) {
    this.#options = options
  }

  /** Whether a write is waiting. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** Runs a write. While the store cannot be written, retries it until it succeeds or the maximum wait is over. */
  async retryWrite<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#options
    for (;;) {
      while (this.#waiting !== undefined && !signal.aborted) await this.#waiting
      try {
        return await work()
      } catch (error) {
        if (causeOf(error) === undefined || signal.aborted) throw error
        if (this.#waiting === undefined) return await this.#waitAndRetry(work, error)
      }
    }
  }

  /** Runs a read. Failed writes do not delay it; it waits only while the store is unreachable. */
  async retryRead<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (causeOf(error) !== 'unreachable') throw error
      return await this.retryWrite(work)
    }
  }

  async #waitAndRetry<T>(work: () => Promise<T>, first: unknown): Promise<T> {
    const { clock, tell } = this.#options
    let release = (): void => undefined
    this.#waiting = new Promise((resolve) => {
      release = resolve
    })
    const cause = causeOf(first) ?? 'locked'
    const since = clock.now()
    tell({ type: 'paused', cause, detail: first instanceof Error ? first.message : String(first) })
    try {
      const result = await this.#retryUntilLimit(work, cause)
      tell({ type: 'resumed', cause, pausedMs: clock.now() - since })
      return result
    } finally {
      this.#waiting = undefined
      release()
    }
  }

  async #retryUntilLimit<T>(work: () => Promise<T>, cause: PauseCause): Promise<T> {
    const { clock, signal, maxWaitMs, giveUp } = this.#options
    const limitMs = maxWaitMs(cause)
    let waitedMs = 0
    for (let pause = FIRST_RETRY_DELAY_MS; ; pause = Math.min(pause * 2, MAX_RETRY_DELAY_MS)) {
      await clock.sleep(pause, signal)
      // Adds up the delays instead of reading the clock: while the process or machine is suspended, the cause cannot be fixed.
      waitedMs += pause
      try {
        return await work()
      } catch (error) {
        if (causeOf(error) === undefined || signal.aborted) throw error
        if (waitedMs < limitMs) continue
        giveUp(`${PAUSE_MESSAGES[cause]} for ${describeTime(limitMs)}; stored pages stay, and the crawl can be resumed`)
        throw error
      }
    }
  }
}

/** Wraps a ledger so that its writes wait until they succeed. Reads continue, unless the store is unreachable. */
export function createRetryingLedger(ledger: Ledger, storeRetry: StoreRetry): Ledger {
  const methods = new Map<PropertyKey, unknown>()
  return new Proxy(ledger, {
    get(target, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      const call = (args: unknown[]) => (): Promise<unknown> => method.apply(target, args)
      const retrying = READ_METHODS.has(name)
        ? (...args: unknown[]) => storeRetry.retryRead(call(args))
        : (...args: unknown[]) => storeRetry.retryWrite(call(args))
      methods.set(name, retrying)
      return retrying
    },
  })
}

/** Wraps the ports of a crawl that access the library outside the ledger, so that they wait too. */
export function createRetryingPorts(ports: CrawlPorts, storeRetry: StoreRetry): CrawlPorts {
  const { milestones, readJoinedCounts } = ports
  return {
    ...ports,
    kindOf: (page) => storeRetry.retryRead(() => ports.kindOf(page)),
    readJoinedCounts: readJoinedCounts && (() => storeRetry.retryRead(readJoinedCounts)),
    milestones: milestones && {
      read: (isResumed) => storeRetry.retryRead(() => milestones.read(isResumed)),
      write: (kind) => storeRetry.retryWrite(() => milestones.write(kind)),
    },
    moveSite: (siteUrl) => storeRetry.retryWrite(() => ports.moveSite(siteUrl)),
  }
}

const READ_METHODS: ReadonlySet<PropertyKey> = new Set<keyof Ledger>([
  'countOpen',
  'countSettled',
  'countLedger',
  'findRow',
  'findUnread',
  'listHeldHosts',
  'listPagesOf',
  'listRows',
  'listUnseenLists',
  'readClock',
  'readClockFor',
  'readLinks',
  'readList',
  'readRobots',
])

/** Store errors that a user can fix while the crawl waits. */
const CAUSES: Readonly<Partial<Record<ErrorCode, PauseCause>>> = {
  LIBRARY_FULL: 'disk-full',
  LIBRARY_LOCKED: 'locked',
  LIBRARY_UNREACHABLE: 'unreachable',
  LIBRARY_READ_ONLY: 'read-only',
}

/** The cause to wait for after an error; undefined if waiting does not help. */
export function causeOf(error: unknown): PauseCause | undefined {
  return error instanceof PharosError ? CAUSES[error.code] : undefined
}

const PAUSE_MESSAGES: Readonly<Record<PauseCause, string>> = {
  'disk-full': 'the disk has been full',
  locked: 'another process has kept the library locked',
  unreachable: 'the library has not answered',
  'read-only': 'the library has been read-only',
  memory: 'there has been too little memory',
  requested: 'the crawl has been paused',
}

/** Formats a duration in its largest unit: `1 hour`, `10 minutes`, `3 seconds`. */
export function describeTime(ms: number): string {
  const [unitMs, unit] = ms >= 3_600_000 ? [3_600_000, 'hour'] : ms >= 60_000 ? [60_000, 'minute'] : [1000, 'second']
  const count = Math.round(ms / unitMs)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
