import { readFileSync } from 'node:fs'
import { childrenOf } from './postgres/server.ts'

/** Short enough that a process cannot allocate much memory between two samples. */
const SAMPLE_INTERVAL_MS = 20

/** Watches the memory of a process and its children. Returns a function that ends the watch and gives the peak in megabytes. */
export function watchMemory(pid: number): () => number {
  let peakMb = 0
  const sample = (): void => {
    const totalMb = [pid, ...childrenOf(pid)].reduce((sum, one) => sum + residentMb(one), 0)
    peakMb = Math.max(peakMb, totalMb)
  }
  const timer = setInterval(sample, SAMPLE_INTERVAL_MS)
  return () => {
    clearInterval(timer)
    return peakMb
  }
}

/** Resident memory of a process; 0 after it has ended. */
function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
