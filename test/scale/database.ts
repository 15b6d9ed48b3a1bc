import type { SimulatedTime } from './time.ts'

/** What is asked of a database. */
export type Operation =
  | 'lease'
  | 'settle'
  | 'release'
  | 'countOpen'
  | 'listHeldHosts'
  | 'readClock'
  | 'changeClock'
  | 'robots'

/** What an operation takes: how many statements, one after the other, and how much of a core of the database. */
export interface Cost {
  readonly statements: number
  readonly cpuMs: number
  /** Whether others that write to the same source wait until it is done. */
  readonly isExclusive: boolean
}

/** How a database is. */
export interface DatabaseSettings {
  readonly costs: Readonly<Record<Operation, Cost>>
  /** From a worker to the database and back. */
  readonly roundTripMs: number
  /** Cores that it has; as many as are needed where nothing is said. */
  readonly cores?: number | undefined
  /** A time in which it does not answer. */
  readonly outage?: { readonly from: number; readonly until: number } | undefined
}

/** Tells when a database is done with what it is asked, and counts. */
export class SimulatedDatabase {
  readonly counts: Record<Operation, number> = {
    lease: 0,
    settle: 0,
    release: 0,
    countOpen: 0,
    listHeldHosts: 0,
    readClock: 0,
    changeClock: 0,
    robots: 0,
  }
  /** Milliseconds that operations waited for a core, and for their source. */
  waitedForCoreMs = 0
  waitedForSourceMs = 0
  readonly #time: SimulatedTime
  readonly #settings: DatabaseSettings
  /** When each core is free. */
  readonly #cores: number[]
  /** When each source is. */
  readonly #sources = new Map<string, number>()

  constructor(time: SimulatedTime, settings: DatabaseSettings) {
    this.#time = time
    this.#settings = settings
    this.#cores = new Array<number>(settings.cores ?? 0).fill(0)
  }

  /** The moment at which an operation is done that is asked for now. */
  admit(operation: Operation, source: string): number {
    const { costs, roundTripMs, outage } = this.#settings
    const { statements, cpuMs, isExclusive } = costs[operation]
    this.counts[operation]++
    const { now } = this.#time
    const asked = outage !== undefined && now >= outage.from && now < outage.until ? outage.until : now
    const unlocked = isExclusive ? Math.max(asked, this.#sources.get(source) ?? 0) : asked
    this.waitedForSourceMs += unlocked - asked
    const begun = this.#takeCore(unlocked, cpuMs)
    this.waitedForCoreMs += begun - unlocked
    const done = begun + cpuMs + statements * roundTripMs
    if (isExclusive) this.#sources.set(source, done)
    return done
  }

  /** When the core that is free first can begin; it is busy from then on. */
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
