import type { BrowserType } from 'playwright-core'
import { PharosError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/model.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { Renderer, RenderOutcome, RenderRequest } from '../../crawl/ports.ts'
import { PUBLIC_ONLY } from '../addresses.ts'
import type { HttpFetcherOptions } from '../http.ts'
import { parseProxy } from '../parse-proxy.ts'
import { describeLaunch, loadPlaywright } from './browser.ts'
import type { ChromiumContext } from './context.ts'
import { BrowserHung, rejectOnAbort } from './deadline.ts'
import { createMissingError } from './find-browser.ts'
import { BrowserPool, type PoolOptions, type Recycling } from './pool.ts'
import { PageCrashed, PageHung, renderPage } from './render-page.ts'

/** How pages are rendered. A megabyte is 2²⁰ bytes. */
export interface ChromiumRendererOptions extends Pick<HttpFetcherOptions, 'allowance' | 'resolve'> {
  /** Path of the browser, as returned by {@link findBrowser}. */
  readonly executablePath: string
  /** The same User-Agent that the plain fetcher sends. */
  readonly userAgent: string
  /** URL of a proxy for every connection. @default none */
  readonly proxy?: string
  /** Pages rendered at the same time. @default 2 */
  readonly concurrency?: number
  /** Timeout after which a page is read as it is, in milliseconds. @default 30_000 */
  readonly timeoutMs?: number
  /** Size limit of the rendered HTML, in bytes. @default 20 MB */
  readonly maxBytes?: number
  /** Limits after which the browser is replaced. */
  readonly recycle?: Partial<Recycling>
}

/** Renders pages with a browser, which starts with the first page. */
export interface ChromiumRenderer extends Renderer {
  /** Closes the browser; pages that are being rendered fail. */
  close(): Promise<void>
}

/** Opens a renderer. Rejects with `BROWSER_MISSING` where playwright-core is not installed. */
export async function openChromiumRenderer(options: ChromiumRendererOptions): Promise<ChromiumRenderer> {
  return new RunningRenderer(await loadPlaywright(), options)
}

class RunningRenderer implements ChromiumRenderer {
  readonly #chromium: BrowserType
  readonly #poolOptions: PoolOptions
  readonly #timeoutMs: number
  readonly #maxBytes: number
  /** Number of free page slots. */
  #free: number
  readonly #waiting: (() => void)[] = []
  /** The browser for the next page; it may still be starting. */
  #current: Promise<BrowserPool> | undefined
  readonly #pools = new Set<Promise<BrowserPool>>()
  /** Whether a browser has started before. If so, a later failed start counts as transient. */
  #hasStarted = false
  readonly #closed = new AbortController()

  constructor(chromium: BrowserType, options: ChromiumRendererOptions) {
    const { executablePath, userAgent, allowance = PUBLIC_ONLY, resolve, recycle } = options
    const proxy = options.proxy === undefined ? undefined : parseProxy(options.proxy)
    if (options.proxy !== undefined && proxy === undefined) throw new TypeError('not the URL of a proxy')
    this.#chromium = chromium
    this.#poolOptions = {
      executablePath,
      userAgent,
      guard: {
        allowance,
        ...withoutUndefined({ resolve, upstreamProxy: proxy }),
      },
      recycle: { pages: 200, memoryBytes: 2 * 2 ** 30, ageMs: 600_000, ...recycle },
    }
    this.#free = options.concurrency ?? 2
    this.#timeoutMs = options.timeoutMs ?? 30_000
    this.#maxBytes = options.maxBytes ?? 20 * 2 ** 20
  }

  async render(snapshot: Snapshot, request: RenderRequest = {}): Promise<RenderOutcome> {
    const signal = AbortSignal.any([this.#closed.signal, ...(request.signal === undefined ? [] : [request.signal])])
    try {
      await this.#acquireSlot(signal)
      // An aborted caller does not wait for the clean-up, but its slot is freed only after the clean-up.
      const work = this.#renderOne(snapshot, request, signal).finally(() => this.#releaseSlot())
      return await rejectOnAbort(work, signal)
    } catch (error) {
      request.signal?.throwIfAborted()
      return toFailure(error)
    }
  }

  async prepare(): Promise<void> {
    this.#closed.signal.throwIfAborted()
    await this.#findBrowser()
  }

  async close(): Promise<void> {
    this.#closed.abort(new BrowserEnded('the renderer was closed'))
    // A browser that did not start needs no closing.
    const pools = await Promise.all([...this.#pools].map((opening) => opening.catch(() => undefined)))
    await Promise.all(pools.map((pool) => pool?.close()))
  }

  async #renderOne(snapshot: Snapshot, request: RenderRequest, signal: AbortSignal): Promise<RenderOutcome> {
    const { headers = {}, maxBytes = this.#maxBytes } = request
    const pool = await this.#findBrowser()
    const context = await pool.acquire(JSON.stringify(headers))
    const browserExit = pool.gone.then(() => {
      throw new BrowserEnded('the browser exited')
    })
    let isSound = false
    try {
      context.guard.resetCounters()
      const options = { headers, timeoutMs: this.#timeoutMs, maxBytes, signal }
      const result = await Promise.race([renderPage(context, snapshot, options), browserExit])
      isSound = result.isReusable
      return addRefusals(result.outcome, context)
    } finally {
      await pool.release(context, isSound)
    }
  }

  /** Returns the browser for the next page, and starts a new one when the current one is retired or did not start. */
  async #findBrowser(): Promise<BrowserPool> {
    this.#current ??= this.#openBrowser()
    const opening = this.#current
    const pool = await opening.catch((error: unknown) => {
      // The next page starts a new browser.
      if (this.#current === opening) this.#current = undefined
      const problem = `${this.#poolOptions.executablePath} does not start: ${describeLaunch(error)}`
      if (this.#hasStarted) throw new BrowserEnded(problem)
      throw createMissingError(problem, 'correct the setting `browser`', { cause: error })
    })
    this.#hasStarted = true
    if (!pool.isRetired) return pool
    pool.retire()
    if (this.#current === opening) this.#current = undefined
    return await this.#findBrowser()
  }

  #openBrowser(): Promise<BrowserPool> {
    const opening = BrowserPool.open(this.#chromium, this.#poolOptions)
    this.#pools.add(opening)
    const forget = (): void => void this.#pools.delete(opening)
    opening.then((pool) => pool.ended.then(forget), forget)
    return opening
  }

  async #acquireSlot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#free > 0) {
      this.#free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1)
        reject(signal.reason)
      }
      const proceed = (): void => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.push(proceed)
    })
  }

  #releaseSlot(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/** The browser has exited, or cannot be started at the moment. */
class BrowserEnded extends Error {}

function toFailure(error: unknown): RenderOutcome {
  if (error instanceof PharosError) {
    return { type: 'failed', reason: 'needs-rendering', detail: error.message, isTransient: false }
  }
  const isTimeout = error instanceof PageHung || error instanceof BrowserHung
  const isKnown = isTimeout || error instanceof PageCrashed || error instanceof BrowserEnded
  const detail = isKnown ? error.message : 'the browser could not render the page'
  return { type: 'failed', reason: isTimeout ? 'timeout' : 'page-defect', detail, isTransient: true }
}

/** Adds the refused connections to a failed outcome, because they may be its cause. */
function addRefusals(outcome: RenderOutcome, { guard }: ChromiumContext): RenderOutcome {
  const [first] = guard.refusals
  if (outcome.type === 'rendered' || first === undefined) return outcome
  return { ...outcome, detail: `${outcome.detail}; ${guard.refusalCount} connections were refused: ${first.reason}` }
}
