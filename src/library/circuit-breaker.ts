/** Options of a {@link CircuitBreaker}. */
export interface BreakerOptions {
  /** Consecutive failures that open the circuit. @default 5 */
  readonly threshold?: number
  /** How long the circuit stays open, in milliseconds. @default 60_000 */
  readonly resetMs?: number
  /** Current time in milliseconds; only differences matter. */
  readonly now: () => number
  /** Called when the circuit opens, and when it closes again. */
  readonly onChange?: ((state: 'closed' | 'open') => void) | undefined
}

/** The circuit is open: the call was rejected without a request. */
export class CircuitOpenError extends Error {
  override readonly name = 'CircuitOpenError'
  readonly retryInMs: number

  constructor(retryInMs: number) {
    super(`skipped after repeated failures; next request in ${Math.ceil(retryInMs / 1000)} s`)
    this.retryInMs = retryInMs
  }
}

/**
 * Circuit breaker for a failing service. Closed, it passes every call; after `threshold` consecutive failures it opens and rejects calls.
 * After `resetMs` it lets one trial call through (half-open), which closes or reopens it. Meanwhile other calls are rejected, or wait for
 * the trial.
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

  /** Consecutive failures. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Makes a call, or rejects with a {@link CircuitOpenError}. A failure for which `counts` returns false says nothing about the service: it
   * is rethrown without a change of state. With a `waitSignal`, a call waits for a running trial to end, until the signal aborts.
   */
  async run<T>(
    work: () => Promise<T>,
    counts: (error: unknown) => boolean = () => true,
    waitSignal?: AbortSignal,
  ): Promise<T> {
    while (waitSignal !== undefined && this.#trial !== undefined) await waitUnlessAborted(this.#trial, waitSignal)
    const isTrial = this.state === 'half-open' && this.#trial === undefined
    if (this.state !== 'closed' && !isTrial) throw new CircuitOpenError(Math.max(this.#remainingMs(), 1))
    let endTrial = (): void => undefined
    if (isTrial) {
      this.#trial = new Promise((resolve) => {
        endTrial = resolve
      })
    }
    try {
      const result = await work()
      // A call that began before the circuit opened proves nothing about the present: only the trial closes an open circuit.
      if (isTrial || this.#openedAt === undefined) this.#close()
      return result
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
    // Failures of calls already in flight when the circuit opened do not extend the open period.
    const opens = isTrial || (this.#openedAt === undefined && this.#failures >= this.#threshold)
    if (!opens) return
    this.#openedAt = this.#now()
    this.#onChange?.('open')
  }
}

/** Waits for a promise that never rejects. Rejects as soon as the signal is aborted. */
function waitUnlessAborted(awaited: Promise<void>, signal: AbortSignal): Promise<void> {
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
