import type { BrowserType } from 'playwright-core'
import type { Allowance } from './addresses.ts'
import { type Booth, closeBooth, openBooth } from './chromium-booth.ts'
import { type BrowserOptions, openBrowser, type RunningBrowser } from './chromium-browser.ts'
import { answerWithin, BrowserHung } from './chromium-deadline.ts'
import { type GuardProxy, type GuardProxyOptions, openGuardProxy } from './guard-proxy.ts'

/** When a browser has served long enough. */
export interface Recycling {
  /** Pages it has rendered. @default 200 */
  readonly pages: number
  /** Memory that its processes have for themselves, together; looked at on Linux only. @default 2 GB */
  readonly memoryBytes: number
  /** @default 600_000 */
  readonly ageMs: number
}

/** What the contexts of a browser are made of. */
export interface PoolOptions extends Omit<BrowserOptions, 'proxyUrl'> {
  /** What pages may reach. */
  readonly guard: GuardProxyOptions
  readonly recycle: Recycling
}

/** Pages after which memory is looked at: that takes as long as a small page. */
const WEIGHED_PAGES = 10

/** Time to open a window, and to tell about itself. A browser that takes longer hangs. */
const ANSWER_MS = 10_000

/** Time to close a window. */
const CLOSE_MS = 3000

const NOTHING: Allowance = { isNameAllowed: () => false, isAllowed: () => false }

/** One browser from its start to its end, and its booths. */
export class BrowserPool {
  readonly #options: PoolOptions
  readonly #guard: GuardProxy
  readonly #running: RunningBrowser
  readonly #booths = new Set<Booth>()
  readonly #idle: Booth[] = []
  readonly #ageing: NodeJS.Timeout
  #busy = 0
  #pages = 0
  /** How many of them there were when memory was last looked at. */
  #weighedPages = 0
  #isWornOut = false
  #closing: Promise<void> | undefined
  readonly #ended = Promise.withResolvers<void>()

  private constructor(options: PoolOptions, guard: GuardProxy, running: RunningBrowser) {
    this.#options = options
    this.#guard = guard
    this.#running = running
    void running.gone.then(() => this.retire())
    this.#ageing = setTimeout(() => this.retire(), options.recycle.ageMs).unref()
  }

  static async open(chromium: BrowserType, options: PoolOptions): Promise<BrowserPool> {
    // The browser itself has nothing to ask anybody.
    const guard = await openGuardProxy({ allowance: NOTHING })
    try {
      return new BrowserPool(options, guard, await openBrowser(chromium, { ...options, proxyUrl: guard.url }))
    } catch (error) {
      await guard.close()
      throw error
    }
  }

  /** Resolves when the browser is no longer there. */
  get gone(): Promise<void> {
    return this.#running.gone
  }

  /** Resolves when nothing of it is left. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Whether another browser is to render the next page. */
  get isWornOut(): boolean {
    return this.#isWornOut
  }

  /** A booth, one that was used for the same before where there is one. */
  async take(key: string): Promise<Booth> {
    this.#busy++
    this.#pages++
    try {
      const booth = await answerWithin(this.#find(key), ANSWER_MS)
      if (booth === undefined) throw new BrowserHung()
      return booth
    } catch (error) {
      this.#busy--
      // One that opens no window is of no more use.
      this.retire()
      throw error
    }
  }

  /** Gives a booth back, to be used again or not. */
  async give(booth: Booth, isSound: boolean): Promise<void> {
    this.#busy--
    if (isSound) this.#idle.push(booth)
    else if ((await answerWithin(this.#close(booth), CLOSE_MS)) === undefined) this.retire()
    if (this.#isWornOut || this.#pages >= this.#options.recycle.pages || (await this.#isHeavy())) this.retire()
  }

  async #find(key: string): Promise<Booth> {
    const same = this.#idle.findIndex((booth) => booth.key === key)
    const [idle] = same < 0 ? [] : this.#idle.splice(same, 1)
    if (idle !== undefined) return idle
    // Another's makes room: there are never more booths than pages at a time.
    const other = this.#idle.pop()
    if (other !== undefined) await this.#close(other)
    const booth = await openBooth(this.#running.browser, key, this.#options.guard)
    this.#booths.add(booth)
    return booth
  }

  #close(booth: Booth): Promise<true> {
    this.#booths.delete(booth)
    return closeBooth(booth)
  }

  /** Whether it has too much memory, as far as that can be found out. One that does not answer has had its time. */
  async #isHeavy(): Promise<boolean> {
    if (this.#pages - this.#weighedPages < WEIGHED_PAGES) return false
    this.#weighedPages = this.#pages
    const bytes = await answerWithin(this.#running.measureMemory(), ANSWER_MS).catch(() => 0)
    return bytes === undefined || bytes >= this.#options.recycle.memoryBytes
  }

  /** Lets it end with its last page. */
  retire(): void {
    this.#isWornOut = true
    // Nobody waits for it here; whoever closes it is told.
    if (this.#busy === 0) this.close().catch(() => {})
  }

  /** Ends the browser. */
  close(): Promise<void> {
    this.#isWornOut = true
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end(): Promise<void> {
    clearTimeout(this.#ageing)
    try {
      await this.#running.close()
    } finally {
      await Promise.all([this.#guard, ...[...this.#booths].map(({ guard }) => guard)].map((guard) => guard.close()))
      this.#ended.resolve()
    }
  }
}
