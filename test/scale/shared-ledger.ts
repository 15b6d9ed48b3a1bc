import { type HostClock, mendClock, opensAt } from '../../src/crawl/host-clock.ts'
import { giveHostBack, judgeHost, takeHost, WISH_AGAIN_MS, wantHost } from '../../src/crawl/host-lease.ts'
import type {
  LeaseRequest,
  Ledger,
  OpenWork,
  RobotsRecord,
  Settled,
  Settlement,
  Visit,
} from '../../src/crawl/ledger.ts'
import { type Candidate, countSlots, reserveSlots, takeOfHosts } from '../../src/store/common/slots.ts'
import type { Operation, SimulatedDatabase } from './database.ts'
import { LotQueue } from './lot-queue.ts'
import type { SimulatedTime } from './time.ts'
import {
  countPending,
  type LeasedRow,
  type Lot,
  type SimulatedHost,
  type SimulatedSource,
  type World,
} from './world.ts'

/** A process that asks the ledger. */
export interface Asker {
  /** What it holds hosts as. */
  readonly id: string
  /** Hands it an answer, unless it is gone; one that is frozen gets it when it goes on. */
  deliver(answer: () => void): void
}

/** What the simulation wants to know of the ledger. */
export interface LedgerSettings {
  readonly time: SimulatedTime
  readonly world: World
  readonly database: SimulatedDatabase
  /** How long a host is a process's without a sign of life. */
  readonly hostLeaseMs: number
  /** Most hosts of a process. */
  readonly hosts: number
  /** Whether clocks are read and changed without delay, which saves two events a visit. */
  readonly areClocksQuick: boolean
  /** Called when a host changes hands. */
  readonly tellTaken: (host: SimulatedHost, before: string | null) => void
  /** Called when an address is done with. */
  readonly tellSettled: (lot: Lot, process: string, isLost: boolean) => void
}

/** The part of a ledger that visits need. */
export type VisitLedger = Pick<
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
  | 'readRobots'
  | 'writeRobots'
>

/** An address that may be leased. */
interface OpenRow extends Candidate {
  readonly lot: Lot
  readonly number: number
  readonly attempts: number
}

interface SimulatedVisit extends Visit {
  readonly row: LeasedRow
}

/** What the ledger knows of a source. */
interface SourceState {
  readonly source: SimulatedSource
  readonly free: LotQueue
  pending: number
  leased: number
}

const NOTHING: Settled = { type: 'lost', state: 'pending', reason: null, target: null, finds: [] }

/**
 * The ledger of all processes: hosts, who has them, and which addresses are due. It takes, keeps and gives back hosts when
 * `store/postgres/frontier.ts` does, by the same rules and in the same order; addresses that nobody took yet are counted and not kept, and
 * what an index finds in a store is found by queues.
 */
export class SharedLedger {
  readonly #settings: LedgerSettings
  readonly #hosts: ReadonlyMap<string, SimulatedHost>
  readonly #sources = new Map<string, SourceState>()
  /** The hosts that each process has. */
  readonly #held = new Map<string, Map<SimulatedHost, Lot>>()
  readonly #queued = new Set<Lot>()
  /** When the leases of each process run out, as far as it is watched. */
  readonly #watched = new Map<string, number>()
  #leases = 0

  constructor(settings: LedgerSettings) {
    this.#settings = settings
    this.#hosts = new Map(settings.world.hosts.map((host) => [host.name, host]))
    for (const source of settings.world.sources) {
      const pending = source.lots.reduce((sum, { backlog }) => sum + backlog, 0)
      this.#sources.set(source.id, { source, free: new LotQueue(), pending, leased: 0 })
      for (const lot of source.lots) this.#enqueue(lot)
    }
  }

  /** Lots of a source whose hosts nobody has. */
  countFree(source: string): number {
    return this.#stateOf(source).free.size
  }

  /** The hosts that a process has. */
  heldBy(process: string): ReadonlyMap<SimulatedHost, Lot> {
    return this.#heldBy(process)
  }

  /** Gives back what a process has that ends in good order. */
  leave(process: string): void {
    const held = this.#heldBy(process)
    for (const [host, lot] of held) {
      if (host.lease.holder !== process) continue
      for (const [lease, row] of lot.leased) if (row.token === host.lease.token) this.#putBack(lease, row)
      host.lease = giveHostBack(host.lease)
    }
    this.#held.delete(process)
    for (const host of held.keys()) for (const lot of host.lots) this.#enqueue(lot)
  }

