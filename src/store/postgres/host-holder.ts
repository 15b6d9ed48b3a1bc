import { randomUUID } from 'node:crypto'
import type { LeaseRequest, Visit } from '../../crawl/ledger.ts'

/** How long a host is a process's without a sign of life, where no lease has said so. */
const LEASE_MS = 30_000
/** So often it is looked for what is lost, where there is something else to do. */
const LOOK_MS = 1000

/**
 * This process, as one that has hosts. What is remembered here says which hosts to look at; whose they are is in the database, and may have
 * changed.
 */
export class HostHolder {
  /** Tells it from all others, also from one that had its name before: in a container, every process may be number 1. */
  readonly name: string
  readonly #hosts = new Map<string, Held>()
  /** Requests that were made, and when each source was last looked at for what is lost. */
  readonly #asked = new WeakSet<LeaseRequest>()
  readonly #lookedAt = new Map<number, number>()
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
  end({ visits, taken, left, until }: Leased, crawlId: string | undefined): void {
    this.forget(left)
    for (const host of taken) this.#hosts.set(host, { visits: this.#hosts.get(host)?.visits ?? new Map(), until })
    for (const { host, lease } of visits) this.#hosts.get(host)?.visits.set(lease, crawlId)
  }

  /** Whether a request was made before, and is made once more because its answer was lost. Taken note of. */
  isAgain(request: LeaseRequest): boolean {
    const isKnown = this.#asked.has(request)
    this.#asked.add(request)
    return isKnown
  }

  /** Whether it is time to look for what is lost of a source. Taken note of. */
  looks(source: number, now: number): boolean {
    const isTime = Math.abs(now - (this.#lookedAt.get(source) ?? 0)) >= LOOK_MS
    if (isTime) this.#lookedAt.set(source, now)
    return isTime
  }

  /** Says that a request has come to its end, whatever became of it. */
  conclude(): void {
    this.#requests--
  }

  /** Says that visits are not under way any more. */
  leave(visits: readonly Pick<Visit, 'host' | 'lease'>[]): void {
    for (const { host, lease } of visits) this.#hosts.get(host)?.visits.delete(lease)
  }

  /** Says that a crawl is over: whatever is still under way for it comes too late. */
  leaveCrawl(id: string): void {
    for (const { visits } of this.#hosts.values()) {
      for (const [lease, crawlId] of visits) if (crawlId === id) visits.delete(lease)
    }
  }

  /** All that were taken. */
  get hosts(): readonly string[] {
    return [...this.#hosts.keys()]
  }

  /** Those where nothing is under way, and no other request may begin something. */
  get idle(): readonly string[] {
    return this.hosts.filter((host) => !this.isBusy(host))
  }

  isBusy(host: string): boolean {
    const held = this.#hosts.get(host)
    return held !== undefined && (held.visits.size > 0 || this.#requests > 1)
  }

  /** Until when a host is its own, as far as it was told. */
  heldUntil(host: string): number | undefined {
    return this.#hosts.get(host)?.until
  }

  /** Says that a sign of life was given: hosts that it was for are its own for longer. */
  keep(hosts: readonly string[], until: number): void {
    for (const host of hosts) {
      const held = this.#hosts.get(host)
      if (held !== undefined) held.until = Math.max(held.until, until)
    }
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
    for (const host of hosts) if (this.#hosts.get(host)?.visits.size === 0) this.#hosts.delete(host)
  }
}

/** A host that was taken. */
interface Held {
  /** The leases of the visits that are under way there, and the crawls they are for. */
  readonly visits: Map<string, string | undefined>
  until: number
}

/** What became of a request for visits. */
export interface Leased {
  readonly visits: Visit[]
  /** Hosts that were taken or kept. */
  readonly taken: readonly string[]
  /** Until when those are the process's. */
  readonly until: number
  /** Hosts that were given back, or are others' by now. */
  readonly left: readonly string[]
}
