/** Semaphore with a fixed number of places, granted in the order of the requests. */
export class Semaphore<T> {
  readonly #places: number
  readonly #holders = new Set<T>()
  readonly #waiting = new Map<T, { readonly promise: Promise<void>; readonly resolve: () => void }>()

  constructor(places: number) {
    this.#places = places
  }

  /** Resolves once the holder has a place; at once if the holder already has one. */
  acquire(holder: T): Promise<void> {
    if (this.#holders.has(holder)) return Promise.resolve()
    const known = this.#waiting.get(holder)
    if (known !== undefined) return known.promise
    if (this.#holders.size < this.#places) {
      this.#holders.add(holder)
      return Promise.resolve()
    }
    let resolve = (): void => undefined
    const promise = new Promise<void>((settle) => {
      resolve = settle
    })
    this.#waiting.set(holder, { promise, resolve })
    return promise
  }

  /** Gives up the place of a holder, or its wait for one. */
  release(holder: T): void {
    this.#waiting.delete(holder)
    if (!this.#holders.delete(holder)) return
    for (const [next, { resolve }] of this.#waiting) {
      this.#waiting.delete(next)
      this.#holders.add(next)
      resolve()
      return
    }
  }
}
