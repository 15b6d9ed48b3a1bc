// Resource usage of processes, as the system reports it.
import { readFileSync } from 'node:fs'
import { childrenOf } from '../test/postgres/server.ts'

/** Clock ticks per second; the value is the same on every Linux. */
const TICKS_A_SECOND = 100

/** CPU seconds of a process and of its ended children; 0 if it no longer exists. */
export function readCpuSeconds(pid) {
  const fields = readStat(pid)
  const ticks = fields.slice(11, 15).map(Number)
  return ticks.reduce((sum, field) => sum + field, 0) / TICKS_A_SECOND
}

/** CPU seconds of a process and its running children, such as those of a PostgreSQL server. */
export function readTreeCpuSeconds(pid) {
  return [pid, ...childrenOf(pid)].reduce((sum, member) => sum + readCpuSeconds(member), 0)
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
