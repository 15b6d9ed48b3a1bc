// CPU time of a PostgreSQL server that a benchmark has started.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Clock ticks per second; the value is the same on every Linux. */
const TICKS_A_SECOND = 100

/** CPU seconds of all server processes, including those that have ended. */
export function serverCpu({ folder }) {
  const postmaster = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readTicks(pid, postmaster))
  return ticks.reduce((sum, processTicks) => sum + processTicks, 0) / TICKS_A_SECOND
}

function readTicks(pid, postmaster) {
  let stat
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // The process has ended meanwhile.
    return 0
  }
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, childUser, childSystem] = fields.slice(9, 13).map(Number)
  if (Number(pid) === postmaster) return user + system + childUser + childSystem
  return Number(parent) === postmaster ? user + system : 0
}
