import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Memory } from '../crawl/memory-limiter.ts'
import type { OpenPageReader } from './page-reader.ts'

/** Measurements are cached for this time, because each takes as long as reading a small page. */
const MEASUREMENT_CACHE_MS = 50

/** Measures the memory of this process, and can free the part that the page reader holds. */
export function createMemory(reader: Pick<OpenPageReader, 'endIdleProcess'>): Memory {
  let used = 0
  let measuredAt = Number.NEGATIVE_INFINITY
  return {
    used() {
      const now = performance.now()
      if (now - measuredAt < MEASUREMENT_CACHE_MS) return used
      measuredAt = now
      used = measure()
      return used
    },
    async relieve() {
      await reader.endIdleProcess()
      collectGarbage()
    },
  }
}

/** Excludes memory that is mapped from files, such as the library, because the system can reclaim it. */
function measure(): number {
  const rss = process.memoryUsage.rss()
  try {
    const [, resident = 0, shared = 0] = readFileSync('/proc/self/statm', 'utf8').split(' ').map(Number)
    return resident > 0 ? (rss * (resident - shared)) / resident : rss
  } catch {
    // Only Linux provides this file.
    return rss
  }
}

/** Forces a garbage collection. V8 would wait for the next allocations, which do not happen while the crawl waits for memory. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // The flag only takes effect in a new context.
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
