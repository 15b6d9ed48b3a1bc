import { type HostClock, lowerClock, mendClock } from '../../crawl/host-clock.ts'
import type { RobotsRecord } from '../../crawl/ledger.ts'
import type { Database } from './database.ts'

/** Clocks of hosts and their robots.txt files, which all sources share. */
export interface Hosts {
  readClock(host: string, now: number): HostClock
  moveClock(host: string, nextAt: number): void
  reserveSlot(host: string, now: number): number
  setInterval(host: string, intervalMs: number, now: number): void
  readRobots(origin: string): RobotsRecord | undefined
  writeRobots(record: RobotsRecord): void
}

/** Prepares what is asked about hosts. */
export function createHosts(db: Database): Hosts {
  const selectClock = db.prepare<[string], HostClock>(
    'SELECT next_at AS nextAt, interval_ms AS intervalMs FROM hosts WHERE host = ?',
  )
  const upsertNext = db.prepare<[string, number]>(
    'INSERT INTO hosts (host, next_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET next_at = excluded.next_at',
  )
  const upsertClock = db.prepare<[string, number, number]>(
    `INSERT INTO hosts (host, next_at, interval_ms) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET next_at = excluded.next_at, interval_ms = excluded.interval_ms`,
  )
  const selectRobots = db.prepare<[string], RobotsRecord>(
    'SELECT origin, fetched_at AS fetchedAt, type, body, status FROM robots WHERE origin = ?',
  )
  const upsertRobots = db.prepare<[RobotsRecord]>(
    `INSERT OR REPLACE INTO robots (origin, fetched_at, type, status, body)
     VALUES (@origin, @fetchedAt, @type, @status, @body)`,
  )

  const readClock = (host: string, now: number): HostClock => mendClock(selectClock.get(host) ?? FREE, now)
  const reserveSlot = db.transaction((host: string, now: number): number => {
    const { nextAt, intervalMs } = readClock(host, now)
    const slot = Math.max(now, nextAt)
    upsertNext.run(host, slot + intervalMs)
    return slot
  })
  const setInterval = db.transaction((host: string, interval: number, now: number): void => {
    const { nextAt, intervalMs } = lowerClock(selectClock.get(host) ?? FREE, interval, now)
    upsertClock.run(host, nextAt, intervalMs)
  })

  return {
    readClock,
    moveClock: (host, nextAt) => {
      upsertNext.run(host, nextAt)
    },
    reserveSlot: reserveSlot.immediate,
    setInterval: setInterval.immediate,
    readRobots: (origin) => selectRobots.get(origin),
    writeRobots: (record) => {
      upsertRobots.run(record)
    },
  }
}

const FREE: HostClock = { nextAt: 0, intervalMs: 0 }
