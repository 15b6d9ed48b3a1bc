import type { Fetcher, FetchRequest } from '../ports.ts'
import { retakeSlot, takeSlot } from './host-clock.ts'
import { HostHealth, type HostHealthOptions } from './host-health.ts'
import type { HostStats } from './host-stats.ts'
import { PacedHosts, type PacedHostsOptions } from './paced-hosts.ts'
import { HOST_PARKED_OUTCOME, POSTPONED_OUTCOME, type SendPermit, type SentRequest, type Turn } from './send-permit.ts'

/** Maximum delay of a request within its slot. The jitter, by default at least as long, keeps the interval to the next slot. */
const MAX_SLOT_DELAY_MS = 25
/** Extra delay allowed for a slot that replaces a missed one; doubled each time a replacement is missed too. */
const EXTRA_DELAY_MS = 100
/** Maximum extra delay that is derived from how late a request was. */
const MAX_EXTRA_DELAY_MS = 2000
/** After a delay of at least this length the lease is checked again, because another process may hold the host by then. */
const LEASE_RECHECK_DELAY_MS = 1000

/** Options of a pacer. */
export type PacerOptions = PacedHostsOptions & Omit<HostHealthOptions, 'takeNext'>

/**
 * Controls the request rate of each host: evenly spaced, slow at first, faster while responses are quick, slower when the host struggles,
 * and none during a back-off.
 */
export class Pacer {
  readonly hosts: PacedHosts
  readonly health: HostHealth
  readonly #options: PacerOptions

  constructor(options: PacerOptions) {
    this.#options = options
    this.hosts = new PacedHosts(options)
    this.health = new HostHealth(this.hosts, { ...options, takeNext: (host, signal) => this.#takeNext(host, signal) })
  }

  /** Random jitter for the next slot of a host, in milliseconds. */
  readonly jitter = (): number => {
    const [min, max] = this.#options.limits.jitterMs
    return min + this.#options.random() * (max - min)
  }

  /** Waits for a slot of a host. */
  async takeTurn(host: string, signal?: AbortSignal): Promise<SendPermit | 'parked'> {
    await this.hosts.open(host)
    for (;;) {
      if (await this.hosts.parkIfHeld(host)) return 'parked'
      const turn = await this.#takeNext(host, signal)
      if (turn !== 'later') return turn
    }
  }

  /** Waits for the next slot of a host; returns `later` if a back-off or slow-down began meanwhile. */
  async #takeNext(host: string, signal: AbortSignal | undefined): Promise<Turn> {
    const { ledger, clock } = this.#options
    let slot = 0
    await ledger.changeClock(host, clock.now(), (known) => {
      const taken = takeSlot(known, clock.now(), this.jitter())
      slot = taken.slot
      return taken.clock
    })
    const wait = slot - clock.now()
    if (wait > 0) await clock.sleep(wait, signal)
    signal?.throwIfAborted()
    return this.enterSlot(host, slot, signal)
  }

  /**
   * Checks whether a reserved slot may be used now, and waits for the remaining time. With the lease of a visit, also checks whether this
   * process still holds the host.
   */
  async enterSlot(host: string, slot: number, signal?: AbortSignal, lease?: string): Promise<Turn> {
    await this.hosts.open(host)
    const turn = await this.#enter({ host, slot, extraDelayMs: 0, lease }, EXTRA_DELAY_MS, signal)
    if (typeof turn !== 'string') this.#countRequest(this.hosts.statsOf(host))
    return turn
  }

  /**
   * Sends a request in its slot. Opening a connection may take long, or the process may be suspended. A request that misses its slot is
   * sent in another one, with a growing allowance for delay. If the request has to wait longer or the process has lost the host, an
   * `isPatient` request waits for another turn; for any other the outcome is {@link POSTPONED_OUTCOME}.
   */
  async send(
    permit: SendPermit,
    fetcher: Fetcher,
    request: FetchRequest,
    isPatient: boolean = permit.lease === undefined,
  ): Promise<SentRequest> {
    const { clock } = this.#options
    const { signal } = request
    for (let current = permit; ; ) {
      let lateMs: number | undefined
      const isInTime = () => {
        lateMs = this.#isInTime(current) ? undefined : clock.now() - current.slot
        return lateMs === undefined
      }
      const sentAt = clock.now()
      const outcome = await fetcher.fetch({ ...request, isInTime })
      if (lateMs === undefined) return { outcome, sentAt }
      const renewed = await this.#renew(current, lateMs, signal)
      const turn = renewed === 'later' && isPatient ? await this.takeTurn(current.host, signal) : renewed
      if (typeof turn === 'string')
        return { outcome: turn === 'parked' ? HOST_PARKED_OUTCOME : POSTPONED_OUTCOME, sentAt }
      current = turn
    }
  }

  /** Whether the request may be sent now, as far as this process knows. */
  #isInTime({ host, slot, extraDelayMs }: SendPermit): boolean {
    const stats = this.hosts.statsOf(host)
    const now = this.#options.clock.now()
    const { heldUntil, intervalMs, slowedAt } = stats.clock
    if (this.hosts.parked.has(host) || heldUntil > now) return false
    if (intervalMs > 0 && (slot < slowedAt || now - slot > MAX_SLOT_DELAY_MS + extraDelayMs)) return false
    stats.lastRequestAt = now
    return true
  }

