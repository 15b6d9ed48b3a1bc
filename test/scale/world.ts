import { type HostClock, NEW_HOST_CLOCK } from '../../src/crawl/hosts/host-clock.ts'
import { FREE_LEASE, type HostLease } from '../../src/crawl/hosts/host-lease.ts'
import type { RobotsRecord } from '../../src/crawl/ledger.ts'
import { createRandom, logNormalFactor, randomInteger, shuffle } from './random.ts'

/** The size of a world. */
export interface WorldSize {
  readonly hosts: number
  readonly sources: number
  /** Known and unvisited addresses of all hosts. */
  readonly backlog: number
  /** Period in which faults occur, in milliseconds. */
  readonly spanMs: number
}

/** A period in which a host is faulty. */
export interface HostFault {
  readonly kind: 'down' | 'busy' | 'slow'
  readonly from: number
  readonly until: number
}

/** An address that was leased and returned, for a retry or because its process is gone. */
export interface ReturnedRow {
  readonly number: number
  readonly attempts: number
  readonly dueAt: number
}

/** An address that a process has leased. */
export interface LeasedRow {
  readonly group: AddressGroup
  readonly number: number
  readonly attempts: number
}

/** A host: its properties, its state in the ledger, and its request statistics. */
export interface SimulatedHost {
  readonly index: number
  readonly name: string
  readonly latencyMs: number
  /** The Crawl-delay in its robots.txt, or null. */
  readonly crawlDelayMs: number | null
  readonly faults: readonly HostFault[]
  /** The addresses of each source at this host. */
  readonly groups: AddressGroup[]
  clock: HostClock
  lease: HostLease
  /** The process that lost the host because it sent no heartbeats, until another process takes the host. */
  lostBy: string | null
  robots: RobotsRecord | undefined
  /** Number of requests so far. */
  requests: number
  /** The time of the last request. */
  lastRequestAt: number
  /** The interval of its clock at the last request. */
  lastRequestIntervalMs: number
  /** The process with an open connection, identified by its delivery function. */
  connectedBy: unknown
  /** The time at which that connection was last used. */
  connectedAt: number
  /** Number of requests without a response so far. */
  inFlight: number
  /** Maximum of `inFlight` so far. */
  maxInFlight: number
  /** The period for which the host asked to wait. */
  waitFrom: number
  waitUntil: number
}

/** The addresses of one source at a host. Addresses that were never leased are only counted. */
export interface AddressGroup {
  readonly host: SimulatedHost
  readonly source: SimulatedSource
  /** Number of addresses that were never leased. */
  backlog: number
  /** The number of the first address that was never leased. */
  firstNumber: number
  /** Addresses that returned to the queue. */
  returned: ReturnedRow[]
  readonly leased: Map<string, LeasedRow>
  settled: number
  failed: number
}

/** A source of the simulation. */
export interface SimulatedSource {
  readonly id: string
  readonly groups: AddressGroup[]
}

/** Number of addresses of a group that are not leased. */
export function countPending({ backlog, returned }: AddressGroup): number {
  return backlog + returned.length
}

/** All simulated sources and hosts. */
export interface World {
  readonly sources: readonly SimulatedSource[]
  readonly hosts: readonly SimulatedHost[]
}

/** Percentage of hosts that belong to two sources. */
const SHARED_PERCENT = 2
/** Percentages of hosts that have a Crawl-delay, are down for a while, are down for good, ask to wait, or become slow. */
const PERCENT = { crawlDelay: 8, down: 3, gone: 0.5, busy: 2, slow: 2 }
/** Response times of hosts. */
const MEDIAN_LATENCY_MS = 250
const LATENCY_SPREAD = 0.6
/** How uneven hosts and sources are, as `[shift, power]`: the share of the n-th largest is proportional to 1 / (n + shift) ^ power. */
const BACKLOG_SHARES = [20, 0.95] as const
const SOURCE_SHARES = [4, 0.8] as const

