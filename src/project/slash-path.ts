import { readFileSync } from 'node:fs'

/** Absolute paths begin with a slash here, also those with a drive. */
export function nativePath(path: string): string {
  return path.replace(/^\/(?=[A-Za-z]:\/)/, '')
}

/** An absolute path of this system with slashes. */
export function slashPath(path: string): string {
  const slashed = path.replaceAll('\\', '/')
  return slashed.startsWith('/') ? slashed : `/${slashed}`
}

/** The text of a file; undefined if it cannot be read. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(nativePath(path), 'utf8')
  } catch {
    // It cannot be read, so nothing is known about it.
    return undefined
  }
}