  /** Gets a new permission for a request that was not sent. */
  async #renew(permit: SendPermit, lateMs: number, signal?: AbortSignal): Promise<Turn> {
    const { host, extraDelayMs, givenAt, previousRequestAt } = permit
    const stats = this.hosts.statsOf(host)
    if (stats.lastRequestAt === givenAt) stats.lastRequestAt = previousRequestAt
    // The connection is open now. If it closes before the next slot, opening another takes as long again, so the allowance covers that.
    const nextExtraDelayMs = extraDelayMs === 0 ? EXTRA_DELAY_MS : Math.min(lateMs, MAX_EXTRA_DELAY_MS)
    return this.#enter(permit, nextExtraDelayMs, signal)
  }

  async #enter(
    { host, slot, extraDelayMs, lease }: Pick<SendPermit, 'host' | 'slot' | 'extraDelayMs' | 'lease'>,
    nextExtraDelayMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Turn> {
    const { clock } = this.#options
    const stats = this.hosts.statsOf(host)
    let current = { slot, extraDelayMs }
    for (let isClockFresh = false; ; ) {
      const known = isClockFresh ? stats.clock : await this.hosts.read(host, lease)
      // Another process holds the host now, and makes the same request.
      if (known === undefined) return 'later'
      stats.clock = known
      isClockFresh = false
      // Read the clock only after the ledger has responded: this process may have been suspended meanwhile.
      const now = clock.now()
      const { heldUntil, intervalMs, slowedAt } = stats.clock
      if (this.hosts.parked.has(host)) return 'parked'
      if (heldUntil > now) return (await this.hosts.parkIfHeld(host)) ? 'parked' : 'later'
      if (intervalMs <= 0) break
      if (current.slot < slowedAt) return 'later'
      // A late timer, or a slot from before the interval grew, must not bring two requests closer together.
      const wait = Math.max(current.slot, stats.lastRequestAt + intervalMs) - now
      if (wait > 0) {
        await clock.sleep(wait, signal)
        continue
      }
      // A late request must not come too close to the next one of another process either, so it takes a replacement slot. Where every timer
      // is late, no slot would ever be met, so a replacement slot allows more delay, and the interval after it grows by the same amount.
      const lateMs = now - current.slot
      if (lateMs <= MAX_SLOT_DELAY_MS + current.extraDelayMs) break
      current = await this.#retake(stats, current, Math.max(nextExtraDelayMs, 2 * current.extraDelayMs))
      // Reading the host clock again would cause another delay, so the lease is checked only after a long delay.
      isClockFresh = lease === undefined || lateMs < LEASE_RECHECK_DELAY_MS
    }
    const previousRequestAt = stats.lastRequestAt
    const givenAt = clock.now()
    stats.lastRequestAt = givenAt
    return { host, ...current, lease, givenAt, previousRequestAt }
  }

  /** Takes a new slot in place of a missed one, with an allowance for delay. */
  async #retake(
    stats: HostStats,
    missed: { readonly slot: number; readonly extraDelayMs: number },
    extraDelayMs: number,
  ): Promise<{ readonly slot: number; readonly extraDelayMs: number }> {
    const [, maxJitterMs] = this.#options.limits.jitterMs
    let { slot } = missed
    await this.hosts.change(stats, (known) => {
      const now = this.#options.clock.now()
      const taken = retakeSlot(known, missed.slot, now, this.jitter() + extraDelayMs, maxJitterMs + missed.extraDelayMs)
      slot = taken.slot
      return taken.clock
    })
    return { slot, extraDelayMs }
  }

  #countRequest(stats: HostStats): void {
    stats.requests++
    stats.recent.add(this.#options.clock.now())
  }
}
