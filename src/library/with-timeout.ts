/** A timeout has expired. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'

  constructor(ms: number) {
    super(`no answer within ${ms / 1000} s`)
  }
}

/** Rejects with {@link TimeoutError} after a timeout, even if the operation ignores its signal. */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(ms)
  const combined = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  combined.throwIfAborted()
  let giveUp = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(timeout.aborted ? new TimeoutError(ms) : combined.reason)
  })
  combined.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([aborted, operation(combined)])
  } finally {
    combined.removeEventListener('abort', giveUp)
  }
}
