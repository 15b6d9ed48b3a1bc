// What processes use, as the system tells.
import { readFileSync } from 'node:fs'
import { childrenOf } from '../test/postgres/server.ts'

/** As on every Linux that there is. */
const TICKS_A_SECOND = 100

/** CPU seconds of a process and of those it has started, as far as they have ended; 0 where it is gone. */
export function readCpuSeconds(pid) {
  const fields = readStat(pid)
  const ticks = fields.slice(11, 15).map(Number)
  return ticks.reduce((sum, some) => sum + some, 0) / TICKS_A_SECOND
}

/** The same of a process with all that it has started: those of a PostgreSQL, by its first one. */
export function readTreeCpuSeconds(pid) {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + readCpuSeconds(one), 0)
}

/** Fields from the state on: the name before may hold anything. */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
