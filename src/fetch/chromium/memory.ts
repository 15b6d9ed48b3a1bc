import { readFile } from 'node:fs/promises'

/**
 * Private memory of all given processes, in bytes; 0 where that cannot be read. Resident memory is not used: most of it is mapped files
 * that the processes share, so the sum would count them once per process.
 */
export async function measureProcesses(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(measurePrivateBytes))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function measurePrivateBytes(pid: number): Promise<number> {
  // Reading fails if the process has exited or the system has no /proc.
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  const [, kilobytes = '0'] = /^RssAnon:\s+(\d+) kB/m.exec(status) ?? []
  return Number(kilobytes) * 1024
}
