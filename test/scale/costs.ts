import type { Cost, Operation } from './database.ts'

/**
 * What the ledger in PostgreSQL takes for each operation: a lease of 32 visits at 24 of many hosts, a settlement with a page and 20 links.
 * Statements are those on the wire, with what begins and ends a transaction; `test/postgres/statement-counts.test.ts` holds the store to them.
 * The time is that of the processes of PostgreSQL 15 on two slow cores of an arm64 machine, as `bench/postgres.mjs --parts operations` prints
 * it. What writes to a source holds its lock meanwhile.
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

/** What a settlement takes where nothing changed and all of 20 links are known, measured in the same way. */
export const UNCHANGED_CPU_MS = 2.3
