import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from './connect-error.ts'

/** A folder of a browser. */
export interface Profile {
  readonly path: string
  /** Removes it with all that is in it, as far as that can be done. Never rejects. */
  remove(): Promise<void>
}

/**
 * Makes a folder for a browser, and removes those that processes of this machine left behind when they were killed. Whose it is
 * stands in its name; of a machine of another name, which may share the disk, nobody knows which processes there are.
 */
export async function openProfile(folder: string = tmpdir()): Promise<Profile> {
  await removeLeftProfiles(folder)
  const path = await mkdtemp(join(folder, `${PREFIX}${process.pid}-`))
  return { path, remove: () => removeFolder(path) }
}

const PREFIX = `pharos-chromium-${hostname().replaceAll(/[^\w.-]/g, '')}-`

async function removeLeftProfiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = name.startsWith(PREFIX) ? (/^(\d+)-/.exec(name.slice(PREFIX.length)) ?? []) : []
    if (pid === undefined || isRunning(Number(pid))) continue
    // Another user's is not ours to remove; what is still written to goes the next time.
    await rm(join(folder, name), REMOVAL).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // One that may not be signalled is somebody else's, and there.
    return codeOf(error) !== 'ESRCH'
  }
}

const REMOVAL = { recursive: true, force: true } as const

async function removeFolder(path: string): Promise<void> {
  // Processes of a browser that was killed write their last while they go; what is left goes when this process has ended.
  await rm(path, { ...REMOVAL, maxRetries: 10, retryDelay: 50 }).catch(() => {})
}
