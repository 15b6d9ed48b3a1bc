import { stat, statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { isPostgres } from '../core/url/postgres-address.ts'
import type { SystemHealth, SystemProbe } from '../http/ports.ts'
import type { Inspector } from '../store/postgres/inspect.ts'
import { readJournalMode, WAL_AUTOCHECKPOINT } from '../store/sqlite/database/database.ts'

/** Measurements at shorter intervals would mostly measure their own cost. */
const MIN_SAMPLE_INTERVAL_MS = 500

/** The health of the disk or database that holds the library. */
type LibraryHealth = Omit<SystemHealth, 'memory' | 'cpu'>

/** A probe that must be closed. */
interface OpenProbe extends SystemProbe {
  close(): Promise<void>
}

/** Measures this process, and the disk or database that holds the library. */
export function openSystemProbe(library: string): OpenProbe {
  const measure = createCpuMeter()
  const databaseProbe = isPostgres(library) ? openDatabaseProbe(library) : undefined
  return {
    async read() {
      const { rss, heapUsed, heapTotal } = process.memoryUsage()
      const libraryHealth = await (databaseProbe?.read() ?? readFileHealth(library))
      return { ...libraryHealth, memory: { rss, heapUsed, heapTotal }, cpu: measure() }
    },
    close: async () => databaseProbe?.close(),
  }
}

async function readFileHealth(path: string): Promise<LibraryHealth> {
  const [size, log, disk] = await Promise.all([
    sizeOf(path),
    sizeOf(`${path}-wal`),
    statfs(dirname(path)).catch(() => null),
  ])
  const journalMode = readJournalMode(path)
  return {
    dbSizeBytes: size === null ? null : size + (log ?? 0),
    freeDiskBytes: disk === null ? null : disk.bavail * disk.bsize,
    journalMode,
    walAutocheckpoint: journalMode === 'wal' ? WAL_AUTOCHECKPOINT : null,
  }
}

/** The values while the database server does not respond. Some of them are never known for a database. */
const UNKNOWN_HEALTH: LibraryHealth = {
  dbSizeBytes: null,
  freeDiskBytes: null,
  journalMode: null,
  walAutocheckpoint: null,
}

function openDatabaseProbe(address: string): { read(): Promise<LibraryHealth>; close(): Promise<void> } {
  let opened: Promise<Inspector> | undefined
  const open = async (): Promise<Inspector> => {
    const { openInspector } = await import('../store/postgres/inspect.ts')
    return openInspector(address)
  }
  return {
    async read() {
      opened ??= open()
      try {
        const { bytes, version } = await (await opened).inspect()
        return { ...UNKNOWN_HEALTH, dbSizeBytes: bytes, journalMode: `PostgreSQL ${version}` }
      } catch {
        return UNKNOWN_HEALTH
      }
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  }
}

/** Creates a function that returns the CPU load of this process since its last measurement. */
function createCpuMeter(): () => SystemHealth['cpu'] {
  let at = performance.now()
  let used = process.cpuUsage()
  let last = { percent: 0, percentOfOneCore: 0 }
  return () => {
    const elapsedMs = performance.now() - at
    if (elapsedMs < MIN_SAMPLE_INTERVAL_MS) return last
    const { user, system } = process.cpuUsage(used)
    const percentOfOneCore = toPercent((user + system) / 1000 / elapsedMs)
    last = { percent: toPercent((user + system) / 1000 / elapsedMs / availableParallelism()), percentOfOneCore }
    at = performance.now()
    used = process.cpuUsage()
    return last
  }
}

/** A share as a percentage with one decimal. */
function toPercent(share: number): number {
  return Math.round(share * 1000) / 10
}

async function sizeOf(path: string): Promise<number | null> {
  const stats = await stat(path).catch(() => null)
  return stats?.size ?? null
}
