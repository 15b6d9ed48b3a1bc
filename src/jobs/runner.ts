import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Runner } from '../library/library.ts'

/** This process, as one that runs crawls. Of others it can only tell whether they are gone where they ran on this machine. */
export const thisRunner: Runner = {
  id: nameOf(process.pid),
  isGone(id) {
    const [, pid = ''] = /\/(\d+)$/.exec(id) ?? []
    // A number that was given to another process since then counts as alive; its sign of life will tell.
    return nameOf(Number(pid)) === id && !isAlive(Number(pid))
  },
}

/**
 * A process of this machine as one that runs crawls. Numbers mean something only where they were given out, which is less than a machine in
 * a container; and machines may have one name, but no two were started as the same.
 */
export function nameOf(pid: number): string {
  return `${hostname()}/${readPlace()}/${pid}`
}

/** Where numbers of processes are given out: the start of the machine and what it calls the container, as far as it tells. */
function readPlace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
    return `${boot.slice(0, 13)}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return process.platform
  }
}

/** Whether there is a process of this number that is still running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isDead(pid)
  } catch (error) {
    // Somebody else's process is one too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A process that was killed keeps its number until its parent asks for it, which in a container may be never. */
function isDead(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in brackets, and may hold brackets itself.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    // Only Linux tells.
    return false
  }
}
