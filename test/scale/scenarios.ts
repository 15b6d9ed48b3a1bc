import { COSTS } from './costs.ts'
import type { Cost, Operation } from './database.ts'
import type { Scenario } from './simulate.ts'

/** The round trip between a worker and a database in the same building. */
const ROUND_TRIP_MS = 0.25

const MINUTE = 60_000

/** Default settings: a database with as many cores as needed. */
const DEFAULTS = {
  seed: 11,
  visitsAtOnce: 16,
  hostsAtOnce: 24,
  workersAtOnce: 3,
  maxMs: 60 * MINUTE,
  database: { costs: COSTS, roundTripMs: ROUND_TRIP_MS },
  mishaps: [],
  isWhole: false,
} as const satisfies Partial<Scenario>

/** The full size: ten million visits, each of which is simulated. */
export const LARGE: Scenario = {
  ...DEFAULTS,
  world: { hosts: 100_000, sources: 1000, backlog: 1_000_000_000, spanMs: 5 * MINUTE },
  workers: 1000,
  visits: 10_000_000,
  database: { ...DEFAULTS.database, outage: { from: 150_000, until: 160_000 } },
  mishaps: [
    { at: 60_000, kind: 'kill', workers: 50 },
    { at: 100_000, kind: 'freeze', workers: 50 },
    ...[20_000, 40_000, 80_000, 120_000, 140_000, 180_000].map((at) => ({ at, kind: 'kill' as const, workers: 5 })),
  ],
}

/** Few hosts for many workers, so that free hosts are taken immediately and hand-over is frequent. */
export const SCARCE: Scenario = {
  ...DEFAULTS,
  world: { hosts: 1200, sources: 20, backlog: 12_000_000, spanMs: 3 * MINUTE },
  workers: 60,
  visits: 100_000,
  database: { ...DEFAULTS.database, outage: { from: 70_000, until: 80_000 } },
  mishaps: [
    { at: 15_000, kind: 'kill', workers: 6 },
    { at: 30_000, kind: 'freeze', workers: 6 },
    { at: 60_000, kind: 'kill', workers: 3 },
  ],
}

/** {@link SCARCE} with the whole engine. */
export const WHOLE: Scenario = { ...SCARCE, isWhole: true }

/** One source, and more and more workers at it. */
export const ONE_SOURCE: readonly Scenario[] = [1, 2, 3, 4, 8].map((workers) => ({
  ...DEFAULTS,
  world: { hosts: 1000, sources: 1, backlog: 10_000_000, spanMs: 5 * MINUTE },
  workers,
  workersAtOnce: workers,
  visits: 10_000,
}))

/** Cores of the database in scenarios that limit them. */
export const CORES = 16

/** One database, and more and more workers. */
export const ONE_DATABASE: readonly Scenario[] = [10, 30, 60, 100, 200].map((workers) => ({
  ...DEFAULTS,
  world: { hosts: 20_000, sources: 200, backlog: 200_000_000, spanMs: 5 * MINUTE },
  workers,
  visits: 600 * workers,
  maxMs: 2 * MINUTE,
  database: { ...DEFAULTS.database, cores: CORES },
}))

/**
 * The whole engine with a slow database, whose responses take long. One half of the workers, then the other, is frozen past its leases,
 * often with such a response under way. The workers must ignore that response when they resume.
 */
export const FROZEN: Scenario = {
  ...WHOLE,
  seed: 1,
  world: { hosts: 300, sources: 10, backlog: 3_000_000, spanMs: 3 * MINUTE },
  workers: 40,
  workersAtOnce: 40,
  visits: 20_000,
  database: { costs: withoutLocks(COSTS), roundTripMs: 20 },
  mishaps: [15_000, 70_000].map((at) => ({ at, kind: 'freeze' as const, workers: 20 })),
}

/** The scenarios of the test. */
export const SHORT: readonly (Scenario & { readonly name: string })[] = [
  { ...SCARCE, name: 'lean', world: { ...SCARCE.world, hosts: 300, sources: 5 }, workers: 15, visits: 18_000 },
  { ...WHOLE, name: 'whole engine', world: { ...WHOLE.world, hosts: 300, sources: 5 }, workers: 15, visits: 18_000 },
  { ...FROZEN, name: 'whole engine, frozen workers' },
]

/** Costs of a database without locks, so that hosts are the only bottleneck. */
function withoutLocks(costs: Readonly<Record<Operation, Cost>>): Readonly<Record<Operation, Cost>> {
  const unlocked = (operation: Operation): Cost => ({ ...costs[operation], isExclusive: false })
  return {
    lease: unlocked('lease'),
    settle: unlocked('settle'),
    release: unlocked('release'),
    countOpen: unlocked('countOpen'),
    countLedger: unlocked('countLedger'),
    listHeldHosts: unlocked('listHeldHosts'),
    readClock: unlocked('readClock'),
    changeClock: unlocked('changeClock'),
    robots: unlocked('robots'),
    touch: unlocked('touch'),
  }
}
