import type { PlanStep } from '../crawl/planner.ts'

/** What is told where nothing is said about it. */
const USUAL_VERBOSITY = 1

/** What a plan has to tell: problems and milestones, each milestone once, and what it thinks as far as somebody wants to know. */
export class PlanTale {
  readonly #verbosity: number
  readonly #reached = new Set<string>()
  #newlyReached: string[] = []
  #events: PlanStep['events'][number][] = []

  constructor(verbosity: number = USUAL_VERBOSITY) {
    this.#verbosity = verbosity
  }

  /** Goes on where an interrupted run of the crawl was. */
  resume(reached: readonly string[]): void {
    for (const kind of reached) this.#reached.add(kind)
  }

  hasReached(kind: string): boolean {
    return this.#reached.has(kind)
  }

  milestone(kind: string, target: string, message: string, details: Readonly<Record<string, unknown>>): void {
    if (this.#reached.has(kind)) return
    this.#reached.add(kind)
    this.#newlyReached.push(kind)
    this.#events.push({ type: 'milestone', kind, target, message, details })
    this.say(1, message)
  }

  problem(kind: string, target: string, message: string, details: Readonly<Record<string, unknown>>): void {
    this.#events.push({ type: 'problem', kind, target, message, details })
  }

  /** Tells a thought; the higher the level, the smaller the matter. */
  say(level: number, message: string): void {
    if (level <= this.#verbosity) this.#events.push({ type: 'plan', level, message })
  }

  /** What is to be told, once, and the milestones among it. */
  take(): { readonly events: PlanStep['events']; readonly reached: readonly string[] } {
    const told = { events: this.#events, reached: this.#newlyReached }
    this.#events = []
    this.#newlyReached = []
    return told
  }
}
