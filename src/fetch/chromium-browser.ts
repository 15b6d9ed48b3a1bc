import { join } from 'node:path'
import type { Browser, BrowserType, CDPSession } from 'playwright-core'
import { messageOf } from '../core/errors.ts'
import { answerWithin, BrowserHung } from './chromium-deadline.ts'
import { measureProcesses } from './chromium-memory.ts'
import { openProfile } from './chromium-profile.ts'
import { missing } from './find-browser.ts'

/** How a browser is started. */
export interface BrowserOptions {
  readonly executablePath: string
  readonly userAgent: string
  /** The proxy of whatever no page asks for. Pages have their own. */
  readonly proxyUrl: string
  /** Time to start, and again to tell about itself, in milliseconds. @default 30_000 */
  readonly startMs?: number
}

/** A browser that runs. */
export interface RunningBrowser {
  readonly browser: Browser
  /** Resolves when it is no longer there, for whatever reason. */
  readonly gone: Promise<void>
  /** Memory that its processes have for themselves, together, in bytes; 0 where that cannot be read. */
  measureMemory(): Promise<number>
  /** Ends it, and removes what it wrote. */
  close(): Promise<void>
}

/** Time to end by itself. */
const CLOSE_MS = 5000

/** Loads what drives the browser, an optional package. Rejects with `BROWSER_MISSING`. */
export async function loadPlaywright(
  load: () => Promise<{ readonly chromium: BrowserType }> = () => import('playwright-core'),
): Promise<BrowserType> {
  try {
    const { chromium } = await load()
    return chromium
  } catch (cause) {
    throw missing('the package playwright-core is not installed', 'npm install playwright-core', { cause })
  }
}

/** Starts a browser with a folder of its own. It ends with this process, whatever ends that: they are joined by a pipe. */
export async function openBrowser(chromium: BrowserType, options: BrowserOptions): Promise<RunningBrowser> {
  const profile = await openProfile()
  const { startMs = 30_000 } = options
  try {
    const context = await chromium.launchPersistentContext(join(profile.path, 'profile'), {
      executablePath: options.executablePath,
      artifactsDir: join(profile.path, 'artifacts'),
      // Windows that nobody clicked for are not opened.
      ignoreDefaultArgs: ['--disable-popup-blocking'],
      args: [...SWITCHES, `--user-agent=${options.userAgent}`],
      proxy: { server: options.proxyUrl, bypass: NO_BYPASS },
      timeout: startMs,
      // As root it refuses to start with its sandbox.
      chromiumSandbox: process.getuid?.() !== 0,
      // Signals are for this program to decide about.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    // Only what is no desktop browser has none.
    const browser = context.browser() as Browser
    const gone = new Promise<void>((resolve) => browser.once('disconnected', () => resolve()))
    const { session, main } = await meetBrowser(browser, startMs)
    return {
      browser,
      gone,
      measureMemory: async () => measureProcesses(await listProcesses(session)),
      async close() {
        const kill = setTimeout(() => endProcess(main), CLOSE_MS)
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

/** Loopback addresses go through the proxy as all others do. */
export const NO_BYPASS = '<-loopback>'

const SWITCHES: readonly string[] = [
  // Only names of proxies are looked up, and these are addresses: nothing goes out by itself, not even a question for a name.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  // No UDP, which no proxy would see.
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  // Nothing of its own accord.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-first-run',
  '--no-pings',
  // What is not read is not loaded.
  '--blink-settings=imagesEnabled=false',
  '--disable-remote-fonts',
  '--mute-audio',
  '--disable-gpu',
  // The smaller browser without a face has no blocker of windows, and this instead.
  '--block-new-web-contents',
  // One process for a page and its frames. There is nothing of anybody's in this browser that they could take from each other.
  '--disable-site-isolation-trials',
  '--lang=en-US',
]

/** What is known of a browser that runs: a line to it, and its main process. */
interface Met {
  readonly session: CDPSession
  readonly main: number | undefined
}

/** Finds out about a browser that has started, and ends one that does not tell. */
async function meetBrowser(browser: Browser, timeoutMs: number): Promise<Met> {
  try {
    const met = await answerWithin(askBrowser(browser), timeoutMs)
    if (met === undefined) throw new BrowserHung()
    return met
  } catch (error) {
    // What drives it kills one that does not end by itself.
    await browser.close().catch(() => {})
    throw error
  }
}

async function askBrowser(browser: Browser): Promise<Met> {
  const session = await browser.newBrowserCDPSession()
  const [main] = await listProcesses(session, 'browser')
  return { session, main }
}

/** Ids of the processes of a browser, all or those of one type. */
async function listProcesses(session: CDPSession, type?: string): Promise<number[]> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  return processInfo.filter((one) => type === undefined || one.type === type).map(({ id }) => id)
}

/** Ends a process that ends for nothing else. */
function endProcess(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // It was about to be gone.
  }
}

/** Why a browser did not start, in a line: the first that it wrote itself, or else that of what drives it. */
export function describeLaunch(error: unknown): string {
  const message = messageOf(error)
  const [, written] = /^\[pid=\d+\]\[err\] (.+)$/m.exec(message) ?? []
  const [first = ''] = message.replace(/^browserType\.\w+: /, '').split('\n')
  return written ?? (first.startsWith('Target page') ? 'it ends at once' : first)
}
