import { readFileSync, type Stats, statSync } from 'node:fs'

/** The content of a file; undefined if it cannot be read, because then nothing is known about it. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** The facts about a file; undefined if there is none, or a folder, a device or a path that the system refuses. */
export function statFile(path: string): Stats | undefined {
  try {
    const stats = statSync(path)
    return stats.isFile() ? stats : undefined
  } catch {
    return undefined
  }
}
