import type { ActiveCrawl } from './active-crawl.ts'
import { waitUntilResumed } from './control.ts'
import { skipForCap } from './finish.ts'
import type { Visit } from './ledger.ts'
import { MemoryLimiter } from './memory-limiter.ts'

/** Host slots are reserved at most this far ahead, so that other processes get slots too. */
export const RESERVATION_HORIZON_MS = 1000
/** Minimum and maximum poll interval while no visit can be taken. */
export const MIN_POLL_INTERVAL_MS = 20
export const MAX_POLL_INTERVAL_MS = 500
/** Poll interval while memory is short. */
const MEMORY_POLL_INTERVAL_MS = 100

/** Options of a frontier. */
export interface FrontierOptions {
  /** Ends after this idle time, although other processes may still work. @default waits until everything is done */
  readonly idleTimeoutMs?: number
  /** Starts no more visits once this is aborted. */
  readonly stopSignal?: AbortSignal
}

/** The due part of the ledger. Returns visits one by one, each when the clock of its host allows. */
export class Frontier {
  readonly #active: ActiveCrawl
  readonly #idleTimeoutMs: number
  readonly #stopSignal: AbortSignal | undefined
  readonly #memory: MemoryLimiter
  /** Since when there has been nothing to do. */
  #idleSince: number | undefined
  #ready: Visit[] = []
  #leasing: Promise<void> | undefined
  #inFlight = 0
  #isDone = false
  #changeWait: Promise<void> | undefined
  #wake: (() => void) | undefined
  /** Callbacks that wake the workers which wait until they may begin another visit. */
  readonly #waiting = new Set<() => void>()

