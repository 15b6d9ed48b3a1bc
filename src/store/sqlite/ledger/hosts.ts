import { correctClock, type HostClock, NEW_HOST_CLOCK } from '../../../crawl/hosts/host-clock.ts'
import type { RobotsRecord } from '../../../crawl/ledger.ts'
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
    `SELECT next_at AS nextAt, interval_ms AS intervalMs, floor_ms AS floorMs, held_until AS heldUntil,
       slowed_at AS slowedAt, strikes FROM hosts WHERE host = ?`,
  )
  const upsertClock = db.prepare<[HostClock & { host: string }]>(
    `INSERT OR REPLACE INTO hosts (host, next_at, interval_ms, floor_ms, held_until, slowed_at, strikes)
     VALUES (@host, @nextAt, @intervalMs, @floorMs, @heldUntil, @slowedAt, @strikes)`,
  )
  const selectRobots = db.prepare<[string], RobotsRecord>(
    'SELECT origin, fetched_at AS fetchedAt, type, body, status FROM robots WHERE origin = ?',
  )
  const upsertRobots = db.prepare<[RobotsRecord]>(
    `INSERT OR REPLACE INTO robots (origin, fetched_at, type, status, body)
     VALUES (@origin, @fetchedAt, @type, @status, @body)`,
  )

  return {
    readClock: (host, now) => correctClock(selectClock.get(host) ?? NEW_HOST_CLOCK, now),
    writeClock: (host, clock) => {
      upsertClock.run({ host, ...clock })
    },
    readRobots: (origin) => selectRobots.get(origin),
    writeRobots: (record) => {
      upsertRobots.run(record)
    },
  }
}
