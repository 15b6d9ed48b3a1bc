import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Starts a real Chromium. Where Debian's packages can be installed, a missing one is; elsewhere the error says so. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: locateChromium(),
    // As root it refuses to start with its sandbox; the rest keeps it from calling home.
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
}

/** Where Chromium is, installed first where that can be done. */
export function locateChromium(): string {
  return findChromium() ?? installChromium()
}

function findChromium(): string | undefined {
  return PLACES.find((place) => existsSync(place))
}

function installChromium(): string {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore' })
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  const found = findChromium()
  if (found !== undefined) return found
  throw new Error(`no Chromium at ${PLACES.join(', ')}: install it, as root on Debian with apt-get install chromium`)
}
