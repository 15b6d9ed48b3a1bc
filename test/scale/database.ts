import type { SimulatedTime } from './time.ts'

/** The operations of a database. */
export type Operation =
  | 'lease'
  | 'settle'
  | 'release'
  | 'countOpen'
  | 'countLedger'
  | 'listHeldHosts'
  | 'readClock'
  | 'changeClock'
  | 'robots'
  | 'touch'

/** Cost of an operation: the number of consecutive statements, and the CPU time in the database. */
export interface Cost {
  readonly statements: number
  readonly cpuMs: number
  /** Whether other writers of the same source wait until the operation ends. */
  readonly isExclusive: boolean
}

/** The settings of a simulated database. */
export interface DatabaseSettings {
  readonly costs: Readonly<Record<Operation, Cost>>
  /** The round trip between a worker and the database. */
  readonly roundTripMs: number
  /** Number of cores, unlimited by default. */
  readonly cores?: number | undefined
  /** A period in which the database does not respond. */
  readonly outage?: { readonly from: number; readonly until: number } | undefined
}

/** An operation that waits for the lock of its source. */
interface WaitingOperation {
  readonly cost: Cost
  readonly since: number
  readonly done: () => void
}

/**
 * A database that executes operations in order and counts them. An operation that writes to a source waits first for the lock of the
 * source, and then for a core, both first come, first served. Times are finer than a millisecond, because most operations take less.
 */
export class SimulatedDatabase {
  readonly counts: Record<Operation, number> = {
    lease: 0,
    settle: 0,
    release: 0,
    countOpen: 0,
    countLedger: 0,
    listHeldHosts: 0,
    readClock: 0,
    changeClock: 0,
    robots: 0,
    touch: 0,
  }
  /** Milliseconds that operations waited for a core. */
  waitedForCoreMs = 0
  /** Milliseconds that operations waited for the lock of their source. */
  waitedForSourceMs = 0
  readonly #time: SimulatedTime
  readonly #settings: DatabaseSettings
  /** The time from which each core is free. */
  readonly #cores: number[]
  /** Locked sources, with the operations that wait for each of them. */
  readonly #sources = new Map<string, WaitingOperation[]>()

  constructor(time: SimulatedTime, settings: DatabaseSettings) {
    this.#time = time
    this.#settings = settings
    this.#cores = new Array<number>(settings.cores ?? 0).fill(0)
  }

  /** Runs an operation, and calls `done` when it has ended. */
  run(operation: Operation, source: string, done: () => void): void {
    const { costs, outage } = this.#settings
    const { now } = this.#time
    this.counts[operation]++
    if (outage === undefined || now < outage.from || now >= outage.until) this.#enter(costs[operation], source, done)
    else this.#time.at(outage.until, () => this.#enter(costs[operation], source, done))
  }

  #enter(cost: Cost, source: string, done: () => void): void {
    const { now } = this.#time
    if (!cost.isExclusive) {
      this.#time.at(this.#begin(cost, now), done)
      return
    }
    const waiting = this.#sources.get(source)
    if (waiting === undefined) this.#sources.set(source, [])
    if (waiting === undefined) this.#beginExclusive(cost, source, now, done)
    else waiting.push({ cost, since: now, done })
  }

  /** Starts an operation that holds the lock of its source, and passes the lock to the next one afterwards. */
  #beginExclusive(cost: Cost, source: string, moment: number, done: () => void): void {
    const end = this.#begin(cost, moment)
    this.#time.at(end, () => {
      const next = this.#sources.get(source)?.shift()
      if (next === undefined) this.#sources.delete(source)
      else {
        this.waitedForSourceMs += end - next.since
        this.#beginExclusive(next.cost, source, end, next.done)
      }
      done()
    })
  }

  /** Starts an operation as soon as a core is free, and returns its end time. */
  #begin({ cpuMs, statements }: Cost, moment: number): number {
    const begun = this.#takeCore(moment, cpuMs)
    this.waitedForCoreMs += begun - moment
    return begun + cpuMs + statements * this.#settings.roundTripMs
  }

  /** Reserves the core that is free first, and returns the time at which it can begin. */
  #takeCore(from: number, cpuMs: number): number {
    let first = 0
    this.#cores.forEach((free, core) => {
      if (free < (this.#cores[first] ?? 0)) first = core
    })
    const free = this.#cores[first]
    if (free === undefined) return from
    const begun = Math.max(from, free)
    this.#cores[first] = begun + cpuMs
    return begun
  }
}