  constructor(active: ActiveCrawl, { idleTimeoutMs = Infinity, stopSignal }: FrontierOptions = {}) {
    this.#active = active
    this.#idleTimeoutMs = idleTimeoutMs
    this.#stopSignal = stopSignal
    const { run, ports, events } = active
    this.#memory = new MemoryLimiter({
      memory: ports.memory,
      limitBytes: run.limits.memoryBytes,
      clock: ports.clock,
      tell: (event) => events.push(event),
    })
  }

  /** The next visit, at the moment it may be made; undefined when nothing is left. */
  async next(): Promise<Visit | undefined> {
    const { ports, signal } = this.#active
    for (;;) {
      signal.throwIfAborted()
      if (this.#isDone || this.#active.refusal !== null || this.#stopSignal?.aborted === true) return undefined
      if (this.#isPaused()) {
        await this.#releaseAndWait()
        continue
      }
      if (this.#inFlight >= (ports.control?.maxVisits ?? Infinity)) {
        await this.#waitForVisitEnd()
        continue
      }
      if (this.#ready.length > 0 && !this.#memory.admits(this.#inFlight)) {
        await ports.clock.sleep(MEMORY_POLL_INTERVAL_MS, signal)
        continue
      }
      if (this.#hasRoom()) {
        const visit = this.#ready.shift()
        if (visit !== undefined) {
          this.#inFlight++
          const wait = visit.notBefore - ports.clock.now()
          if (wait > 0) await this.#sleepOrPutBack(visit, wait)
          if (!this.#isPaused()) return visit
          this.#inFlight--
          this.#ready.push(visit)
          continue
        }
        await this.#fill()
        if (this.#ready.length > 0) continue
      } else if (this.#active.counts.isCapped) {
        await this.#skipRest()
        continue
      }
      await this.#waitForChange()
    }
  }

  /** Records the end of a visit, and whether it brought a page. */
  finishVisit(isPage: boolean): void {
    this.#inFlight--
    if (isPage) this.#active.counts.pagesTaken++
    this.#notify()
  }

  /** Releases the visits that were not made. */
  async close(): Promise<void> {
    this.#isDone = true
    this.#notify()
    await this.#active.ports.ledger.release(this.#ready)
    this.#ready = []
  }

  #hasRoom(): boolean {
    const { isCapped, pagesTaken } = this.#active.counts
    return !isCapped && pagesTaken + this.#inFlight < this.#maxPagesNow
  }

  /** Page limit for now: lists may use half of the cap before links are known. */
  get #maxPagesNow(): number {
    const { counts, lists } = this.#active
    return lists.isReading ? Math.ceil(counts.maxPages / 2) : counts.maxPages
  }

  #isPaused(): boolean {
    return this.#active.ports.control?.isPaused === true
  }

  async #sleepOrPutBack(visit: Visit, ms: number): Promise<void> {
    try {
      await this.#active.ports.clock.sleep(ms, this.#active.signal)
    } catch (error) {
      this.#inFlight--
      await this.#active.ports.ledger.release([visit])
      throw error
    }
  }

  /** Releases visits that have not begun, because their slots will have passed, and waits until the crawl resumes. */
  async #releaseAndWait(): Promise<void> {
    const { ports, signal } = this.#active
    await this.#leasing
    await ports.ledger.release(this.#ready.splice(0))
    await waitUntilResumed(ports.control, signal)
  }

  /** Waits until a visit ends, or the limit of concurrent visits changes. */
  async #waitForVisitEnd(): Promise<void> {
    const { ports, signal } = this.#active
    const waitOver = new AbortController()
    let wake = () => {}
    const visitEnded = new Promise<void>((resolve) => {
      wake = resolve
    })
    this.#waiting.add(wake)
    try {
      await Promise.race([visitEnded, ports.control?.waitForChange(AbortSignal.any([signal, waitOver.signal]))])
    } finally {
      waitOver.abort()
      this.#waiting.delete(wake)
    }
  }

  /** Leases visits from the ledger; concurrent callers share one request. */
  #fill(): Promise<void> {
    this.#leasing ??= this.#lease().finally(() => {
      this.#leasing = undefined
    })
    return this.#leasing
  }

  async #lease(): Promise<void> {
    const { ports, run, counts, lists, requests, planning, isJoined } = this.#active
    const now = ports.clock.now()
    const { concurrency, leaseMs, hosts, aliveMs } = run.limits
    const { maxDepth } = run.scope
    // The planner reorders the frontier after every visit, so leasing ahead would ignore its newer choices.
    const wanted = planning === undefined ? concurrency * 2 : concurrency - this.#inFlight
    const room = Math.min(wanted, this.#maxPagesNow - counts.pagesTaken - this.#inFlight)
    const leased = await ports.ledger.lease({
      sourceId: run.sourceId,
      crawlId: run.crawlId,
      limit: Math.max(1, room),
      now,
      until: now + leaseMs,
      horizon: now + RESERVATION_HORIZON_MS,
      jitter: requests.pacer.jitter,
      // With a depth limit, shorter paths are visited before longer ones. With a page cap alone, any order will do.
      isBreadthFirst: maxDepth !== null,
      // Up to this depth addresses are visited in any order, so that lists and links take turns. While lists are being read, an address
      // one link away may still turn out to be listed.
      firstLevel: lists.isReading || isJoined ? 0 : 1,
      id: ports.newId(),
      maxHosts: hosts,
      hostsUntil: now + aliveMs,
    })
    // A visit that waits for a later slot must not delay one whose slot is free now.
    this.#ready = [...this.#ready, ...leased].sort((a, b) => a.notBefore - b.notBefore)
    if (leased.length === 0) return
    this.#idleSince = undefined
    this.#notify()
  }

  /** Takes the remaining rows out of the frontier after the cap was reached, and records what the cap left out. */
  async #skipRest(): Promise<void> {
    const { ports, run, counts } = this.#active
    const { pageRequests: requests, pagesTaken: pages } = counts
    const { maxPages } = run.scope
    await ports.ledger.release(this.#ready.splice(0))
    const now = ports.clock.now()
    const isRequestCap = pages < (maxPages ?? Infinity)
    const cap = isRequestCap ? `${requests} requests` : String(maxPages)
    const { left, kept } = await skipForCap(ports.ledger, run, cap, now)
    if (left > 0) counts.cappedAt = maxPages
    if (left > 0 && isRequestCap) counts.spent = { requests, pages }
    counts.keptByCap += kept
    // Waking other workers without a change would make them wake this one in an endless loop.
    if (this.#inFlight > 0) return this.#waitForChange()
    this.#isDone = true
    this.#notify()
  }

  /** Waits for a possible change; concurrent callers share one wait. */
  #waitForChange(): Promise<void> {
    this.#changeWait ??= this.#waitOnce().finally(() => {
      this.#changeWait = undefined
    })
    return this.#changeWait
  }

  /** Waits until a visit ends, a row is due or a host is free; ends the frontier when nothing can follow. */
  async #waitOnce(): Promise<void> {
    const { ports, run, signal } = this.#active
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    const now = ports.clock.now()
    const open = await ports.ledger.countOpen(run.sourceId, now)
    if (this.#ready.length > 0 || (await this.#failParked())) return
    if (this.#inFlight === 0 && (await this.#parkHeld(now))) return
    if (this.#inFlight === 0 && ((open.pending === 0 && open.leased === 0) || this.#isIdle(now))) {
      this.#isDone = true
      return
    }
    // A due row may still wait for other visits, so a wait computed from its due time alone could be 0 and loop.
    const wait =
      open.nextAt === null
        ? MAX_POLL_INTERVAL_MS
        : Math.min(Math.max(open.nextAt - now, MIN_POLL_INTERVAL_MS), MAX_POLL_INTERVAL_MS)
    const waitOver = new AbortController()
    const timer = ports.clock.sleep(wait, AbortSignal.any([signal, waitOver.signal])).catch(() => undefined)
    await Promise.race([changed, timer])
    // The reason is never read. A string avoids creating an error with a stack for each wait.
    waitOver.abort('awake')
  }

  /** Whether the idle time has been reached. Called only with no visit in progress. */
  #isIdle(now: number): boolean {
    this.#idleSince ??= now
    return now - this.#idleSince >= this.#idleTimeoutMs
  }

  /** Parks hosts that ask for a longer wait than allowed, so that the crawl does not wait only for them. Returns whether any was parked. */
  async #parkHeld(now: number): Promise<boolean> {
    const { ports, run, requests } = this.#active
    let hasParked = false
    for (const host of await ports.ledger.listHeldHosts(run.sourceId, now, now)) {
      const isParked = await requests.pacer.hosts.parkIfHeld(host)
      hasParked ||= isParked
    }
    return hasParked
  }

  /** Fails the pending rows of parked hosts. Returns whether there were any. */
  async #failParked(): Promise<boolean> {
    const { ports, run, requests, counts } = this.#active
    let count = 0
    for (const [host, detail] of requests.pacer.hosts.parked) {
      const failed = await ports.ledger.failPending(run.sourceId, run.crawlId, host, 'host-parked', detail)
      count += failed
    }
    counts.failed += count
    counts.visited += count
    return count > 0
  }

  #notify(): void {
    this.#wake?.()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
