import type { PlanStep } from '../../crawl/planning/planner.ts'

/** Default verbosity. */
const DEFAULT_VERBOSITY = 1

/** Collects the planner's events: problems, milestones (each kind once), and thoughts up to the verbosity. */
export class PlanLog {
  readonly #verbosity: number
  readonly #reached = new Set<string>()
  #newlyReached: string[] = []
  #events: PlanStep['events'][number][] = []

  constructor(verbosity: number = DEFAULT_VERBOSITY) {
    this.#verbosity = verbosity
  }

  /** Restores the milestones that an interrupted run reached. */
  resume(reached: readonly string[]): void {
    for (const kind of reached) this.#reached.add(kind)
  }

  hasReached(kind: string): boolean {
    return this.#reached.has(kind)
  }

  addMilestone(kind: string, target: string, message: string, details: Readonly<Record<string, unknown>>): void {
    if (this.#reached.has(kind)) return
    this.#reached.add(kind)
    this.#newlyReached.push(kind)
    this.#events.push({ type: 'milestone', kind, target, message, details })
    this.addThought(1, message)
  }

  addProblem(kind: string, target: string, message: string, details: Readonly<Record<string, unknown>>): void {
    this.#events.push({ type: 'problem', kind, target, message, details })
  }

  /** Reports a thought; higher levels are finer details. */
  addThought(level: number, message: string): void {
    if (level <= this.#verbosity) this.#events.push({ type: 'plan', level, message })
  }

  /** Returns and clears the pending events and the newly reached milestones. */
  take(): { readonly events: PlanStep['events']; readonly reached: readonly string[] } {
    const taken = { events: this.#events, reached: this.#newlyReached }
    this.#events = []
    this.#newlyReached = []
    return taken
  }
}
