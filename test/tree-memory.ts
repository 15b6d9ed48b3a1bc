import { readFileSync } from 'node:fs'
import { childrenOf } from './postgres/server.ts'

/** Short compared with the time that it takes to fill much memory. */
const SAMPLE_INTERVAL_MS = 20

/** Watches the memory of a process and its children. Returns a function that ends the watch and gives the peak in megabytes. */
export function watchMemory(pid: number): () => number {
  let most = 0
  const look = (): void => {
    const all = [pid, ...childrenOf(pid)].reduce((sum, one) => sum + residentMb(one), 0)
    most = Math.max(most, all)
  }
  const timer = setInterval(look, SAMPLE_INTERVAL_MS)
  return () => {
    clearInterval(timer)
    return most
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
