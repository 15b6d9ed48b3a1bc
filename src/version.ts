import { readFileSync } from 'node:fs'

/** The version of this installation. */
export const VERSION: string = readVersion()

function readVersion(): string {
  // package.json always has a version, which is a string.
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return manifest.version
}
