/** Runs one call at a time. While a call runs, only the latest of the following calls is queued; the others are dropped. */
export function latestOnly<T>(work: (input: T) => Promise<void>): (input: T) => Promise<void> {
  let next: readonly [T] | undefined
  let isBusy = false
  return async (input) => {
    next = [input]
    if (isBusy) return
    isBusy = true
    try {
      while (next !== undefined) {
        const [latest]: readonly [T] = next
        next = undefined
        await work(latest)
      }
    } finally {
      isBusy = false
    }
  }
}
