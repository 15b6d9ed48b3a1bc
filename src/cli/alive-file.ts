import { rmSync, writeFileSync } from 'node:fs'
import { PharosError } from '../core/errors.ts'

/** So often the file is written. */
const TOUCH_MS = 5000

/**
 * Writes a file again and again, so that its age tells a probe whether this process still does anything. Whether its library can be
 * reached is another matter: nobody gets well by being restarted while a database is away. Gives what ends it.
 */
export function keepAlive(file: string): () => void {
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
      // It grows old, which is all that anybody looks at.
    }
  }, TOUCH_MS)
  return () => {
    clearInterval(timer)
    rmSync(file, { force: true })
  }
}
