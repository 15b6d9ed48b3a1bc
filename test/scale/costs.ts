import type { Cost, Operation } from './database.ts'

/**
 * What the ledger in PostgreSQL takes for each operation: a lease of 32 visits at 24 hosts, a settlement with a page and 20 links.
 * Statements, with those that begin and end a transaction, are held to the store by `test/postgres/statement-counts.test.ts`. The time is
 * that of the processes of PostgreSQL 15, on two slow cores of an arm64 machine that were busy with other things too. What writes to a
 * source holds its lock meanwhile.
 */
export const COSTS: Readonly<Record<Operation, Cost>> = {
  lease: { statements: 13, cpuMs: 23, isExclusive: true },
  settle: { statements: 12, cpuMs: 4, isExclusive: true },
  release: { statements: 6, cpuMs: 1.3, isExclusive: true },
  countOpen: { statements: 2, cpuMs: 0.3, isExclusive: false },
  listHeldHosts: { statements: 2, cpuMs: 0.2, isExclusive: false },
  readClock: { statements: 1, cpuMs: 0.08, isExclusive: false },
  changeClock: { statements: 5, cpuMs: 0.43, isExclusive: false },
  robots: { statements: 1, cpuMs: 0.06, isExclusive: false },
}