  /** The ledger as one process sees it that crawls one source. */
  open(asker: Asker, sourceId: string): VisitLedger {
    const { time, database, areClocksQuick } = this.#settings
    const state = this.#stateOf(sourceId)
    const ask = <T>(operation: Operation, answer: () => T): Promise<T> =>
      new Promise((resolve) => {
        time.at(database.admit(operation, sourceId), () => {
          const value = answer()
          asker.deliver(() => resolve(value))
        })
      })
    const askClock: typeof ask = areClocksQuick
      ? (operation, answer) => {
          database.admit(operation, sourceId)
          return Promise.resolve(answer())
        }
      : ask
    return {
      lease: (request) => ask('lease', () => this.#lease(asker, state, request)),
      settle: (settlement) => ask('settle', () => this.#settle(asker, state, settlement)),
      release: (visits) => (visits.length === 0 ? Promise.resolve() : ask('release', () => this.#release(visits))),
      countOpen: (_, now) => ask('countOpen', () => this.#countOpen(asker, state, now)),
      listHeldHosts: (_, now, after) => ask('listHeldHosts', () => this.#listHeld(asker, now, after)),
      failPending: (_source, _crawl, host) => ask('release', () => this.#failPending(state, host)),
      readClock: (host, now) => askClock('readClock', () => this.#clockOf(host, now)),
      readClockFor: (visit, now) => askClock('readClock', () => this.#clockFor(visit, now)),
      changeClock: (host, now, change) => askClock('changeClock', () => this.#changeClock(host, now, change)),
      readRobots: (origin) => ask('robots', () => this.#hostOf(new URL(origin).host).robots),
      writeRobots: (record) => ask('robots', () => this.#writeRobots(record)),
    }
  }

  #lease(asker: Asker, state: SourceState, request: LeaseRequest): Visit[] {
    const { now, limit } = request
    const own = this.#heldBy(asker.id)
    for (const host of own.keys()) if (host.lease.holder !== asker.id) own.delete(host)
    const found = this.#findFree(asker, state, request, own.size)
    const readClock = (host: string): HostClock => this.#clockOf(host, now)
    const rows: OpenRow[] = []
    for (const lot of own.values()) this.#addRows(rows, asker, lot, request)
    for (const lot of found) this.#addRows(rows, asker, lot, request)
    const { reserved, clocks } = reserveSlots(takeOfHosts(rows, readClock, request), readClock, request)
    for (const [host, clock] of clocks) this.#hostOf(host).clock = clock
    for (const lot of found) if (clocks.has(lot.host.name)) this.#takeHost(asker, lot, now)
    // The rows are those that were handed in.
    const visits = reserved.map(({ row, slot }) => this.#take(state, row as OpenRow, slot))
    this.#leaveIdle(asker, now, (host) => !clocks.has(host.name) && visits.length < limit)
    for (const lot of found) this.#enqueue(lot)
    return visits
  }

  /** Gives back hosts where nothing is under way: those that others are to have, that have nothing left, or are of no use now. */
  #leaveIdle(asker: Asker, now: number, isUseless: (host: SimulatedHost) => boolean): void {
    const held = this.#heldBy(asker.id)
    for (const [host, lot] of held) {
      if (lot.leased.size > 0 && ownLeases(lot, host) > 0) continue
      const isYielded = judgeHost(host.lease, asker.id, now) === 'yielded'
      if (!isYielded && countPending(lot) > 0 && !isUseless(host)) continue
      host.lease = giveHostBack(host.lease)
      held.delete(host)
      for (const other of host.lots) this.#enqueue(other)
    }
  }

  /** Says that a process is alive: hosts where it has something under way stay its own, all others it gives back. */
  touch(asker: Asker): void {
    const { now } = this.#settings.time
    const held = this.#heldBy(asker.id)
    for (const host of held.keys()) if (host.lease.holder !== asker.id) held.delete(host)
    this.#leaveIdle(asker, now, () => true)
    for (const host of held.keys()) this.#renew(asker, host, now)
  }

  #renew(asker: Asker, host: SimulatedHost, now: number): void {
    const { hostLeaseMs } = this.#settings
    host.lease = takeHost(host.lease, asker.id, now, now + hostLeaseMs)
    this.#watch(asker.id, now + hostLeaseMs)
  }

  /** Hosts of a source that nobody has, in the order of their first addresses; others that are wanted are asked for. */
  #findFree(asker: Asker, { free }: SourceState, { now, horizon, limit }: LeaseRequest, has: number): Lot[] {
    const { time, hosts } = this.#settings
    const found: Lot[] = []
    while (found.length < Math.min(hosts - has, limit)) {
      const lot = free.take()
      if (lot === undefined) break
      const { host } = lot
      const opens = Math.max(opensAt(mendClock(host.clock, now)), firstDue(lot))
      const standing = judgeHost(host.lease, asker.id, now)
      if (standing === 'free' && opens <= horizon) {
        this.#queued.delete(lot)
        found.push(lot)
        continue
      }
      // Looked at again when it opens, or when it may be asked for again.
      if (standing === 'others') host.lease = wantHost(host.lease, now)
      const again = standing === 'free' ? opens - (horizon - now) : now + WISH_AGAIN_MS
      time.at(again, () => {
        this.#queued.delete(lot)
        this.#enqueue(lot)
      })
    }
    return found
  }

  /** Adds the first addresses of a lot, as many as its host has room for. */
  #addRows(rows: OpenRow[], asker: Asker, lot: Lot, request: LeaseRequest): void {
    const { host } = lot
    const { now } = request
    if (judgeHost(host.lease, asker.id, now) === 'yielded') return
    let slots = countSlots(mendClock(host.clock, now), request)
    for (const { number, attempts, dueAt } of lot.returned) {
      if (slots === 0) return
      if (dueAt > now) continue
      rows.push(this.#rowOf(lot, number, attempts))
      slots--
    }
    const rest = Math.min(slots, lot.backlog)
    for (let i = 0; i < rest; i++) rows.push(this.#rowOf(lot, lot.firstNumber + i, 0))
  }

  #rowOf(lot: Lot, number: number, attempts: number): OpenRow {
    const { host } = lot
    const id = number * this.#settings.world.hosts.length + host.index
    return { id, weight: 0, depth: depthOf(number), host: host.name, lot, number, attempts }
  }

  #take(state: SourceState, row: OpenRow, slot: number): Visit {
    const { lot, number, attempts } = row
    const { host } = lot
    if (number >= lot.firstNumber) {
      lot.firstNumber = number + 1
      lot.backlog--
    } else {
      const place = lot.returned.findIndex((one) => one.number === number)
      lot.returned.splice(place, 1)
    }
    state.pending--
    state.leased++
    const lease = `${++this.#leases}`
    const leased: LeasedRow = { lot, number, attempts, token: host.lease.token }
    lot.leased.set(lease, leased)
    return toVisit(state.source, leased, lease, slot)
  }

  /** Makes a host the process's. What another had taken there is pending again. */
  #takeHost(asker: Asker, lot: Lot, now: number): void {
    const { host } = lot
    const before = host.lease
    this.#renew(asker, host, now)
    this.#heldBy(asker.id).set(host, lot)
    if (before.token === host.lease.token) return
    for (const other of host.lots) {
      for (const [lease, row] of other.leased) if (row.token !== host.lease.token) this.#putBack(lease, row)
    }
    this.#settings.tellTaken(host, before.leasedUntil === 0 ? null : before.holder)
  }

  #settle(asker: Asker, state: SourceState, { visit, state: became, dueAt, isHostAtFault }: Settlement): Settled {
    const { row } = visit as SimulatedVisit
    const { lot, number, attempts, token } = row
    const isOurs = lot.leased.get(visit.lease) === row && lot.host.lease.token === token
    this.#settings.tellSettled(lot, asker.id, !isOurs)
    if (!isOurs) return NOTHING
    lot.leased.delete(visit.lease)
    state.leased--
    if (became === 'pending') {
      lot.returned.push({ number, attempts: isHostAtFault === true ? attempts : attempts + 1, dueAt: dueAt ?? 0 })
      state.pending++
    } else if (became === 'failed') lot.failed++
    else lot.settled++
    return { type: 'settled', state: became, reason: null, target: null, finds: [] }
  }

  #release(visits: readonly Visit[]): void {
    for (const visit of visits) {
      const { row } = visit as SimulatedVisit
      if (row.lot.leased.get(visit.lease) === row) this.#putBack(visit.lease, row)
    }
  }

  #putBack(lease: string, { lot, number, attempts }: LeasedRow): void {
    lot.leased.delete(lease)
    lot.returned.push({ number, attempts, dueAt: 0 })
    const state = this.#stateOf(lot.source.id)
    state.leased--
    state.pending++
  }

  #failPending(state: SourceState, host: string): number {
    let count = 0
    for (const lot of this.#hostOf(host).lots) {
      if (lot.source !== state.source) continue
      count += countPending(lot)
      lot.failed += countPending(lot)
      lot.firstNumber += lot.backlog
      lot.backlog = 0
      lot.returned = []
    }
    state.pending -= count
    return count
  }

  #countOpen(asker: Asker, { pending, leased, free }: SourceState, now: number): OpenWork {
    const held = this.#heldBy(asker.id)
    let nextAt = free.size > 0 && held.size < this.#settings.hosts ? now : Infinity
    for (const [host, lot] of held) {
      if (countPending(lot) > 0) nextAt = Math.min(nextAt, Math.max(firstDue(lot), opensAt(mendClock(host.clock, now))))
    }
    return { pending, leased, nextAt: nextAt === Infinity ? null : nextAt }
  }

  #listHeld(asker: Asker, now: number, after: number): string[] {
    const held = [...this.#heldBy(asker.id)].filter(([, lot]) => countPending(lot) > 0)
    return held.flatMap(([host]) => (mendClock(host.clock, now).heldUntil > after ? [host.name] : []))
  }

  #changeClock(name: string, now: number, change: (clock: HostClock) => HostClock): HostClock {
    const host = this.#hostOf(name)
    host.clock = change(mendClock(host.clock, now))
    return host.clock
  }

  #writeRobots(record: RobotsRecord): void {
    this.#hostOf(new URL(record.origin).host).robots = record
  }

