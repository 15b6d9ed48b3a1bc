import { HEARTBEATS_PER_TIMEOUT, PROGRESS_INTERVAL_MS } from '../../src/crawl/observe-crawl.ts'
import { DEFAULT_CRAWL_LIMITS } from '../../src/crawl/run.ts'
import { type DatabaseSettings, SimulatedDatabase } from './database.ts'
import { crawlLean } from './lean-crawl.ts'
import { type NetworkStats, SimulatedNetwork } from './network.ts'
import { SimulatedProcess } from './process.ts'
import { createRandom } from './random.ts'
import { SharedLedger } from './shared-ledger.ts'
import { SimulatedTime } from './time.ts'
import { crawlWhole } from './whole-crawl.ts'
import { countPending, createWorld, type SimulatedHost, type World, type WorldSize } from './world.ts'

/** Something that happens to workers at a moment. */
export interface Mishap {
  readonly at: number
  /** `kill` ends workers abruptly, and new ones replace them. `freeze` stops them for a while. */
  readonly kind: 'kill' | 'freeze'
  readonly workers: number
}

/** The settings of a simulation. */
export interface Scenario {
  readonly seed: number
  readonly world: WorldSize
  readonly workers: number
  /** Maximum number of concurrent visits of a worker. */
  readonly visitsAtOnce: number
  /** Maximum number of hosts that a worker may hold. */
  readonly hostsAtOnce: number
  /** Maximum number of workers at one source. */
  readonly workersAtOnce: number
  /** Number of visits after which the simulation ends. */
  readonly visits: number
  /** Simulated time after which the simulation ends at the latest. */
  readonly maxMs: number
  readonly database: DatabaseSettings
  readonly mishaps: readonly Mishap[]
  /** Whether the whole engine makes the visits, or only the part that determines order and pace. */
  readonly isWhole: boolean
}

/** Figures of a distribution. */
export interface Spread {
  readonly min: number
  readonly p5: number
  readonly median: number
  readonly p95: number
  readonly max: number
}

/** The result of a simulation. */
export interface Outcome {
  readonly spanMs: number
  readonly visits: number
  readonly failed: number
  /** Visits whose host had changed hands when they ended, so that nothing was written. */
  readonly lost: number
  readonly network: NetworkStats
  /** Concurrent requests per host, over all hosts that were requested. */
  readonly inFlight: Spread
  /** Visits in each ten seconds. */
  readonly windows: readonly number[]
  readonly requestedHosts: number
  readonly startedSources: number
  /** Hosts of the largest source. */
  readonly largestSource: number
  readonly handovers: number
  /** Milliseconds until another worker took over a host of a killed or frozen worker. */
  readonly recovery: Readonly<Record<Mishap['kind'], Spread | null>>
  readonly recovered: Readonly<Record<Mishap['kind'], number>>
  /** Visits of each worker that ran from beginning to end. */
  readonly perWorker: Spread
  /** Longest time between two visits of a source that has started. */
  readonly sourceWaitMs: Spread
  /** The smaller share of visits at hosts of two sources, while both still had addresses. */
  readonly sharedHosts: { readonly count: number; readonly smallerShare: Spread | null }
  readonly operations: Readonly<Record<string, number>>
  readonly waitedForCoreMs: number
  readonly waitedForSourceMs: number
  /** Number of remaining addresses. */
  readonly backlog: number
  /** Violations, as text. */
  readonly problems: readonly string[]
}

/** Interval between the heartbeats of a worker. */
const HEARTBEAT_INTERVAL_MS = DEFAULT_CRAWL_LIMITS.aliveMs / HEARTBEATS_PER_TIMEOUT
/** Time after which a killed worker is replaced. */
const RESTART_DELAY_MS = 15_000
/** Time after which a frozen worker resumes. */
const FROZEN_MS = 45_000
/** Interval at which an idle worker looks for work. */
const POLL_INTERVAL_MS = 2000
const WINDOW_MS = 10_000

