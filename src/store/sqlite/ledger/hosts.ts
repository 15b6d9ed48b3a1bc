import { correctClock, type HostClock, NEW_HOST_CLOCK } from '../../../crawl/hosts/host-clock.ts'
import type { RobotsRecord } from '../../../crawl/ledger.ts'
import { selectColumns, valuesOf } from '../../common/columns.ts'
import { CLOCK_COLUMNS, ROBOTS_COLUMNS } from '../../common/ledger/ledger-sql.ts'
import type { Database } from '../database/database.ts'

/** Clocks and robots.txt files of hosts, shared by all sources. */
export interface Hosts {
  readClock(host: string, now: number): HostClock
  writeClock(host: string, clock: HostClock): void
  readRobots(origin: string): RobotsRecord | undefined
  writeRobots(record: RobotsRecord): void
}

/** Creates the host queries. */
export function createHosts(db: Database): Hosts {
  const selectClock = db.prepare<[string], HostClock>(
    `SELECT ${selectColumns(CLOCK_COLUMNS)} FROM hosts WHERE host = ?`,
  )
  const upsertClock = db.prepare<unknown[]>(
    `INSERT OR REPLACE INTO hosts (host, ${CLOCK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const selectRobots = db.prepare<[string], RobotsRecord>(
    `SELECT ${selectColumns(ROBOTS_COLUMNS)} FROM robots WHERE origin = ?`,
  )
  const upsertRobots = db.prepare<unknown[]>(`INSERT OR REPLACE INTO robots (${ROBOTS_COLUMNS}) VALUES (?, ?, ?, ?, ?)`)

  return {
    readClock: (host, now) => correctClock(selectClock.get(host) ?? NEW_HOST_CLOCK, now),
    writeClock: (host, clock) => {
      upsertClock.run(host, ...valuesOf(CLOCK_COLUMNS, clock))
    },
    readRobots: (origin) => selectRobots.get(origin),
    writeRobots: (record) => {
      upsertRobots.run(...valuesOf(ROBOTS_COLUMNS, record))
    },
  }
}
