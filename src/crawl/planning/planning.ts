import { messageOf } from '../../core/errors.ts'
import type { CrawlEvent } from '../events.ts'
import type { Refusal } from '../ledger.ts'
import type { Discovery } from '../ledger-reasons.ts'
import { type CandidateAddress, type CompletedVisit, type CrawlPlanner, EMPTY_STEP, type PlanStep } from './planner.ts'

/** Weight of the seeds of a planner: below all other addresses except the start. */
const SEED_WEIGHT = -900
/** Weight of the start, which is visited first because plans depend on it. */
const START_WEIGHT = -1000

const NOTHING_OFFERED = { waiting: [], admitted: 0 }

/** Options of {@link Planning}. */
export interface PlanningOptions {
  readonly planner: CrawlPlanner
  /** Where the crawl starts. */
  readonly startUrl: string
  /** Adds seeds to the frontier. Returns those that wait there now, and how many were new. */
  readonly offer: (
    urls: readonly string[],
  ) => Promise<{ readonly waiting: readonly string[]; readonly admitted: number }>
  /** Raises the priority of addresses that already wait in the frontier. */
  readonly prioritize: (urls: readonly string[]) => Promise<void>
  readonly tell: (event: CrawlEvent) => void
}

/**
 * Connects a planner to a running crawl. Asynchronous calls to the planner run one at a time, in order; `weigh`, `refuse` and `noteListed`
 * call it directly. A planner that throws is switched off, and the crawl continues.
 */
export class Planning {
  readonly #options: PlanningOptions
  #lastCall: Promise<unknown> = Promise.resolve()
  #isOff = false
  #hasEnded = false

  constructor(options: PlanningOptions) {
    this.#options = options
  }

  /** Weight of an address in the frontier; lower is visited earlier. */
  weigh(candidate: CandidateAddress): number {
    if (candidate.discovery === 'planner') return SEED_WEIGHT
    if (candidate.discovery === 'manual') return START_WEIGHT
    return this.#callSafely(() => this.#options.planner.weigh(candidate), 0)
  }

  /** Returns why the planner leaves an address out. Addresses from the user or the planner itself are never refused. */
  refuse(candidate: CandidateAddress): Refusal | null {
    if (candidate.discovery === 'planner' || candidate.discovery === 'manual') return null
    return this.#callSafely(() => this.#options.planner.refuse(candidate), null)
  }

  noteListed(urls: readonly string[], discovery: Discovery): void {
    this.#callSafely(() => this.#options.planner.noteListed(urls, discovery), undefined)
  }

  begin(site: Parameters<CrawlPlanner['begin']>[0]): Promise<number> {
    return this.#step(() => this.#options.planner.begin(site))
  }

  noteVisit(visit: CompletedVisit, keyOf: (url: string) => string | undefined): Promise<number> {
    return this.#step(() => this.#options.planner.noteVisit(visit, keyOf))
  }

  /** Asks for more seeds when nothing is due. Returns whether there are new ones. */
  async idle(): Promise<boolean> {
    return (await this.#step(() => this.#options.planner.idle())) > 0
  }

  /** Ends the plan; further calls do nothing. */
  async end(isComplete: boolean): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    await this.#step(async () => ({ ...(await this.#options.planner.end(isComplete)), seeds: [] }))
    this.#isOff = true
  }

  /** Queues a call to the planner and carries out its step. Returns the number of new seeds. */
  #step(call: () => Promise<PlanStep>): Promise<number> {
    const turn = this.#lastCall.then(() => this.#carryOut(call))
    this.#lastCall = turn.catch(() => undefined)
    return turn
  }

  async #carryOut(call: () => Promise<PlanStep>): Promise<number> {
    const step = this.#isOff ? EMPTY_STEP : await call().catch((error: unknown) => this.#fail(error))
    const { planner, offer, prioritize, tell } = this.#options
    const { seeds, prioritized = [] } = step
    const { waiting, admitted } = seeds.length === 0 ? NOTHING_OFFERED : await offer(seeds)
    if (prioritized.length > 0) await prioritize(prioritized)
    for (const event of step.events) tell(event)
    if (seeds.length === 0) return 0
    const taken = new Set(waiting)
    const left = seeds.filter((url) => !taken.has(url))
    const noted = this.#isOff ? [] : await planner.noteSeeded(waiting, left).catch((error) => this.#fail(error).events)
    for (const event of noted) tell(event)
    return admitted
  }

  #callSafely<T>(call: () => T, fallback: T): T {
    if (this.#isOff) return fallback
    try {
      return call()
    } catch (error) {
      this.#fail(error)
      return fallback
    }
  }

  #fail(error: unknown): PlanStep {
    this.#isOff = true
    const message = `the planner failed, and the crawl continues without it: ${messageOf(error)}`
    this.#options.tell({
      type: 'problem',
      kind: 'intelligent-plan-failed',
      target: this.#options.startUrl,
      message,
      details: {},
    })
    return EMPTY_STEP
  }
}
