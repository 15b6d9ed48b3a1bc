import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Runner } from '../library/library.ts'

/** This process as a runner of crawls. It can only tell whether runners on the same machine are gone. */
export const thisRunner: Runner = {
  id: runnerIdOf(process.pid),
  isGone(id) {
    const [, pid = ''] = /\/(\d+)$/.exec(id) ?? []
    // A reused pid counts as alive; the liveness timeout covers that case.
    return runnerIdOf(Number(pid)) === id && !isAlive(Number(pid))
  },
}

/**
 * The id of a process on this machine as a runner. A pid is only unique within its pid namespace, which in a container is smaller than the
 * machine. Machines can share a host name, but not a boot id.
 */
export function runnerIdOf(pid: number): string {
  return `${hostname()}/${readPidNamespace()}/${pid}`
}

/** Identifies the pid namespace: the boot id of the machine and the namespace, as far as the system provides them. */
function readPidNamespace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
    return `${boot.slice(0, 13)}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return process.platform
  }
}

/** Whether a process with this pid is running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    // EPERM means that the process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a process is a zombie. A killed process keeps its pid until its parent reaps it, which in a container may be never. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program name is in parentheses, and may contain parentheses itself.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    // Only Linux provides this file.
    return false
  }
}
