import { messageOf } from '../core/errors.ts'
import type { CrawlEvent } from './events.ts'
import type { Discovery, Refusal } from './ledger.ts'
import { type CrawlPlanner, NO_STEP, type PlannedFind, type PlannedVisit, type PlanStep } from './planner.ts'

/** Weight of what a plan wants to be visited: less than that of everything else, the most promising of it least. */
const SEED_WEIGHT = -900
/** The start is what plans are made from. */
const START_WEIGHT = -1000

const NOTHING_OFFERED = { waiting: [], admitted: 0 }

/** What the plan of a crawl works with. */
export interface PlanningOptions {
  readonly planner: CrawlPlanner
  /** Where the crawl starts. */
  readonly startUrl: string
  /** Puts seeds into the frontier. Answers those that wait there now, and how many were not there before. */
  readonly offer: (
    urls: readonly string[],
  ) => Promise<{ readonly waiting: readonly string[]; readonly admitted: number }>
  /** Has addresses visited sooner that wait in the frontier already. */
  readonly hasten: (urls: readonly string[]) => Promise<void>
  readonly tell: (event: CrawlEvent) => void
}

/**
 * The plan of a crawl while it runs. Calls of the planner are made one after the other, in the order of what happens. One that
 * throws ends the plan and never the crawl.
 */
export class Planning {
  readonly #options: PlanningOptions
  #turn: Promise<unknown> = Promise.resolve()
  #isOver = false
  #hasEnded = false

  constructor(options: PlanningOptions) {
    this.#options = options
  }

  /** How early an address is to be visited. */
  weigh(find: PlannedFind): number {
    if (find.discovery === 'planner') return SEED_WEIGHT
    if (find.discovery === 'manual') return START_WEIGHT
    return this.#ask(() => this.#options.planner.weigh(find), 0)
  }

  /** Why the plan leaves an address out that the gate lets through. What was given by hand, or by the plan itself, is taken. */
  refuse(find: PlannedFind): Refusal | null {
    if (find.discovery === 'planner' || find.discovery === 'manual') return null
    return this.#ask(() => this.#options.planner.refuse(find), null)
  }

  noteListed(urls: readonly string[], discovery: Discovery): void {
    this.#ask(() => this.#options.planner.noteListed(urls, discovery), undefined)
  }

  begin(site: Parameters<CrawlPlanner['begin']>[0]): Promise<number> {
    return this.#step(() => this.#options.planner.begin(site))
  }

  noteVisit(visit: PlannedVisit, keyOf: (url: string) => string | undefined): Promise<number> {
    return this.#step(() => this.#options.planner.noteVisit(visit, keyOf))
  }

  /** Asks for more when nothing is due. Tells whether there is something to visit now. */
  async idle(): Promise<boolean> {
    return (await this.#step(() => this.#options.planner.idle())) > 0
  }

  /** Ends the plan, once. */
  async end(isComplete: boolean): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    await this.#step(async () => ({ ...(await this.#options.planner.end(isComplete)), seeds: [] }))
    this.#isOver = true
  }

  /** Makes a call of the planner when all before are over, and does what it asks for. Answers how many seeds are new. */
  #step(call: () => Promise<PlanStep>): Promise<number> {
    const turn = this.#turn.then(() => this.#take(call))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #take(call: () => Promise<PlanStep>): Promise<number> {
    const step = this.#isOver ? NO_STEP : await call().catch((error: unknown) => this.#fail(error))
    const { planner, offer, hasten, tell } = this.#options
    const { seeds, further = [] } = step
    const { waiting, admitted } = seeds.length === 0 ? NOTHING_OFFERED : await offer(seeds)
    if (further.length > 0) await hasten(further)
    for (const event of step.events) tell(event)
    if (seeds.length === 0) return 0
    const taken = new Set(waiting)
    const left = seeds.filter((url) => !taken.has(url))
    const noted = this.#isOver ? [] : await planner.noteSeeded(waiting, left).catch((error) => this.#fail(error).events)
    for (const event of noted) tell(event)
    return admitted
  }

  #ask<T>(call: () => T, otherwise: T): T {
    if (this.#isOver) return otherwise
    try {
      return call()
    } catch (error) {
      this.#fail(error)
      return otherwise
    }
  }

  #fail(error: unknown): PlanStep {
    this.#isOver = true
    const message = `the plan broke off, and the crawl goes on without it: ${messageOf(error)}`
    this.#options.tell({
      type: 'problem',
      kind: 'intelligent-plan-failed',
      target: this.#options.startUrl,
      message,
      details: {},
    })
    return NO_STEP
  }
}