  /** The clock of the host of a visit, unless the host is another's by now. */
  #clockFor({ host: name, lease }: Pick<Visit, 'host' | 'lease'>, now: number): HostClock | undefined {
    const host = this.#hostOf(name)
    const isOurs = host.lots.some(({ leased }) => leased.get(lease)?.token === host.lease.token)
    return isOurs ? mendClock(host.clock, now) : undefined
  }

  #clockOf(name: string, now: number): HostClock {
    return mendClock(this.#hostOf(name).clock, now)
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

  #heldBy(process: string): Map<SimulatedHost, Lot> {
    const known = this.#held.get(process)
    if (known !== undefined) return known
    const held = new Map<SimulatedHost, Lot>()
    this.#held.set(process, held)
    return held
  }

  /** Puts a lot where it is found by whoever looks for a host, if it has anything to visit and its host is nobody's. */
  #enqueue(lot: Lot): void {
    const { now } = this.#settings.time
    const { host } = lot
    if (this.#queued.has(lot) || countPending(lot) === 0) return
    const { holder } = host.lease
    if (holder !== null && this.#held.get(holder)?.get(host) === lot && host.lease.leasedUntil > now) return
    this.#queued.add(lot)
    const number = lot.returned.reduce((first, row) => Math.min(first, row.number), lot.firstNumber)
    this.#stateOf(lot.source.id).free.add(lot, this.#rowOf(lot, number, 0))
  }

  /** Has the hosts of a process looked at when its leases have run out. */
  #watch(process: string, until: number): void {
    const isWatched = this.#watched.has(process)
    this.#watched.set(process, until)
    if (isWatched) return
    const look = (): void => {
      const end = this.#watched.get(process) ?? 0
      if (end > this.#settings.time.now) {
        this.#settings.time.at(end, look)
        return
      }
      this.#watched.delete(process)
      for (const host of this.#heldBy(process).keys()) for (const lot of host.lots) this.#enqueue(lot)
    }
    this.#settings.time.at(until, look)
  }
}

/** The addresses of a lot that were taken under the lease that its host has now. */
function ownLeases({ leased }: Lot, { lease }: SimulatedHost): number {
  let count = 0
  for (const { token } of leased.values()) if (token === lease.token) count++
  return count
}

/** When the first address of a lot is due. */
function firstDue({ backlog, returned }: Lot): number {
  return backlog > 0 ? 0 : returned.reduce((first, { dueAt }) => Math.min(first, dueAt), Infinity)
}

/** How deep an address is: each depth has twice as many of them as the one before. */
function depthOf(number: number): number {
  return Math.floor(Math.log2(number + 1))
}

function toVisit(source: SimulatedSource, row: LeasedRow, lease: string, slot: number): SimulatedVisit {
  const { lot, number, attempts } = row
  const url = `https://${lot.host.name}/${number}`
  return {
    sourceId: source.id,
    key: url,
    url,
    host: lot.host.name,
    depth: depthOf(number),
    // Given by hand, so that the gate, which is no matter of order or pace, is not asked.
    discovery: 'manual',
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
