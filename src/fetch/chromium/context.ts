import type { Browser, CDPSession, Page } from 'playwright-core'
import { type GuardProxy, type GuardProxyOptions, openGuardProxy } from '../guard-proxy.ts'
import { NO_BYPASS } from './browser.ts'
import { TRACK_ACTIVITY_SCRIPT } from './scripts.ts'

/**
 * A browser context for one page at a time, with its own proxy, cache and cookies. Contexts are reused, because opening one takes longer
 * than rendering most pages, and cleared between pages.
 */
export interface ChromiumContext {
  readonly page: Page
  readonly session: CDPSession
  /** The main frame of the page. */
  readonly frameId: string
  readonly guard: GuardProxy
  /** The request headers of the page as JSON. A context is reused only with equal headers, because its cache may hold private responses. */
  readonly key: string
}

/** Fixed values, so that a page renders the same on every machine. */
const CONTEXT_OPTIONS = {
  locale: 'en-US',
  timezoneId: 'UTC',
  viewport: { width: 1280, height: 1024 },
  deviceScaleFactor: 1,
  colorScheme: 'light',
  reducedMotion: 'reduce',
  acceptDownloads: false,
  serviceWorkers: 'block',
} as const

/** Opens a context, with its guard proxy and its page. */
export async function openChromiumContext(
  browser: Browser,
  key: string,
  options: GuardProxyOptions,
): Promise<ChromiumContext> {
  const guard = await openGuardProxy(options)
  try {
    const context = await browser.newContext({ ...CONTEXT_OPTIONS, proxy: { server: guard.url, bypass: NO_BYPASS } })
    const page = await context.newPage()
    page.on('popup', (opened) => {
      // Fallback for browsers that ignore the pop-up switches. The window may already be closed.
      opened.close().catch(() => {})
    })
    const session = await context.newCDPSession(page)
    const [{ frameTree }] = await Promise.all([
      session.send('Page.getFrameTree'),
      session.send('Page.enable'),
      session.send('Page.addScriptToEvaluateOnNewDocument', { source: TRACK_ACTIVITY_SCRIPT }),
      // Response bodies are not read through the protocol, so the browser need not buffer them.
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
 * Unloads the page of a URL and clears its storage, but keeps the HTTP cache. Only one origin can have stored anything, because
 * cross-origin frames are not loaded and no windows open.
 */
export async function clearChromiumContext({ session }: ChromiumContext, url: string): Promise<true> {
  // The old page's storage can be cleared only after the navigation away from it has finished.
  const navigated = new Promise((resolve) => session.once('Page.frameNavigated', resolve))
  await Promise.all([session.send('Page.navigate', { url: 'about:blank' }), navigated])
  await Promise.all([
    session.send('Page.resetNavigationHistory'),
    session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' }),
    session.send('Network.clearBrowserCookies'),
  ])
  return true
}

/** Closes a context, even if its page hangs. Never rejects. */
export async function closeChromiumContext({ page, guard }: ChromiumContext): Promise<true> {
  // Closing fails when the browser has already exited.
  await page
    .context()
    .close()
    .catch(() => {})
  await guard.close()
  return true
}
