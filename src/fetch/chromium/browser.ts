import { join } from 'node:path'
import type { Browser, BrowserType, CDPSession } from 'playwright-core'
import { messageOf } from '../../core/errors.ts'
import { BrowserHung, withTimeout } from './deadline.ts'
import { createMissingError } from './find-browser.ts'
import { measureProcesses } from './memory.ts'
import { openProfile } from './profile.ts'

/** How a browser is started. */
export interface BrowserOptions {
  readonly executablePath: string
  readonly userAgent: string
  /** Proxy for requests that do not belong to a page. Pages have their own proxies. */
  readonly proxyUrl: string
  /** Timeout for starting, and again for the first response, in milliseconds. @default 30_000 */
  readonly startMs?: number
}

/** A running browser. */
export interface RunningBrowser {
  readonly browser: Browser
  /** Resolves when the browser process is gone, for any reason. */
  readonly gone: Promise<void>
  /** Private memory of all processes of the browser, in bytes; 0 where that cannot be read. */
  measureMemory(): Promise<number>
  /** Ends the browser and deletes its profile. */
  close(): Promise<void>
}

/** Time that the browser gets to exit by itself. */
const CLOSE_TIMEOUT_MS = 5000

/** Loads Playwright, an optional package. Rejects with `BROWSER_MISSING`. */
export async function loadPlaywright(
  load: () => Promise<{ readonly chromium: BrowserType }> = () => import('playwright-core'),
): Promise<BrowserType> {
  try {
    const { chromium } = await load()
    return chromium
  } catch (cause) {
    throw createMissingError('the package playwright-core is not installed', 'npm install playwright-core', { cause })
  }
}

/** Starts a browser with its own profile. A pipe connects it to this process, so it exits when this process does, for any reason. */
export async function openBrowser(chromium: BrowserType, options: BrowserOptions): Promise<RunningBrowser> {
  const profile = await openProfile()
  const { startMs = 30_000 } = options
  try {
    const context = await chromium.launchPersistentContext(join(profile.path, 'profile'), {
      executablePath: options.executablePath,
      artifactsDir: join(profile.path, 'artifacts'),
      // Keeps the pop-up blocker, which Playwright would turn off.
      ignoreDefaultArgs: ['--disable-popup-blocking'],
      args: [...SWITCHES, `--user-agent=${options.userAgent}`],
      proxy: { server: options.proxyUrl, bypass: NO_BYPASS },
      timeout: startMs,
      // Chromium refuses to start with its sandbox as root.
      chromiumSandbox: process.getuid?.() !== 0,
      // This program handles the signals itself.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    // `browser()` is null only for Android and Electron.
    const browser = context.browser() as Browser
    const gone = new Promise<void>((resolve) => browser.once('disconnected', () => resolve()))
    const { session, mainPid } = await connectBrowser(browser, startMs)
    return {
      browser,
      gone,
      measureMemory: async () => measureProcesses(await listProcesses(session)),
      async close() {
        const kill = setTimeout(() => killProcess(mainPid), CLOSE_TIMEOUT_MS)
        try {
          await browser.close()
        } finally {
          clearTimeout(kill)
          await profile.remove()
        }
      },
    }
  } catch (error) {
    await profile.remove()
    throw error
  }
}

/** Sends loopback addresses through the proxy too. */
export const NO_BYPASS = '<-loopback>'

const SWITCHES: readonly string[] = [
  // The browser connects only to its proxies on 127.0.0.1. It resolves no host name, so not even a DNS query bypasses them.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // QUIC uses UDP, which would bypass the proxy.
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  // Disables the browser's own background requests.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-first-run',
  '--no-pings',
  // Does not load or use what extraction does not need.
  '--blink-settings=imagesEnabled=false',
  '--disable-remote-fonts',
  '--mute-audio',
  '--disable-gpu',
  // The headless shell has no pop-up blocker, but supports this switch.
  '--block-new-web-contents',
  // Runs a page and its frames in one process. This browser holds no user data that isolation would protect.
  '--disable-site-isolation-trials',
  '--lang=en-US',
]

/** The protocol session of a running browser, and the id of its main process. */
interface BrowserConnection {
  readonly session: CDPSession
  /** Undefined if the browser does not list a main process. */
  readonly mainPid: number | undefined
}

/** Opens the protocol session of a started browser, and closes a browser that does not respond. */
async function connectBrowser(browser: Browser, timeoutMs: number): Promise<BrowserConnection> {
  try {
    const connection = await withTimeout(queryBrowser(browser), timeoutMs)
    if (connection === undefined) throw new BrowserHung()
    return connection
  } catch (error) {
    // Playwright kills a browser that does not exit by itself.
    await browser.close().catch(() => {})
    throw error
  }
}

async function queryBrowser(browser: Browser): Promise<BrowserConnection> {
  const session = await browser.newBrowserCDPSession()
  const [mainPid] = await listProcesses(session, 'browser')
  return { session, mainPid }
}

/** Process ids of a browser, either all or those of one type. */
async function listProcesses(session: CDPSession, type?: string): Promise<number[]> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  return processInfo.filter((info) => type === undefined || info.type === type).map(({ id }) => id)
}

function killProcess(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
}

/** Says in one line why a browser did not start: the first error line of the browser itself, otherwise Playwright's first line. */
export function describeLaunch(error: unknown): string {
  const message = messageOf(error)
  const [, browserLine] = /^\[pid=\d+\]\[err\] (.+)$/m.exec(message) ?? []
  const [first = ''] = message.replace(/^browserType\.\w+: /, '').split('\n')
  return browserLine ?? (first.startsWith('Target page') ? 'it exits immediately' : first)
}
