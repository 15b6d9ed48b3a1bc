import type { BrowserType } from 'playwright-core'
import type { Allowance } from '../addresses.ts'
import { type GuardProxy, type GuardProxyOptions, openGuardProxy } from '../guard-proxy.ts'
import { type BrowserOptions, openBrowser, type RunningBrowser } from './browser.ts'
import { type ChromiumContext, closeChromiumContext, openChromiumContext } from './context.ts'
import { BrowserHung, withTimeout } from './deadline.ts'

/** Limits after which a browser is replaced. */
export interface Recycling {
  /** Number of rendered pages. @default 200 */
  readonly pages: number
  /** Private memory of all processes of the browser, measured on Linux only. @default 2 GB */
  readonly memoryBytes: number
  /** @default 600_000 */
  readonly ageMs: number
}

/** Options of the browser and its contexts. */
export interface PoolOptions extends Omit<BrowserOptions, 'proxyUrl'> {
  /** Which addresses pages may reach. */
  readonly guard: GuardProxyOptions
  readonly recycle: Recycling
}

/** Number of pages between two memory measurements, each of which takes as long as a small page. */
const MEMORY_CHECK_PAGES = 10

/** Timeout for opening a context and for measuring memory. A browser that takes longer hangs. */
const RESPONSE_TIMEOUT_MS = 10_000

/** Timeout for closing a context. */
const CLOSE_TIMEOUT_MS = 3000

const ALLOW_NOTHING: Allowance = { isNameAllowed: () => false, isAllowed: () => false }

/** One browser process from start to exit, with its contexts. */
export class BrowserPool {
  readonly #options: PoolOptions
  readonly #guard: GuardProxy
  readonly #running: RunningBrowser
  readonly #contexts = new Set<ChromiumContext>()
  readonly #idle: ChromiumContext[] = []
  readonly #ageTimer: NodeJS.Timeout
  #busy = 0
  #pages = 0
  /** Value of the page counter at the last memory measurement. */
  #lastMeasuredPages = 0
  #isRetired = false
  #closing: Promise<void> | undefined
  readonly #ended = Promise.withResolvers<void>()

  private constructor(options: PoolOptions, guard: GuardProxy, running: RunningBrowser) {
    this.#options = options
    this.#guard = guard
    this.#running = running
    void running.gone.then(() => this.retire())
    this.#ageTimer = setTimeout(() => this.retire(), options.recycle.ageMs).unref()
  }

  static async open(chromium: BrowserType, options: PoolOptions): Promise<BrowserPool> {
    // The browser itself needs no network, so its default proxy allows nothing.
    const guard = await openGuardProxy({ allowance: ALLOW_NOTHING })
    try {
      return new BrowserPool(options, guard, await openBrowser(chromium, { ...options, proxyUrl: guard.url }))
    } catch (error) {
      await guard.close()
      throw error
    }
  }

  /** Resolves when the browser process is gone. */
  get gone(): Promise<void> {
    return this.#running.gone
  }

  /** Resolves when the browser is closed and its profile deleted. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Whether a new browser should render the next page. */
  get isRetired(): boolean {
    return this.#isRetired
  }

  /** Returns an idle context with this key, or opens a new one. */
  async acquire(key: string): Promise<ChromiumContext> {
    this.#busy++
    this.#pages++
    try {
      const context = await withTimeout(this.#find(key), RESPONSE_TIMEOUT_MS)
      if (context === undefined) throw new BrowserHung()
      return context
    } catch (error) {
      this.#busy--
      // A browser that cannot open a context is unusable.
      this.retire()
      throw error
    }
  }

  /** Returns a context to the pool, which reuses it if it is sound and closes it otherwise. */
  async release(context: ChromiumContext, isSound: boolean): Promise<void> {
    this.#busy--
    if (isSound) this.#idle.push(context)
    else if ((await withTimeout(this.#close(context), CLOSE_TIMEOUT_MS)) === undefined) this.retire()
    const isWornOut = this.#isRetired || this.#pages >= this.#options.recycle.pages
    if (isWornOut || (await this.#isOverMemoryLimit())) this.retire()
  }

  async #find(key: string): Promise<ChromiumContext> {
    const index = this.#idle.findIndex((context) => context.key === key)
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1)
    if (idle !== undefined) return idle
    // Closes an idle context of another key, so that there are never more contexts than concurrent pages.
    const other = this.#idle.pop()
    if (other !== undefined) await this.#close(other)
    const context = await openChromiumContext(this.#running.browser, key, this.#options.guard)
    this.#contexts.add(context)
    return context
  }

  #close(context: ChromiumContext): Promise<true> {
    this.#contexts.delete(context)
    return closeChromiumContext(context)
  }

  /** Whether the browser uses too much memory, as far as that can be measured. A browser that does not respond counts as over the limit. */
  async #isOverMemoryLimit(): Promise<boolean> {
    if (this.#pages - this.#lastMeasuredPages < MEMORY_CHECK_PAGES) return false
    this.#lastMeasuredPages = this.#pages
    const bytes = await withTimeout(this.#running.measureMemory(), RESPONSE_TIMEOUT_MS).catch(() => 0)
    return bytes === undefined || bytes >= this.#options.recycle.memoryBytes
  }

  /** Gives the browser no more new pages, and closes it as soon as none is being rendered. */
  retire(): void {
    this.#isRetired = true
    // Callers of `close()` get its error; this method has no caller to report it to.
    if (this.#busy === 0) this.close().catch(() => {})
  }

  /** Closes the browser. */
  close(): Promise<void> {
    this.#isRetired = true
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    clearTimeout(this.#ageTimer)
    try {
      await this.#running.close()
    } finally {
      await Promise.all([this.#guard, ...[...this.#contexts].map(({ guard }) => guard)].map((guard) => guard.close()))
      this.#ended.resolve()
    }
  }
}
