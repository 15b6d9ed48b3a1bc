import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small disk that a test has mounted. */
export interface Disk {
  readonly folder: string
  /** The path for the library. */
  readonly path: string
  /** Fills the disk to the last byte. */
  fill(): void
  free(): void
  remount(mode: 'ro' | 'rw'): void
}

const mounted: string[] = []

/** Mounts a small disk in memory. */
export function mountSmallDisk(megabytes: number): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch (cause) {
    rmdirSync(folder)
    throw new Error('this test needs the right to mount a file system', { cause })
  }
  mounted.push(folder)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    path: join(folder, 'library.db'),
    fill() {
      const file = openSync(ballast, 'w')
      try {
        for (;;) writeSync(file, Buffer.alloc(4096))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast),
    remount: (mode) => {
      execFileSync('mount', ['-o', `remount,${mode}`, folder])
    },
  }
}

/** Unmounts all disks, also those that a process still uses. */
export function unmountDisks(): void {
  for (const folder of mounted.splice(0)) {
    execFileSync('umount', ['-l', folder])
    rmdirSync(folder)
  }
}
