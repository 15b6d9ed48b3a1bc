/** A timeout has expired. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'

  constructor(ms: number) {
    super(`it gave no answer within ${ms / 1000} s`)
  }
}

/** Rejects with {@link TimeoutError} after a timeout, even if the operation ignores its signal. */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const enough = AbortSignal.timeout(ms)
  const both = signal === undefined ? enough : AbortSignal.any([signal, enough])
  both.throwIfAborted()
  let giveUp = (): void => undefined
  const given = new Promise<never>((_, reject) => {
    giveUp = () => reject(enough.aborted ? new TimeoutError(ms) : both.reason)
  })
  both.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([given, begin(both)])
  } finally {
    both.removeEventListener('abort', giveUp)
  }
}
