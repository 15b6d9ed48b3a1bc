import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'
import { PharosError } from '../../core/errors.ts'

/** Finds the Chromium or Chrome that renders pages: the given path, or the first installed one. Rejects with `BROWSER_MISSING`. */
export async function findBrowser(given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '') {
    if (await isProgram(given)) return given
    throw createMissingError(`there is no program at ${given}`, 'correct the setting `browser`')
  }
  return await findInstalled(BROWSER_PATHS, PROGRAM_NAMES)
}

/** Looks for a browser at known paths, then for program names in the PATH. */
export async function findInstalled(paths: readonly string[], names: readonly string[]): Promise<string> {
  for (const path of paths) if (await isProgram(path)) return path
  for (const name of names) {
    const found = await findProgram(name)
    if (found !== undefined) return found
  }
  throw createMissingError('there is no Chromium or Chrome', INSTALL_ADVICE)
}

const BROWSER_PATHS: readonly string[] = [
  // The headless shell comes first, because it has no user interface to load. /usr/lib comes before /usr/bin, because Debian's file in
  // /usr/bin is a wrapper script that keeps running.
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

const PROGRAM_NAMES: readonly string[] = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser'],
  ...['google-chrome-stable', 'google-chrome', 'chrome'],
]

const INSTALL_ADVICE =
  'install one (Debian: apt-get install chromium-headless-shell), or name it in the setting `browser`'

/** The error for an unusable browser, with advice. */
export function createMissingError(problem: string, advice: string, options?: ErrorOptions): PharosError {
  return new PharosError('BROWSER_MISSING', { problem, advice }, options)
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    // The file does not exist or is not executable.
    return false
  }
}

/** Finds a program in the PATH. */
async function findProgram(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(process.platform === 'win32' ? 'where' : 'which', [name])
    return stdout.split(/\r?\n/)[0]
  } catch {
    // A non-zero exit status means that there is no such program.
    return undefined
  }
}
