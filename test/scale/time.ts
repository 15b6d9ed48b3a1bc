/** Size of the ring in milliseconds. Later timers wait in a separate list. */
const RING_MS = 2 ** 17

/**
 * Simulated time that advances when nothing else can happen at the current time. It advances by milliseconds, like the clock of a crawl. A
 * ring holds the timers of each millisecond, so the cost of a timer does not depend on their number.
 */
export class SimulatedTime {
  /** Milliseconds since the start of the simulation. */
  now = 0
  /** Number of timers that have fired. */
  events = 0
  readonly #ring: (() => void)[][] = Array.from({ length: RING_MS }, () => [])
  readonly #far = new Map<number, (() => void)[]>()

  /** Calls `run` at a given time, at the earliest in the next millisecond. */
  at(moment: number, run: () => void): void {
    const due = Math.max(this.now + 1, Math.ceil(moment))
    if (due - this.now < RING_MS) {
      this.#ring[due % RING_MS]?.push(run)
      return
    }
    const waiting = this.#far.get(due)
    if (waiting === undefined) this.#far.set(due, [run])
    else waiting.push(run)
  }

  /** Advances time until a given time, or until the condition is met. */
  async run(until: number, isEnough: () => boolean): Promise<void> {
    while (this.now < until && !isEnough()) {
      this.now++
      const far = this.#far.get(this.now)
      if (far !== undefined) this.#far.delete(this.now)
      const index = this.now % RING_MS
      const due = this.#ring[index] ?? []
      if (due.length === 0 && far === undefined) continue
      this.#ring[index] = []
      for (const run of [...(far ?? []), ...due]) run()
      this.events += due.length + (far?.length ?? 0)
      await flushPromises()
    }
  }
}

/** Resolves when all pending promise callbacks have run. */
function flushPromises(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
