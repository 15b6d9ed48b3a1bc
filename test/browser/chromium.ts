import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { installPackages } from '../install-packages.ts'

/** The full browser, and the headless shell, which needs a third of the time. */
const PACKAGES = ['chromium', 'chromium-headless-shell']
const FULL_BROWSER_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** The executable itself: the command of Debian is a script, which tests would mistake for the browser. */
const HEADLESS_SHELL_PATH = '/usr/lib/chromium/chromium-headless-shell'

/** Starts a real Chromium. Installs a missing one where Debian packages can be installed; otherwise the error tells how to install it. */
export function openChromium(
  executablePath: string = locateChromium(),
  extraArgs: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    // Chromium refuses to start as root with its sandbox; the other flags keep it from sending requests of its own.
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...extraArgs,
    ],
  })
}

/** The path of a Chromium, preferably the headless shell; installs one where possible. */
export function locateChromium(): string {
  const fullBrowser = locateFullChromium()
  return existsSync(HEADLESS_SHELL_PATH) ? HEADLESS_SHELL_PATH : fullBrowser
}

/** The path of the full browser, which has more ways to reach the network than the headless shell. */
export function locateFullChromium(): string {
  if (findFullBrowser() === undefined || !existsSync(HEADLESS_SHELL_PATH)) installPackages(PACKAGES)
  const found = findFullBrowser()
  if (found !== undefined) return found
  throw new Error(
    `no Chromium at ${FULL_BROWSER_PATHS.join(', ')}: install it, as root on Debian with apt-get install chromium`,
  )
}

function findFullBrowser(): string | undefined {
  return FULL_BROWSER_PATHS.find((path) => existsSync(path))
}
