import { RESERVATION_HORIZON_MS } from '../../src/crawl/frontier.ts'
import { correctClock, type HostClock, nextRequestAt } from '../../src/crawl/hosts/host-clock.ts'
import { isHostHeld, judgeHostOwnership, releaseHost, revokeHost } from '../../src/crawl/hosts/host-lease.ts'
import type { LeaseRequest, Ledger, LedgerRow, OpenWork, RobotsRecord, Visit } from '../../src/crawl/ledger.ts'
import type { Settlement, SettlementResult } from '../../src/crawl/settlement.ts'
import { type Candidate, countSlots, pickByHost, reserveSlots } from '../../src/store/common/ledger/slots.ts'
import { limitHosts } from '../../src/store/postgres/ledger/choose-rows.ts'
import { changeHosts, isHostKept } from '../../src/store/postgres/ledger/frontier.ts'
import { HostHolder, type LeaseResult } from '../../src/store/postgres/ledger/host-holder.ts'
import type { HostState } from '../../src/store/postgres/ledger/hosts.ts'
import { filterUsableHosts } from '../../src/store/postgres/ledger/lease-context.ts'
import { AddressGroupQueue } from './address-group-queue.ts'
import type { Operation, SimulatedDatabase } from './database.ts'
import type { SimulatedTime } from './time.ts'
import {
  type AddressGroup,
  countPending,
  type LeasedRow,
  type SimulatedHost,
  type SimulatedSource,
  type World,
} from './world.ts'

/** A process that uses the ledger. */
export interface LedgerClient {
  readonly id: string
  /** Whether the process can receive a response now. */
  readonly isReceiving: boolean
  /** Delivers a response to the process. A dead process drops it, and a frozen process gets it when it resumes. */
  deliver(answer: () => void): void
}

/** Settings and callbacks of the ledger. */
export interface LedgerSettings {
  readonly time: SimulatedTime
  readonly world: World
  readonly database: SimulatedDatabase
  /** Called when a host changes hands, with its previous holder, or null if that process released it. */
  readonly onHostTaken: (before: string | null) => void
  /** Called for each settlement. `isLost` means that another process has taken over the host, so that nothing is written. */
  readonly onSettled: (group: AddressGroup, process: string, isLost: boolean) => void
}

/** The part of a ledger that visits need, plus the heartbeats of the process. */
export interface VisitLedger
  extends Pick<
    Ledger,
    | 'lease'
    | 'settle'
    | 'release'
    | 'countOpen'
    | 'listHeldHosts'
    | 'failPending'
    | 'readClock'
    | 'readClockFor'
    | 'changeClock'
    | 'findRow'
    | 'readRobots'
    | 'writeRobots'
  > {
  /** Counts the remaining work, like a process that reports progress. */
  pollProgress(): void
  /** Sends a heartbeat: hosts with requests under way stay with the process, and it releases all others. */
  sendHeartbeat(): Promise<void>
  /** Releases all hosts of a process that ends in good order. */
  releaseAll(): Promise<void>
}

/** An address that may be leased. */
interface OpenRow extends Candidate {
  readonly group: AddressGroup
  readonly number: number
  readonly attempts: number
}

interface SimulatedVisit extends Visit {
  readonly row: LeasedRow
}

/** The state of a source in the ledger. */
interface SourceState {
  readonly source: SimulatedSource
  /** Groups with pending addresses whose hosts are free. */
  readonly free: AddressGroupQueue
  /** Groups with pending addresses. */
  readonly open: Set<AddressGroup>
  /** Groups with leased addresses. */
  readonly visited: Set<AddressGroup>
  pending: number
  leased: number
}

/** A process that crawls a source. */
interface LedgerCrawl {
  readonly client: LedgerClient
  readonly holder: HostHolder
  readonly state: SourceState
}

/** A lease request. */
interface LeaseContext extends LedgerCrawl {
  readonly request: LeaseRequest
  /** Hosts of the process that count towards its host limit. */
  readonly kept: ReadonlySet<string>
}

