import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Memory } from '../crawl/memory-gate.ts'
import type { OpenPageReader } from './page-reader.ts'

/** A measurement holds for so long: each costs as much as a small page. */
const MEASURED_MS = 50

/** The memory of this process, of which its page reader holds a part. */
export function createMemory(reader: Pick<OpenPageReader, 'rest'>): Memory {
  let used = 0
  let askedAt = Number.NEGATIVE_INFINITY
  return {
    used() {
      const now = performance.now()
      if (now - askedAt < MEASURED_MS) return used
      askedAt = now
      used = measure()
      return used
    },
    async relieve() {
      await reader.rest()
      collectGarbage()
    },
  }
}

/** Without what is only mapped from files, such as the library: that is the system's to give back. */
function measure(): number {
  const rss = process.memoryUsage.rss()
  try {
    const [, resident = 0, shared = 0] = readFileSync('/proc/self/statm', 'utf8').split(' ').map(Number)
    return resident > 0 ? (rss * (resident - shared)) / resident : rss
  } catch {
    // Only Linux tells.
    return rss
  }
}

/** Left to itself, the collector waits until more is asked for, and nothing more is while the crawl waits for it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // A context of its own is the only place where the flag still has an effect.
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
