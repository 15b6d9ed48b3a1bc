import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../../core/errors.ts'

/** A profile folder of a browser. */
export interface Profile {
  readonly path: string
  /** Deletes the folder with its content, as far as possible. Never rejects. */
  remove(): Promise<void>
}

/**
 * Creates a profile folder, and deletes those that killed processes of this machine left behind. The folder name contains the host and the
 * process id. Folders of other hosts on a shared disk stay, because their processes cannot be checked.
 */
export async function openProfile(folder: string = tmpdir()): Promise<Profile> {
  await removeLeftoverProfiles(folder)
  const path = await mkdtemp(join(folder, `${PREFIX}${process.pid}-`))
  return { path, remove: () => removeFolder(path) }
}

const PREFIX = `pharos-chromium-${hostname().replaceAll(/[^\w.-]/g, '')}-`

async function removeLeftoverProfiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = name.startsWith(PREFIX) ? (/^(\d+)-/.exec(name.slice(PREFIX.length)) ?? []) : []
    if (pid === undefined || isRunning(Number(pid))) continue
    // Another user's folder cannot be deleted; a folder that a browser still writes to is deleted next time.
    await rm(join(folder, name), REMOVE_OPTIONS).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process that may not be signalled belongs to another user and is running.
    return codeOf(error) !== 'ESRCH'
  }
}

const REMOVE_OPTIONS = { recursive: true, force: true } as const

async function removeFolder(path: string): Promise<void> {
  // Processes of a killed browser may still write while they exit. A later process deletes what remains.
  await rm(path, { ...REMOVE_OPTIONS, maxRetries: 10, retryDelay: 50 }).catch(() => {})
}
