import { readFileSync } from 'node:fs'
import { childrenOf } from './postgres/server.ts'

/** Short beside the time that it takes to fill much memory. */
const LOOK_MS = 20

/** Watches a process with those it has started. Gives the most memory that they had at once, in megabytes, and ends the watch. */
export function watchMemory(pid: number): () => number {
  let most = 0
  const look = (): void => {
    const all = [pid, ...childrenOf(pid)].reduce((sum, one) => sum + residentMb(one), 0)
    most = Math.max(most, all)
  }
  const timer = setInterval(look, LOOK_MS)
  return () => {
    clearInterval(timer)
    return most
  }
}

/** 0 for a process that is gone. */
function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
