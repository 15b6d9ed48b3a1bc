import { readFile } from 'node:fs/promises'

/**
 * Memory that processes have for themselves, together, in bytes; 0 where that cannot be read. Files that all of them have mapped
 * would count for each, and are most of what is resident.
 */
export async function measureProcesses(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(ownBytes))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function ownBytes(pid: number): Promise<number> {
  // Gone in the meantime, or a system without these files.
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  const [, kilobytes = '0'] = /^RssAnon:\s+(\d+) kB/m.exec(status) ?? []
  return Number(kilobytes) * 1024
}
