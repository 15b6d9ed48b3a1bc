import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Memory } from '../crawl/memory-gate.ts'
import type { OpenPageReader } from './page-reader.ts'

/** The memory of this process, of which its page reader holds a part. */
export function createMemory(reader: Pick<OpenPageReader, 'rest'>): Memory {
  return {
    used: () => process.memoryUsage.rss(),
    async relieve() {
      await reader.rest()
      collectGarbage()
    },
  }
}

/** Left to itself, the collector waits until more is asked for, and nothing more is while the crawl waits for it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // A context of its own is the only place where the flag still has an effect.
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
