import { readFileSync } from 'node:fs'

/** The content of a file; undefined if it cannot be read, because then nothing is known about it. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