/** Lets workers crawl a world. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const simulation = new Simulation(scenario)
  await simulation.run()
  return simulation.conclude()
}

class Simulation {
  readonly #scenario: Scenario
  readonly #time = new SimulatedTime()
  readonly #world: World
  readonly #database: SimulatedDatabase
  readonly #network: SimulatedNetwork
  readonly #ledger: SharedLedger
  readonly #random: () => number
  #workers: SimulatedProcess[] = []
  #begun = 0
  #visits = 0
  #lost = 0
  #changes = 0
  readonly #windows: number[] = []
  readonly #perWorker = new Map<string, number>()
  readonly #lastVisit = new Map<string, number>()
  readonly #sourceWaits = new Map<string, number>()
  /** Workers that were killed or frozen, and since when. */
  readonly #missing = new Map<string, { readonly kind: Mishap['kind']; readonly since: number }>()
  readonly #recovery: Record<Mishap['kind'], number[]> = { kill: [], freeze: [] }
  #failure: unknown

  constructor(scenario: Scenario) {
    const { world: size, seed, database } = scenario
    this.#scenario = scenario
    this.#world = createWorld(size, seed)
    this.#random = createRandom(seed + 1)
    this.#database = new SimulatedDatabase(this.#time, database)
    this.#network = new SimulatedNetwork(this.#time, this.#world, this.#random)
    this.#ledger = new SharedLedger({
      time: this.#time,
      world: this.#world,
      database: this.#database,
      onHostTaken: (before) => this.#recordTaken(before),
      onSettled: (group, process, isLost) => this.#recordSettled(group.source.id, process, isLost),
    })
  }

  async run(): Promise<void> {
    const { workers, visits, maxMs: mostMs, mishaps } = this.#scenario
    for (let i = 0; i < workers; i++) this.#begin()
    for (const mishap of mishaps) this.#time.at(mishap.at, () => this.#applyMishap(mishap))
    await this.#time.run(mostMs, () => this.#visits >= visits || this.#failure !== undefined)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Starts one more worker. */
  #begin(): void {
    const { visitsAtOnce: visits, hostsAtOnce: hosts, isWhole } = this.#scenario
    const parts = { time: this.#time, ledger: this.#ledger, network: this.#network, random: this.#random }
    const settings = { ...parts, visits, hosts }
    const worker = new SimulatedProcess(`w${++this.#begun}`, settings, isWhole ? crawlWhole : crawlLean)
    this.#workers.push(worker)
    this.#perWorker.set(worker.id, 0)
    this.#work(worker).catch((error: unknown) => {
      this.#failure = error
    })
    this.#time.at(this.#time.now + this.#random() * POLL_INTERVAL_MS, () => this.#moveIfIdle(worker, 0))
    this.#repeat(worker, HEARTBEAT_INTERVAL_MS, () => worker.sendHeartbeat())
    this.#repeat(worker, PROGRESS_INTERVAL_MS, () => worker.pollProgress())
  }

  /** Crawls one source after the other. */
  async #work(worker: SimulatedProcess): Promise<void> {
    for (;;) {
      const source = this.#choose()
      if (source !== undefined) await worker.crawl(source)
      await new Promise<void>((resolve) =>
        this.#time.at(this.#time.now + POLL_INTERVAL_MS, () => worker.deliver(resolve)),
      )
    }
  }

  /** Chooses the source with the most free hosts per worker, among sources below the worker limit. */
  #choose(): string | undefined {
    const { workersAtOnce } = this.#scenario
    const busy = new Map<string, number>()
    for (const { source } of this.#workers) if (source !== null) busy.set(source, (busy.get(source) ?? 0) + 1)
    let best: string | undefined
    let mostFree = 0
    for (const { id } of this.#world.sources) {
      const workers = busy.get(id) ?? 0
      const free = workers < workersAtOnce ? this.#ledger.countFree(id) / (1 + workers) : 0
      if (free <= mostFree) continue
      mostFree = free
      best = id
    }
    return best
  }

  /** Moves a worker to another source if it was idle at this check and at the one before. */
  #moveIfIdle(worker: SimulatedProcess, idleChecks: number): void {
    if (worker.isKilled) return
    const isIdle = worker.source !== null && this.#ledger.countHeld(worker) === 0
    if (isIdle && idleChecks >= 1) worker.deliver(() => worker.stop())
    this.#time.at(this.#time.now + POLL_INTERVAL_MS, () => this.#moveIfIdle(worker, isIdle ? idleChecks + 1 : 0))
  }

  /** Runs a task of a worker periodically, at different times for each worker. */
  #repeat(worker: SimulatedProcess, everyMs: number, work: () => void): void {
    const wait = (ms: number): void => this.#time.at(this.#time.now + ms, () => worker.deliver(runAndWait))
    const runAndWait = (): void => {
      work()
      wait(everyMs)
    }
    wait(this.#random() * everyMs)
  }

  #applyMishap({ kind, workers }: Mishap): void {
    const { now } = this.#time
    const available = this.#workers.filter(({ isKilled: isGone, id }) => !isGone && !this.#missing.has(id))
    for (let i = 0; i < workers; i++) {
      const [worker] = available.splice(Math.floor(this.#random() * available.length), 1)
      if (worker === undefined) return
      this.#missing.set(worker.id, { kind, since: now })
      if (kind === 'kill') {
        worker.kill()
        this.#workers = this.#workers.filter((other) => other !== worker)
        this.#time.at(now + RESTART_DELAY_MS, () => this.#begin())
      } else {
        worker.freeze()
        this.#time.at(now + FROZEN_MS, () => worker.thaw())
      }
    }
  }

  #recordTaken(before: string | null): void {
    this.#changes++
    // The holder name of a process is its id followed by a unique suffix.
    const missing = this.#missing.get(before?.split('#')[0] ?? '')
    if (missing !== undefined) this.#recovery[missing.kind].push(this.#time.now - missing.since)
  }

  #recordSettled(source: string, process: string, isLost: boolean): void {
    if (isLost) {
      this.#lost++
      return
    }
    const { now } = this.#time
    this.#visits++
    const window = Math.floor(now / WINDOW_MS)
    this.#windows[window] = (this.#windows[window] ?? 0) + 1
    this.#perWorker.set(process, (this.#perWorker.get(process) ?? 0) + 1)
    const waited = now - (this.#lastVisit.get(source) ?? now)
    this.#lastVisit.set(source, now)
    if (waited >= (this.#sourceWaits.get(source) ?? 0)) this.#sourceWaits.set(source, waited)
  }

  conclude(): Outcome {
    const { hosts, sources } = this.#world
    const groups = sources.flatMap((source) => source.groups)
    const steadyWorkers = [...this.#perWorker].filter(
      ([id]) => !this.#missing.has(id) && Number(id.slice(1)) <= this.#scenario.workers,
    )
    const shares = hosts.flatMap(smallerShare)
    return {
      spanMs: this.#time.now,
      visits: this.#visits,
      failed: groups.reduce((sum, { failed }) => sum + failed, 0),
      lost: this.#lost,
      network: this.#network.stats,
      inFlight: spreadOf(hosts.flatMap(({ maxInFlight }) => (maxInFlight > 0 ? [maxInFlight] : []))) ?? NO_SPREAD,
      windows: Array.from(this.#windows, (count) => count ?? 0),
      requestedHosts: hosts.filter(({ requests }) => requests > 0).length,
      startedSources: this.#lastVisit.size,
      largestSource: sources.reduce((most, source) => Math.max(most, source.groups.length), 0),
      handovers: this.#changes,
      recovery: { kill: spreadOf(this.#recovery.kill), freeze: spreadOf(this.#recovery.freeze) },
      recovered: { kill: this.#recovery.kill.length, freeze: this.#recovery.freeze.length },
      perWorker: spreadOf(steadyWorkers.map(([, count]) => count)) ?? NO_SPREAD,
      sourceWaitMs: spreadOf([...this.#sourceWaits.values()]) ?? NO_SPREAD,
      sharedHosts: { count: shares.length, smallerShare: spreadOf(shares) },
      operations: this.#database.counts,
      waitedForCoreMs: this.#database.waitedForCoreMs,
      waitedForSourceMs: this.#database.waitedForSourceMs,
      backlog: groups.reduce((sum, group) => sum + countPending(group) + group.leased.size, 0),
      problems: this.#findProblems(),
    }
  }

  /** Finds violations: requests that came too early, and addresses that are lost or in two places. */
  #findProblems(): string[] {
    const { breaches, breachCount } = this.#network.stats
    const problems = breaches.map(
      ({ host, at, kind, gapMs, leastMs }) =>
        `${host} got a request at ${at} ms, after ${gapMs} ms instead of ${leastMs} ms (${kind})`,
    )
    if (breachCount > breaches.length) problems.push(`… and ${breachCount - breaches.length} more`)
    for (const { groups } of this.#world.hosts) {
      for (const { host, firstNumber, settled, failed, leased, returned } of groups) {
        const numbers = new Set([...returned, ...leased.values()].map(({ number }) => number))
        const areUnique = numbers.size === returned.length + leased.size
        if (!areUnique || firstNumber !== settled + failed + numbers.size)
          problems.push(`addresses of ${host.name} are lost or counted twice`)
      }
    }
    return problems
  }
}

/** The share of visits that the source with fewer visits got at a host of two sources, while both had pending addresses. */
function smallerShare({ groups, requests }: SimulatedHost): number[] {
  const [one, other] = groups
  if (one === undefined || other === undefined || requests < 20) return []
  if (countPending(one) === 0 || countPending(other) === 0) return []
  const all = one.settled + other.settled
  return all === 0 ? [] : [Math.min(one.settled, other.settled) / all]
}

const NO_SPREAD: Spread = { min: 0, p5: 0, median: 0, p95: 0, max: 0 }

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { min: at(0), p5: at(0.05), median: at(0.5), p95: at(0.95), max: at(1) }
}
