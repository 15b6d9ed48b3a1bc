/** How a {@link CircuitBreaker} is set. */
export interface BreakerOptions {
  /** Failures in a row that open it. @default 5 */
  readonly threshold?: number
  /** How long it stays open, in milliseconds. @default 60_000 */
  readonly resetMs?: number
  /** Milliseconds since some moment. */
  readonly now: () => number
  /** Told when it opens, and when it closes after that. */
  readonly onChange?: ((state: 'closed' | 'open') => void) | undefined
}

/** Refused without a call, because those before failed. */
export class CircuitOpenError extends Error {
  override readonly name = 'CircuitOpenError'
  readonly retryInMs: number

  constructor(retryInMs: number) {
    super(`not asked: it failed again and again and is left alone for ${Math.ceil(retryInMs / 1000)} s`)
    this.retryInMs = retryInMs
  }
}

/**
 * Keeps calls from a service that fails. Closed, it lets all pass; after so many failures in a row it opens and refuses; when its time
 * is over it lets one call try (half open), which closes it or opens it anew. Meanwhile others are refused, or wait for its outcome.
 */
export class CircuitBreaker {
  readonly #threshold: number
  readonly #resetMs: number
  readonly #now: () => number
  readonly #onChange: BreakerOptions['onChange']
  #failures = 0
  #openedAt: number | undefined
  /** Resolves when the trial call has ended. */
  #trial: Promise<void> | undefined

  constructor({ threshold = 5, resetMs = 60_000, now, onChange }: BreakerOptions) {
    this.#threshold = threshold
    this.#resetMs = resetMs
    this.#now = now
    this.#onChange = onChange
  }

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#openedAt === undefined) return 'closed'
    return this.#remainingMs() > 0 ? 'open' : 'half-open'
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Makes a call, or rejects with a {@link CircuitOpenError}. A failure that `counts` does not name says nothing about the service:
   * it is passed on, and changes nothing. With a signal, a call waits for the outcome of a trial that is under way, until it is aborted.
   */
  async run<T>(
    work: () => Promise<T>,
    counts: (error: unknown) => boolean = () => true,
    waiting?: AbortSignal,
  ): Promise<T> {
    while (waiting !== undefined && this.#trial !== undefined) await untilAborted(this.#trial, waiting)
    const isTrial = this.state === 'half-open' && this.#trial === undefined
    if (this.state !== 'closed' && !isTrial) throw new CircuitOpenError(Math.max(this.#remainingMs(), 1))
    let endTrial = (): void => undefined
    if (isTrial) {
      this.#trial = new Promise((resolve) => {
        endTrial = resolve
      })
    }
    try {
      const made = await work()
      // One that began before it opened says nothing about the time since: only the trial closes it.
      if (isTrial || this.#openedAt === undefined) this.#close()
      return made
    } catch (error) {
      if (counts(error)) this.#fail(isTrial)
      throw error
    } finally {
      if (isTrial) this.#trial = undefined
      endTrial()
    }
  }

  #remainingMs(): number {
    return this.#openedAt === undefined ? 0 : this.#openedAt + this.#resetMs - this.#now()
  }

  #close(): void {
    const wasOpen = this.#openedAt !== undefined
    this.#failures = 0
    this.#openedAt = undefined
    if (wasOpen) this.#onChange?.('closed')
  }

  #fail(isTrial: boolean): void {
    this.#failures++
    // Calls that were under way when it opened do not keep it open for longer.
    const opens = isTrial || (this.#openedAt === undefined && this.#failures >= this.#threshold)
    if (!opens) return
    this.#openedAt = this.#now()
    this.#onChange?.('open')
  }
}

/** Waits for a promise that never rejects. Rejects as soon as the signal is aborted. */
function untilAborted(awaited: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    void awaited.then(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
  })
}
