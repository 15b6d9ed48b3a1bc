import type { Browser, CDPSession, Page } from 'playwright-core'
import { NO_BYPASS } from './chromium-browser.ts'
import { WATCH } from './chromium-scripts.ts'
import { type GuardProxy, type GuardProxyOptions, openGuardProxy } from './guard-proxy.ts'

/**
 * A window of the browser for one page at a time, with a proxy, a cache and cookies of its own. It is used again, because a new
 * one takes longer than most pages, and emptied in between.
 */
export interface Booth {
  readonly page: Page
  readonly session: CDPSession
  /** The frame of the page itself. */
  readonly frameId: string
  readonly guard: GuardProxy
  /** For whom: what was fetched with fields of one owner is not shown to another. */
  readonly key: string
}

/** The same for every page, wherever this runs. */
const SETTING = {
  locale: 'en-US',
  timezoneId: 'UTC',
  viewport: { width: 1280, height: 1024 },
  deviceScaleFactor: 1,
  colorScheme: 'light',
  reducedMotion: 'reduce',
  acceptDownloads: false,
  serviceWorkers: 'block',
} as const

/** Opens a booth. */
export async function openBooth(browser: Browser, key: string, options: GuardProxyOptions): Promise<Booth> {
  const guard = await openGuardProxy(options)
  try {
    const context = await browser.newContext({ ...SETTING, proxy: { server: guard.url, bypass: NO_BYPASS } })
    const page = await context.newPage()
    page.on('popup', (opened) => {
      // The switches of the browser let none open; this is for one that does not know them. It may be gone by then.
      opened.close().catch(() => {})
    })
    const session = await context.newCDPSession(page)
    const [{ frameTree }] = await Promise.all([
      session.send('Page.getFrameTree'),
      session.send('Page.enable'),
      session.send('Page.addScriptToEvaluateOnNewDocument', { source: WATCH }),
      // What came is not kept for anybody to look at.
      session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }),
      session.send('Network.setBypassServiceWorker', { bypass: true }),
    ])
    return { page, session, frameId: frameTree.frame.id, guard, key }
  } catch (error) {
    await guard.close()
    throw error
  }
}

/**
 * Ends the page of a URL, and takes away what it stored; what it loaded stays in the cache. There is one origin that could store
 * anything: frames of others are not loaded, and windows not opened.
 */
export async function emptyBooth({ session }: Booth, url: string): Promise<true> {
  // Not before it is there can be forgotten what it came from.
  const arrived = new Promise((resolve) => session.once('Page.frameNavigated', resolve))
  await Promise.all([session.send('Page.navigate', { url: 'about:blank' }), arrived])
  await Promise.all([
    session.send('Page.resetNavigationHistory'),
    session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' }),
    session.send('Network.clearBrowserCookies'),
  ])
  return true
}

/** Closes a booth, also one whose page hangs. Never rejects. */
export async function closeBooth({ page, guard }: Booth): Promise<true> {
  // That of a browser that is gone is closed.
  await page
    .context()
    .close()
    .catch(() => {})
  await guard.close()
  return true
}