/** Creates a world. */
export function createWorld(size: WorldSize, seed: number): World {
  const random = createRandom(seed)
  const sources = Array.from({ length: size.sources }, (_, i): SimulatedSource => ({ id: `s${i}`, groups: [] }))
  const hostsOf = distribute(size.hosts, size.sources, SOURCE_SHARES)
  const owners = shuffle(
    sources.flatMap((source, i) => new Array<SimulatedSource>(hostsOf[i] ?? 0).fill(source)),
    random,
  )
  const backlogs = shuffle(distribute(size.backlog, size.hosts, BACKLOG_SHARES), random)
  const hosts = owners.map((owner, index) => {
    const host = createHost(index, random, size.spanMs)
    const backlog = backlogs[index] ?? 1
    const second = chance(random, SHARED_PERCENT) ? sources[randomInteger(random, 0, size.sources - 1)] : undefined
    const isShared = second !== undefined && second !== owner && backlog > 1
    addGroup(host, owner, isShared ? Math.ceil(backlog / 2) : backlog)
    if (isShared) addGroup(host, second, Math.floor(backlog / 2))
    return host
  })
  return { sources, hosts }
}

function createHost(index: number, random: () => number, spanMs: number): SimulatedHost {
  return {
    index,
    name: `h${index}.example`,
    latencyMs: Math.round(MEDIAN_LATENCY_MS * logNormalFactor(random, LATENCY_SPREAD)),
    crawlDelayMs: chance(random, PERCENT.crawlDelay) ? randomInteger(random, 1, 10) * 1000 : null,
    faults: listFaults(random, spanMs),
    groups: [],
    clock: NEW_HOST_CLOCK,
    lease: FREE_LEASE,
    lostBy: null,
    robots: undefined,
    requests: 0,
    lastRequestAt: Number.NEGATIVE_INFINITY,
    lastRequestIntervalMs: 0,
    connectedBy: null,
    connectedAt: 0,
    inFlight: 0,
    maxInFlight: 0,
    waitFrom: 0,
    waitUntil: 0,
  }
}

function addGroup(host: SimulatedHost, source: SimulatedSource, backlog: number): void {
  const group: AddressGroup = {
    host,
    source,
    backlog,
    firstNumber: 0,
    returned: [],
    leased: new Map(),
    settled: 0,
    failed: 0,
  }
  host.groups.push(group)
  source.groups.push(group)
}

/** The fault of a host at a time, if any. */
export function faultAt({ faults }: SimulatedHost, now: number): HostFault['kind'] | undefined {
  return faults.find(({ from, until }) => from <= now && now < until)?.kind
}

/** Distributes a number unevenly, with at least 1 for each part. */
function distribute(total: number, parts: number, [shift, power]: readonly [number, number]): number[] {
  const weights = Array.from({ length: parts }, (_, i) => 1 / (i + shift) ** power)
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const remaining = total - parts
  const shares = weights.map((weight) => 1 + Math.floor((remaining * weight) / sum))
  const missing = total - shares.reduce((all, one) => all + one, 0)
  shares[0] = (shares[0] ?? 0) + missing
  return shares
}

function chance(random: () => number, percent: number): boolean {
  return random() * 100 < percent
}

function listFaults(random: () => number, spanMs: number): HostFault[] {
  const faults: HostFault[] = []
  const addFault = (kind: HostFault['kind'], percent: number, lastsMs: () => number) => {
    if (!chance(random, percent)) return
    const from = Math.floor(random() * spanMs)
    faults.push({ kind, from, until: from + lastsMs() })
  }
  addFault('down', PERCENT.gone, () => Infinity)
  addFault('down', PERCENT.down, () => randomInteger(random, 10, 90) * 1000)
  addFault('busy', PERCENT.busy, () => randomInteger(random, 20, 120) * 1000)
  addFault('slow', PERCENT.slow, () => randomInteger(random, 30, 120) * 1000)
  return faults
}