const LOST: SettlementResult = { type: 'lost', state: 'pending', reason: null, target: null, finds: [] }
const NOTHING: LeaseResult = { visits: [], taken: [], until: 0, released: [] }

/**
 * The ledger of all processes. The code of the store decides about hosts: which process may hold, release or request one
 * (`store/postgres/ledger/frontier.ts`), what a process remembers about its own (`host-holder.ts`), and which slots it gets
 * (`store/common/slots.ts`). The statements in between are reimplemented here: addresses that were never leased are only counted, and
 * queues replace the indexes of a store.
 */
export class SharedLedger {
  readonly #settings: LedgerSettings
  readonly #hosts: ReadonlyMap<string, SimulatedHost>
  readonly #sources = new Map<string, SourceState>()
  /** When the leases of each watched process expire. */
  readonly #watched = new Map<HostHolder, number>()
  readonly #holders = new Map<string, HostHolder>()
  /** Addresses that failed and will be retried, by key. */
  readonly #failures = new Map<string, LedgerRow>()
  #requests = 0

  constructor(settings: LedgerSettings) {
    this.#settings = settings
    this.#hosts = new Map(settings.world.hosts.map((host) => [host.name, host]))
    for (const source of settings.world.sources) {
      const pending = source.groups.reduce((sum, { backlog }) => sum + backlog, 0)
      const open = new Set(source.groups)
      this.#sources.set(source.id, {
        source,
        free: new AddressGroupQueue(),
        open,
        visited: new Set(),
        pending,
        leased: 0,
      })
      for (const group of source.groups) this.#enqueue(group)
    }
  }

  /** Number of free hosts of a source that can be visited. */
  countFree(source: string): number {
    return this.#stateOf(source).free.size
  }

  /** Number of hosts that a process holds. */
  countHeld({ id }: LedgerClient): number {
    return this.#holders.get(id)?.hosts.length ?? 0
  }

  /** Opens the ledger for one process that crawls one source. */
  open(client: LedgerClient, sourceId: string): VisitLedger {
    const { database } = this.#settings
    const state = this.#stateOf(sourceId)
    const holder = this.#holders.get(client.id) ?? new HostHolder(client.id)
    this.#holders.set(client.id, holder)
    const crawl: LedgerCrawl = { client, holder, state }
    const ask = <T>(operation: Operation, answer: () => T, onResponse?: (value: T) => void): Promise<T> =>
      new Promise((resolve) => {
        database.run(operation, sourceId, () => {
          const value = answer()
          const receive = (): void => {
            onResponse?.(value)
            resolve(value)
          }
          if (client.isReceiving) receive()
          else client.deliver(receive)
        })
      })
    return {
      lease: async (request) => {
        holder.beginRequest(request)
        const onResponse = (leased: LeaseResult): void => {
          holder.recordResult(leased, sourceId)
          holder.endRequest()
        }
        return (await ask('lease', () => this.#lease(crawl, request), onResponse)).visits
      },
      settle: (settlement) =>
        ask(
          'settle',
          () => this.#settle(crawl, settlement),
          () => holder.endVisits([settlement.visit]),
        ),
      release: (visits) =>
        visits.length === 0
          ? Promise.resolve()
          : ask(
              'release',
              () => this.#release(visits),
              () => holder.endVisits(visits),
            ),
      countOpen: (_, now) => ask('countOpen', () => this.#countOpen(crawl, now)),
      listHeldHosts: (_, now, after) => ask('listHeldHosts', () => this.#listHeld(state, now, after)),
      failPending: (_source, _crawl, host) => ask('release', () => this.#failPending(state, host)),
      readClock: (host, now) => ask('readClock', () => this.#clockOf(host, now)),
      readClockFor: (visit, now) => ask('readClock', () => this.#clockFor(visit, now)),
      changeClock: (host, now, change) => ask('changeClock', () => this.#changeClock(host, now, change)),
      findRow: (_, key) => ask('readClock', () => this.#failures.get(key)),
      readRobots: (origin) => ask('robots', () => this.#hostOf(new URL(origin).host).robots),
      writeRobots: (record) => ask('robots', () => this.#writeRobots(record)),
      // The result is not used, only its cost counts.
      pollProgress: () => database.run('countLedger', sourceId, () => undefined),
      sendHeartbeat: () => this.#renewLeases(holder, (run, onResponse) => ask('touch', run, onResponse)),
      releaseAll: () => {
        holder.endCrawl(sourceId)
        return this.#renewLeases(holder, (run, onResponse) => ask('touch', run, onResponse))
      },
    }
  }

  /** Leases due visits, each with a slot of its host, together with the hosts. */
  #lease(crawl: LedgerCrawl, request: LeaseRequest): LeaseResult {
    const { holder, state } = crawl
    const { now, limit, until, hostsUntil = until } = request
    this.#reclaimRows(crawl, now)
    const { idle } = holder
    if (state.open.size === 0 && idle.length === 0) return NOTHING
    const visited = Array.from(state.visited, ({ host }) => host.name)
    const finished = idle.filter((name) => this.#pendingOf(name, state.source) === undefined)
    const kept = new Set(holder.hosts.filter((host) => !finished.includes(host)))
    const context: LeaseContext = { ...crawl, request, kept }
    const isFew = state.open.size <= limit
    const chosen = isFew ? [...state.open] : this.#chooseGroups(context)
    // If other processes hold all hosts, this process asks for some of those hosts.
    const wanted = chosen.length > 0 ? chosen : [...state.open].slice(0, limit)
    const states = this.#read([...wanted.map(({ host }) => host.name), ...idle], now)
    const open = filterUsableHosts(states, context)
    const readClock = (host: string): HostClock => this.#clockOf(host, now)
    const listed = this.#listRows(chosen, open, request)
    // With many hosts, `#chooseGroups` has already applied the host limit.
    const rows = isFew ? limitHosts(listed, context) : listed
    const { reserved, clocks } = reserveSlots(pickByHost(rows, readClock, request), readClock, request)
    const isEnough = reserved.length >= limit
    this.#write(changeHosts(states, clocks, { context, frontier: { visited, finished }, isEnough }), holder)
    const id = `${++this.#requests}`
    // The reserved rows are the same objects as the given ones.
    const visits = reserved.map(({ row, slot }, i) => this.#leaseRow(state, row as OpenRow, slot, `${id}:${i}`))
    // Groups that were chosen and not used become available to other processes again.
    if (!isFew) for (const group of chosen) this.#enqueue(group)
    const released = idle.filter((host) => !clocks.has(host) && !isHeldBy(this.#hostOf(host), holder))
    return { visits, taken: [...clocks.keys()], until: hostsUntil, released }
  }

  /** Makes rows pending whose hosts have changed hands. A process without heartbeats for too long loses the hosts of its rows. */
  #reclaimRows({ holder, state }: LedgerCrawl, now: number): void {
    for (const { host, leased } of state.visited) {
      const { lease } = host
      if (lease.leasedUntil <= now && lease.holder !== null && lease.holder !== holder.name) {
        if (lease.leasedUntil > 0) host.lostBy = lease.holder
        host.lease = revokeHost(lease)
      }
      for (const [name, row] of leased)
        if (!isHostKept({ host: host.name, lease: name }, host)) this.#returnRow(name, row)
    }
  }

  /** Chooses the first groups with free slots among many hosts: hosts of this process, and free ones. */
  #chooseGroups({ holder, state, request, kept }: LeaseContext): AddressGroup[] {
    const { now, horizon, limit, maxHosts = Infinity } = request
    const found: AddressGroup[] = []
    const skipped: AddressGroup[] = []
    for (const name of holder.hosts) {
      const group = this.#pendingOf(name, state.source)
      if (group !== undefined && groupOpensAt(group, now) <= horizon) found.push(group)
    }
    const maxGroups = found.length + Math.min(maxHosts - kept.size, limit - found.length)
    while (found.length < maxGroups) {
      const group = state.free.take()
      if (group === undefined) break
      const { name, lease } = group.host
      // A process does not take back a host that it released for others. The expired lease of a host may still be its own.
      const isUnusable = kept.has(name) || judgeHostOwnership(lease, holder.name, now) === 'yielded'
      if (isUnusable || groupOpensAt(group, now) > horizon) skipped.push(group)
      else found.push(group)
    }
    for (const group of skipped) this.#enqueue(group)
    return found
  }

  /** The first addresses of groups whose hosts may be used, as many as there are slots. */
  #listRows(groups: readonly AddressGroup[], open: ReadonlyMap<string, HostState>, request: LeaseRequest): OpenRow[] {
    const rows: OpenRow[] = []
    for (const group of groups) {
      const clock = open.get(group.host.name)?.clock
      if (clock !== undefined) this.#addRows(rows, group, countSlots(clock, request), request.now)
    }
    return rows
  }

  #addRows(rows: OpenRow[], group: AddressGroup, slotCount: number, now: number): void {
    let slots = slotCount
    for (const { number, attempts, dueAt } of group.returned) {
      if (slots === 0) return
      if (dueAt > now) continue
      rows.push(this.#rowOf(group, number, attempts))
      slots--
    }
    const rest = Math.min(slots, group.backlog)
    for (let i = 0; i < rest; i++) rows.push(this.#rowOf(group, group.firstNumber + i, 0))
  }

  #rowOf(group: AddressGroup, number: number, attempts: number): OpenRow {
    const { host } = group
    const id = number * this.#settings.world.hosts.length + host.index
    return { id, weight: 0, depth: depthOf(number), host: host.name, group, number, attempts }
  }

  #leaseRow(state: SourceState, { group, number, attempts }: OpenRow, slot: number, id: string): Visit {
    const { host } = group
    if (number >= group.firstNumber) {
      group.firstNumber = number + 1
      group.backlog--
    } else {
      const index = group.returned.findIndex((one) => one.number === number)
      group.returned.splice(index, 1)
    }
    state.pending--
    state.leased++
    const lease = `${host.lease.token}:${id}`
    const leased: LeasedRow = { group, number, attempts }
    group.leased.set(lease, leased)
    state.visited.add(group)
    if (countPending(group) === 0) state.open.delete(group)
    return toVisit(state.source, leased, lease, slot)
  }

  #read(hosts: readonly string[], now: number): Map<string, HostState> {
    return new Map(hosts.map((name) => [name, { clock: this.#clockOf(name, now), lease: this.#hostOf(name).lease }]))
  }

  /** Writes the new states of hosts. */
  #write(changed: ReadonlyMap<string, HostState>, holder: HostHolder): void {
    for (const [name, { clock, lease }] of changed) {
      const host = this.#hostOf(name)
      const before = host.lease
      host.clock = clock
      host.lease = lease
      if (lease.leasedUntil === 0) this.#enqueueHost(host)
      if (lease.holder !== holder.name || lease.leasedUntil === 0) continue
      this.#watch(holder, lease.leasedUntil)
      for (const group of host.groups) this.#stateOf(group.source.id).free.remove(group)
      if (before.token === lease.token) continue
      this.#settings.onHostTaken(host.lostBy ?? (before.leasedUntil === 0 ? null : before.holder))
      host.lostBy = null
    }
  }

  #renewLeases(holder: HostHolder, ask: (run: () => void, onResponse: () => void) => Promise<void>): Promise<void> {
    const { hosts, name } = holder
    if (hosts.length === 0) return Promise.resolve()
    const until = holder.leaseExpiryAt(this.#settings.time.now)
    const idle = new Map(hosts.flatMap((host) => (holder.isBusy(host) ? [] : [[host, holder.heldUntil(host)]])))
    const busy = hosts.filter((host) => !idle.has(host))
    const renewOrRelease = (host: SimulatedHost): void => {
      const { lease } = host
      if (lease.holder !== name || lease.leasedUntil === 0) return
      if (!idle.has(host.name)) {
        host.lease = { ...lease, leasedUntil: Math.max(lease.leasedUntil, until) }
        this.#watch(holder, host.lease.leasedUntil)
      } else if (lease.leasedUntil === idle.get(host.name)) {
        host.lease = releaseHost(lease)
        this.#enqueueHost(host)
      }
    }
    const onResponse = (): void => {
      holder.extendLeases(busy, until)
      holder.forget([...idle.keys()])
    }
    return ask(() => {
      for (const host of hosts) renewOrRelease(this.#hostOf(host))
    }, onResponse)
  }

  #settle({ client, state }: LedgerCrawl, settlement: Settlement): SettlementResult {
    const { visit, state: newState, dueAt, isHostAtFault, reason = null, status = null } = settlement
    const { row } = visit as SimulatedVisit
    const { group, number, attempts } = row
    const isStillLeased = group.leased.get(visit.lease) === row && isHostKept(visit, group.host)
    this.#settings.onSettled(group, client.id, !isStillLeased)
    if (!isStillLeased) return LOST
    this.#endLease(visit.lease, group, state)
    this.#failures.delete(visit.key)
    if (newState === 'pending') {
      // A retry reads only the reason of the last failure from its row.
      this.#failures.set(visit.key, { reason, status } as LedgerRow)
      group.returned.push({ number, attempts: isHostAtFault === true ? attempts : attempts + 1, dueAt: dueAt ?? 0 })
      state.pending++
      state.open.add(group)
    } else if (newState === 'failed') group.failed++
    else group.settled++
    return { type: 'settled', state: newState, reason: null, target: null, finds: [] }
  }

  #release(visits: readonly Visit[]): void {
    for (const visit of visits) {
      const { row } = visit as SimulatedVisit
      if (row.group.leased.get(visit.lease) === row) this.#returnRow(visit.lease, row)
    }
  }

  #returnRow(lease: string, { group, number, attempts }: LeasedRow): void {
    const state = this.#stateOf(group.source.id)
    this.#endLease(lease, group, state)
    group.returned.push({ number, attempts, dueAt: 0 })
    state.pending++
    state.open.add(group)
  }

  /** Removes the lease of an address. */
  #endLease(lease: string, group: AddressGroup, state: SourceState): void {
    group.leased.delete(lease)
    if (group.leased.size === 0) state.visited.delete(group)
    state.leased--
  }

  #failPending(state: SourceState, host: string): number {
    const group = this.#pendingOf(host, state.source)
    if (group === undefined) return 0
    const count = countPending(group)
    group.failed += count
    group.firstNumber += group.backlog
    group.backlog = 0
    group.returned = []
    state.open.delete(group)
    state.pending -= count
    return count
  }

  #countOpen({ holder, state }: LedgerCrawl, now: number): OpenWork {
    const { pending, leased, free, source } = state
    let nextAt = free.size > 0 && !holder.isFull ? now : Infinity
    for (const host of holder.hosts) {
      const group = this.#pendingOf(host, source)
      if (group !== undefined) nextAt = Math.min(nextAt, groupOpensAt(group, now))
    }
    return { pending, leased, nextAt: nextAt === Infinity ? null : nextAt }
  }

  #listHeld({ open }: SourceState, now: number, after: number): string[] {
    return [...open].flatMap(({ host }) => (correctClock(host.clock, now).heldUntil > after ? [host.name] : []))
  }

  #changeClock(name: string, now: number, change: (clock: HostClock) => HostClock): HostClock {
    const host = this.#hostOf(name)
    host.clock = change(correctClock(host.clock, now))
    return host.clock
  }

  #writeRobots(record: RobotsRecord): void {
    this.#hostOf(new URL(record.origin).host).robots = record
  }

  /** The clock of the host of a visit, unless another process holds the host by now. */
  #clockFor(visit: Pick<Visit, 'host' | 'lease'>, now: number): HostClock | undefined {
    const host = this.#hostOf(visit.host)
    return isHostKept(visit, host) ? correctClock(host.clock, now) : undefined
  }

  #clockOf(name: string, now: number): HostClock {
    return correctClock(this.#hostOf(name).clock, now)
  }

  #hostOf(name: string): SimulatedHost {
    const host = this.#hosts.get(name)
    if (host === undefined) throw new TypeError(`there is no host ${name}`)
    return host
  }

  #stateOf(source: string): SourceState {
    const state = this.#sources.get(source)
    if (state === undefined) throw new TypeError(`there is no source ${source}`)
    return state
  }

  /** The address group of a source at a host, if it has pending addresses. */
  #pendingOf(host: string, source: SimulatedSource): AddressGroup | undefined {
    return this.#hostOf(host).groups.find((group) => group.source === source && countPending(group) > 0)
  }

  #enqueueHost({ groups }: SimulatedHost): void {
    for (const group of groups) this.#enqueue(group)
  }

  /** Makes a group available to leases as soon as its host can be visited, if the host is free and the group has pending addresses. */
  #enqueue(group: AddressGroup): void {
    const { time } = this.#settings
    const { free } = this.#stateOf(group.source.id)
    if (free.has(group) || countPending(group) === 0 || isHostHeld(group.host.lease, time.now)) return
    const opensAt = groupOpensAt(group, time.now) - RESERVATION_HORIZON_MS
    if (opensAt > time.now) {
      time.at(opensAt, () => this.#enqueue(group))
      return
    }
    const number = group.returned.reduce((first, row) => Math.min(first, row.number), group.firstNumber)
    free.add(group, this.#rowOf(group, number, 0))
  }

  /** Checks the hosts of a process when its leases expire. */
  #watch(holder: HostHolder, until: number): void {
    const isWatched = this.#watched.has(holder)
    this.#watched.set(holder, Math.max(until, this.#watched.get(holder) ?? 0))
    if (isWatched) return
    const check = (): void => {
      const end = this.#watched.get(holder) ?? 0
      if (end > this.#settings.time.now) {
        this.#settings.time.at(end, check)
        return
      }
      this.#watched.delete(holder)
      for (const host of holder.hosts) this.#enqueueHost(this.#hostOf(host))
    }
    this.#settings.time.at(until, check)
  }
}

