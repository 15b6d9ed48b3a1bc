import { rmSync, writeFileSync } from 'node:fs'
import { PharosError } from '../../core/errors.ts'

/** Interval between writes of the file. */
const TOUCH_INTERVAL_MS = 5000

/**
 * Rewrites a file periodically, so that a probe can tell from its age whether this process is alive. The library is not checked,
 * because a restart does not help while a database is down. Returns a function that stops the writes and removes the file.
 */
export function startAliveFile(file: string): () => void {
  const touch = (): void => writeFileSync(file, `${process.pid}\n`)
  try {
    touch()
  } catch (cause) {
    throw new PharosError('USAGE', { problem: `--alive-file ${file}: it cannot be written` }, { cause })
  }
  const timer = setInterval(() => {
    try {
      touch()
    } catch {
      // A failed write lets the file age, which is what the probe checks.
    }
  }, TOUCH_INTERVAL_MS)
  return () => {
    clearInterval(timer)
    rmSync(file, { force: true })
  }
}
