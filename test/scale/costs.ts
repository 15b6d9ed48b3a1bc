import type { Cost, Operation } from './database.ts'

/**
 * Cost of each operation of the ledger in PostgreSQL, for a lease of 32 visits at 24 of many hosts, and a settlement with a page and 20
 * links. Statements are counted on the wire, including those that begin and end a transaction, and `test/postgres/statement-counts.test.ts`
 * checks them. The time is the CPU time of PostgreSQL 15 on two slow cores of an arm64 machine, as `bench/postgres.mjs --parts operations`
 * prints it. An operation that writes to a source holds the lock of that source meanwhile.
 */
export const COSTS: Readonly<Record<Operation, Cost>> = {
  lease: { statements: 13, cpuMs: 16, isExclusive: true },
  settle: { statements: 12, cpuMs: 4.5, isExclusive: true },
  release: { statements: 6, cpuMs: 1.3, isExclusive: true },
  countOpen: { statements: 2, cpuMs: 0.7, isExclusive: false },
  countLedger: { statements: 2, cpuMs: 0.2, isExclusive: false },
  listHeldHosts: { statements: 2, cpuMs: 0.2, isExclusive: false },
  readClock: { statements: 1, cpuMs: 0.08, isExclusive: false },
  changeClock: { statements: 5, cpuMs: 0.85, isExclusive: false },
  robots: { statements: 1, cpuMs: 0.07, isExclusive: false },
  touch: { statements: 2, cpuMs: 0.5, isExclusive: false },
}

/** CPU time of a settlement without changes and with 20 known links, measured in the same way. */
export const UNCHANGED_CPU_MS = 2.3
