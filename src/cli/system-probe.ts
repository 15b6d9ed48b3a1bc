import { open, stat, statfs } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import type { SystemHealth, SystemProbe } from '../http/ports.ts'
import { WAL_AUTOCHECKPOINT } from '../store/sqlite/database.ts'

/** Two looks at the processor that are closer than this would measure little but themselves. */
const LEAST_SPAN_MS = 500

/** Looks at this process, and at the disk that holds the library. */
export function createSystemProbe(libraryPath: string): SystemProbe {
  const measure = createCpuMeter()
  return {
    async read() {
      const { rss, heapUsed, heapTotal } = process.memoryUsage()
      const [size, log, disk, journalMode] = await Promise.all([
        sizeOf(libraryPath),
        sizeOf(`${libraryPath}-wal`),
        statfs(dirname(libraryPath)).catch(() => null),
        readJournalMode(libraryPath),
      ])
      return {
        dbSizeBytes: size === null ? null : size + (log ?? 0),
        freeDiskBytes: disk === null ? null : disk.bavail * disk.bsize,
        memory: { rss, heapUsed, heapTotal },
        cpu: measure(),
        journalMode,
        walAutocheckpoint: journalMode === 'wal' ? WAL_AUTOCHECKPOINT : null,
      }
    },
  }
}

/** Tells how busy this process was since it was last asked. */
function createCpuMeter(): () => SystemHealth['cpu'] {
  let at = performance.now()
  let used = process.cpuUsage()
  let last = { percent: 0, percentOfOneCore: 0 }
  return () => {
    const span = performance.now() - at
    if (span < LEAST_SPAN_MS) return last
    const { user, system } = process.cpuUsage(used)
    const percentOfOneCore = round((user + system) / 1000 / span)
    last = { percent: round((user + system) / 1000 / span / availableParallelism()), percentOfOneCore }
    at = performance.now()
    used = process.cpuUsage()
    return last
  }
}

function round(share: number): number {
  return Math.round(share * 1000) / 10
}

async function sizeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null)
  return found?.size ?? null
}

/** How the library writes, from its file (sqlite.org/fileformat, 1.3.3): that works whatever state the library is in. */
async function readJournalMode(path: string): Promise<string | null> {
  const file = await open(path).catch(() => null)
  try {
    const header = await file?.read(Buffer.alloc(20), 0, 20, 0)
    if (header?.bytesRead !== 20) return null
    return header.buffer[18] === 2 ? 'wal' : 'delete'
  } catch {
    return null
  } finally {
    await file?.close()
  }
}
