// Resource usage of processes, as the system reports it.
import { readFileSync } from 'node:fs'
import { childrenOf } from '../test/postgres/server.ts'

/** The same on every Linux. */
const TICKS_A_SECOND = 100

/** CPU seconds of a process and of its ended children; 0 if it no longer exists. */
export function readCpuSeconds(pid) {
  const fields = readStat(pid)
  const ticks = fields.slice(11, 15).map(Number)
  return ticks.reduce((sum, some) => sum + some, 0) / TICKS_A_SECOND
}

/** CPU seconds of a process and its running children, such as those of a PostgreSQL server. */
export function readTreeCpuSeconds(pid) {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + readCpuSeconds(one), 0)
}

/** Fields of /proc/<pid>/stat from the state on, because the name before it may contain anything. */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
