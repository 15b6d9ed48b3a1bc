import { randomUUID } from 'node:crypto'
import type { LeaseRequest, Visit } from '../../crawl/ledger.ts'

/** How long a host is a process's without a sign of life, where no lease has said so. */
const LEASE_MS = 30_000

/**
 * This process, as one that has hosts. What is remembered here says which hosts to look at; whose they are is in the database, and may have
 * changed.
 */
export class HostHolder {
  /** Tells it from all others, also from one that had its name before: in a container, every process may be number 1. */
  readonly name: string
  /** Hosts that were taken, each with the leases of the visits that are under way there, and the crawls they are for. */
  readonly #hosts = new Map<string, Map<string, string | undefined>>()
  #leaseMs = LEASE_MS
  #most = Infinity
  #requests = 0

  constructor(runner: string) {
    this.name = `${runner}#${randomUUID().slice(0, 8)}`
  }

  /** Takes note of what is asked for. Until it ends, nobody knows what is under way. */
  begin({ now, until, hostsUntil = until, maxHosts = Infinity }: LeaseRequest): void {
    this.#leaseMs = hostsUntil - now
    this.#most = maxHosts
    this.#requests++
  }

  /** Takes note of what it came to. */
  end({ visits, taken, left }: Leased, crawlId: string | undefined): void {
    this.forget(left)
    for (const host of taken) if (!this.#hosts.has(host)) this.#hosts.set(host, new Map())
    for (const { host, lease } of visits) this.#hosts.get(host)?.set(lease, crawlId)
  }

  /** Says that a request has come to its end, whatever became of it. */
  conclude(): void {
    this.#requests--
  }

  /** Says that visits are not under way any more. */
  leave(visits: readonly Pick<Visit, 'host' | 'lease'>[]): void {
    for (const { host, lease } of visits) this.#hosts.get(host)?.delete(lease)
  }

  /** Says that a crawl is over: whatever is still under way for it comes too late. */
  leaveCrawl(id: string): void {
    for (const visits of this.#hosts.values()) {
      for (const [lease, crawlId] of visits) if (crawlId === id) visits.delete(lease)
    }
  }

  /** All that were taken. */
  get hosts(): readonly string[] {
    return [...this.#hosts.keys()]
  }

  /** Those where something is under way, or may be. */
  get busy(): readonly string[] {
    return this.hosts.filter((host) => this.isBusy(host))
  }

  /** Those where nothing is. */
  get idle(): readonly string[] {
    return this.hosts.filter((host) => !this.isBusy(host))
  }

  isBusy(host: string): boolean {
    const visits = this.#hosts.get(host)
    return visits !== undefined && (visits.size > 0 || this.#requests > 1)
  }

  /** Whether it has as many as it may have. */
  get isFull(): boolean {
    return this.#hosts.size >= this.#most
  }

  /** Until when hosts are its own, by a sign of life now. */
  until(now: number): number {
    return now + this.#leaseMs
  }

  /** Forgets those it has given back, unless something has begun there meanwhile. */
  forget(hosts: readonly string[]): void {
    for (const host of hosts) if (this.#hosts.get(host)?.size === 0) this.#hosts.delete(host)
  }
}

/** What became of a request for visits. */
export interface Leased {
  readonly visits: Visit[]
  /** Hosts that were taken or kept. */
  readonly taken: readonly string[]
  /** Hosts that were given back, or are others' by now. */
  readonly left: readonly string[]
}
