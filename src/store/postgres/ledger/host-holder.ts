import { randomUUID } from 'node:crypto'
import type { LeaseRequest, Visit } from '../../../crawl/ledger.ts'

/** Default host lease duration without a heartbeat. */
const LEASE_MS = 30_000
/** Interval between scans for lost rows while there is other work. */
const LOST_SCAN_INTERVAL_MS = 1000

/** This process as a holder of host leases. It only remembers which hosts to check; the database decides which process holds them. */
export class HostHolder {
  /** A unique name, also across restarts: in a container every process may have the id 1. */
  readonly name: string
  readonly #hosts = new Map<string, HeldHost>()
  /** Requests made so far. */
  readonly #knownRequests = new WeakSet<LeaseRequest>()
  /** When each source was last scanned for lost rows. */
  readonly #scannedAt = new Map<number, number>()
  #leaseMs = LEASE_MS
  #maxHosts = Infinity
  #activeRequests = 0

  constructor(runner: string) {
    this.name = `${runner}#${randomUUID().slice(0, 8)}`
  }

  /** Records the start of a request. Until it ends, the active visits are unknown. */
  beginRequest({ now, until, hostsUntil = until, maxHosts = Infinity }: LeaseRequest): void {
    this.#leaseMs = hostsUntil - now
    this.#maxHosts = maxHosts
    this.#activeRequests++
  }

  /** Records the result of a request. */
  recordResult({ visits, taken, released, until }: LeaseResult, crawlId: string | undefined): void {
    this.forget(released)
    for (const host of taken) this.#hosts.set(host, { visits: this.#hosts.get(host)?.visits ?? new Map(), until })
    for (const { host, lease } of visits) this.#hosts.get(host)?.visits.set(lease, crawlId)
  }

  /** Whether this request is a repetition after a lost response. Remembers the request. */
  isRepeated(request: LeaseRequest): boolean {
    const isKnown = this.#knownRequests.has(request)
    this.#knownRequests.add(request)
    return isKnown
  }

  /** Whether a scan of a source for lost rows is due. Remembers the time. */
  isScanDue(source: number, now: number): boolean {
    const isDue = Math.abs(now - (this.#scannedAt.get(source) ?? 0)) >= LOST_SCAN_INTERVAL_MS
    if (isDue) this.#scannedAt.set(source, now)
    return isDue
  }

  /** Records the end of a request, successful or not. */
  endRequest(): void {
    this.#activeRequests--
  }

  /** Records that visits have ended. */
  endVisits(visits: readonly Pick<Visit, 'host' | 'lease'>[]): void {
    for (const { host, lease } of visits) this.#hosts.get(host)?.visits.delete(lease)
  }

  /** Records the end of a crawl; its active visits no longer count. */
  endCrawl(id: string): void {
    for (const { visits } of this.#hosts.values()) {
      for (const [lease, crawlId] of visits) if (crawlId === id) visits.delete(lease)
    }
  }

  /** All hosts that this process holds. */
  get hosts(): readonly string[] {
    return [...this.#hosts.keys()]
  }

  /** Hosts without active visits, on which no pending request may start one. */
  get idle(): readonly string[] {
    return this.hosts.filter((host) => !this.isBusy(host))
  }

  isBusy(host: string): boolean {
    const held = this.#hosts.get(host)
    return held !== undefined && (held.visits.size > 0 || this.#activeRequests > 1)
  }

  /** The last known expiry of a host lease. */
  heldUntil(host: string): number | undefined {
    return this.#hosts.get(host)?.until
  }

  /** Records a heartbeat, which extends the leases of these hosts. */
  extendLeases(hosts: readonly string[], until: number): void {
    for (const host of hosts) {
      const held = this.#hosts.get(host)
      if (held !== undefined) held.until = Math.max(held.until, until)
    }
  }

  /** Whether the maximum number of hosts is reached. */
  get isFull(): boolean {
    return this.#hosts.size >= this.#maxHosts
  }

  /** The lease expiry that a heartbeat now leads to. */
  leaseExpiryAt(now: number): number {
    return now + this.#leaseMs
  }

  /** Forgets returned hosts, unless a visit has started there meanwhile. */
  forget(hosts: readonly string[]): void {
    for (const host of hosts) if (this.#hosts.get(host)?.visits.size === 0) this.#hosts.delete(host)
  }
}

/** A host that this process holds. */
interface HeldHost {
  /** The leases of active visits on this host, with their crawls. */
  readonly visits: Map<string, string | undefined>
  until: number
}

/** The result of a lease request. */
export interface LeaseResult {
  readonly visits: Visit[]
  /** Hosts that were taken or kept. */
  readonly taken: readonly string[]
  /** The lease expiry of these hosts. */
  readonly until: number
  /** Hosts that were returned, or that other processes hold by now. */
  readonly released: readonly string[]
}