/** Whether a process holds a host and has not released it. */
function isHeldBy({ lease }: SimulatedHost, { name }: HostHolder): boolean {
  return lease.holder === name && lease.leasedUntil > 0
}

/** The time from which the first address of a group can be visited if its host is free. It may be in the past. */
function groupOpensAt({ host, backlog, returned }: AddressGroup, now: number): number {
  const due = backlog > 0 ? 0 : returned.reduce((first, { dueAt }) => Math.min(first, dueAt), Infinity)
  return Math.max(nextRequestAt(correctClock(host.clock, now)), due)
}

/** Depth of an address: each depth has twice as many addresses as the one before. */
function depthOf(number: number): number {
  return Math.floor(Math.log2(number + 1))
}

function toVisit(source: SimulatedSource, row: LeasedRow, lease: string, slot: number): SimulatedVisit {
  const { group, number, attempts } = row
  const url = `https://${group.host.name}/${number}`
  return {
    sourceId: source.id,
    key: url,
    url,
    host: group.host.name,
    depth: depthOf(number),
    // A visit with the discovery `manual` does not check the scope, which does not matter for order or pace.
    discovery: 'manual',
    foundOn: null,
    attempts,
    etag: null,
    lastModified: null,
    contentUrl: null,
    contentHash: null,
    checkedAt: null,
    hasPage: false,
    hasLinks: false,
    isShell: false,
    target: null,
    isConfirmation: false,
    isFinal: false,
    notBefore: slot,
    lease,
    row,
  }
}
