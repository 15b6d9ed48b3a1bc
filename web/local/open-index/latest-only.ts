/** Serialises calls. While one runs, only the latest of the following ones is queued; older ones are dropped. */
export function latestOnly<T>(work: (wanted: T) => Promise<void>): (wanted: T) => Promise<void> {
  let next: readonly [T] | undefined
  let isBusy = false
  return async (wanted) => {
    next = [wanted]
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
