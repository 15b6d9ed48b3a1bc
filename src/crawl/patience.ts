import { type ErrorCode, PharosError } from '../core/errors.ts'
import type { CrawlEvent, PauseCause } from './events.ts'
import type { Ledger } from './ledger.ts'
import type { Clock } from './ports.ts'
import type { CrawlPorts } from './run.ts'

/** The first pause before a write that was not possible is tried again; each is twice as long as the one before, up to the last. */
const FIRST_PAUSE_MS = 250
const MOST_PAUSE_MS = 5000

/** What patience needs. */
export interface PatienceOptions {
  readonly clock: Clock
  /** Aborted, nothing is waited for any more: what cannot be written then fails at once. */
  readonly signal: AbortSignal
  /** How long to wait altogether before it is given up. */
  readonly pauseMs: (cause: PauseCause) => number
  readonly tell: (event: Extract<CrawlEvent, { type: 'paused' | 'resumed' }>) => void
  /** Called when it is given up, with the reason in words. */
  readonly giveUp: (problem: string) => void
}

/**
 * Waits where a library cannot be written for now: a full disk, one that others keep locked, one that can only be read. However many
 * writes wait, one of them tries, so that what happens is told once and a struggling disk is left alone.
 */
export class Patience {
  readonly #options: PatienceOptions
  /** Resolves when what is waited for has come, or will not. */
  #waiting: Promise<void> | undefined

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  /** Whether something is being waited for. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  /** Does a piece of work that writes, again and again until it could be done. */
  async keep<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#options
    for (;;) {
      while (this.#waiting !== undefined && !signal.aborted) await this.#waiting
      try {
        return await work()
      } catch (error) {
        if (causeOf(error) === undefined || signal.aborted) throw error
        if (this.#waiting === undefined) return await this.#sitOut(work, error)
      }
    }
  }

  /** Does a piece of work that only reads. What cannot be written does not hold it up; it waits where nothing can be asked at all. */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (causeOf(error) !== 'unreachable') throw error
      return await this.keep(work)
    }
  }

  async #sitOut<T>(work: () => Promise<T>, first: unknown): Promise<T> {
    const { clock, tell } = this.#options
    let release = (): void => undefined
    this.#waiting = new Promise((resolve) => {
      release = resolve
    })
    const cause = causeOf(first) ?? 'locked'
    const since = clock.now()
    tell({ type: 'paused', cause, detail: first instanceof Error ? first.message : String(first) })
    try {
      const result = await this.#tryAgain(work, cause)
      tell({ type: 'resumed', cause, pausedMs: clock.now() - since })
      return result
    } finally {
      this.#waiting = undefined
      release()
    }
  }

  async #tryAgain<T>(work: () => Promise<T>, cause: PauseCause): Promise<T> {
    const { clock, signal, pauseMs, giveUp } = this.#options
    const mostMs = pauseMs(cause)
    let waitedMs = 0
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MOST_PAUSE_MS)) {
      await clock.sleep(pause, signal)
      // Not by the clock: time in which this process or its machine stood still is no time in which anybody could have helped.
      waitedMs += pause
      try {
        return await work()
      } catch (error) {
        if (causeOf(error) === undefined || signal.aborted) throw error
        if (waitedMs < mostMs) continue
        giveUp(`${WORDS[cause]} for ${describeTime(mostMs)}; what is there stays, and the crawl can go on later`)
        throw error
      }
    }
  }
}

/** A ledger whose writes wait until they are possible. What only reads goes on meanwhile, unless nothing can be asked at all. */
export function createPatientLedger(ledger: Ledger, patience: Patience): Ledger {
  const methods = new Map<PropertyKey, unknown>()
  return new Proxy(ledger, {
    get(target, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      const call = (args: unknown[]) => (): Promise<unknown> => method.apply(target, args)
      const patient = READS.has(name)
        ? (...args: unknown[]) => patience.ask(call(args))
        : (...args: unknown[]) => patience.keep(call(args))
      methods.set(name, patient)
      return patient
    },
  })
}

/** The same ports of a crawl, which wait for the library where they ask it past the ledger. */
export function createPatientPorts(ports: CrawlPorts, patience: Patience): CrawlPorts {
  const { milestones, readHelp } = ports
  return {
    ...ports,
    kindOf: (page) => patience.ask(() => ports.kindOf(page)),
    readHelp: readHelp && (() => patience.ask(readHelp)),
    milestones: milestones && {
      read: () => patience.ask(() => milestones.read()),
      write: (kind) => patience.keep(() => milestones.write(kind)),
    },
    moveSite: (siteUrl) => patience.keep(() => ports.moveSite(siteUrl)),
  }
}

const READS: ReadonlySet<PropertyKey> = new Set<keyof Ledger>([
  'countOpen',
  'countPages',
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

/** Failures of a store that somebody can do something about while the crawl waits. */
const CAUSES: Readonly<Partial<Record<ErrorCode, PauseCause>>> = {
  LIBRARY_FULL: 'disk-full',
  LIBRARY_LOCKED: 'locked',
  LIBRARY_UNREACHABLE: 'unreachable',
  LIBRARY_READ_ONLY: 'read-only',
}

/** What has to be waited for after a failure; undefined where waiting does not help. */
export function causeOf(error: unknown): PauseCause | undefined {
  return error instanceof PharosError ? CAUSES[error.code] : undefined
}

const WORDS: Readonly<Record<PauseCause, string>> = {
  'disk-full': 'the disk has been full',
  locked: 'another process has kept the library locked',
  unreachable: 'the library has not answered',
  'read-only': 'the library could only be read',
  memory: 'there has been too little memory',
  requested: 'the crawl has been paused',
}

/** A span of time in its largest unit: `1 hour`, `10 minutes`, `3 seconds`. */
export function describeTime(ms: number): string {
  const [unitMs, unit] = ms >= 3_600_000 ? [3_600_000, 'hour'] : ms >= 60_000 ? [60_000, 'minute'] : [1000, 'second']
  const count = Math.round(ms / unitMs)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
