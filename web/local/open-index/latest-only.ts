/** Does one thing at a time. Of what is wanted meanwhile only the latest is done: nobody waits for answers that nobody wants any more. */
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
