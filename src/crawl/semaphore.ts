/** Semaphore with a fixed number of places, granted in the order of the requests. */
export class Semaphore<T> {
  readonly #places: number
  readonly #inside = new Set<T>()
  readonly #waiting = new Map<T, { readonly promise: Promise<void>; readonly open: () => void }>()

  constructor(places: number) {
    this.#places = places
  }

  /** Resolves once the visitor has a place; at once if it already has one. */
  acquire(visitor: T): Promise<void> {
    if (this.#inside.has(visitor)) return Promise.resolve()
    const known = this.#waiting.get(visitor)
    if (known !== undefined) return known.promise
    if (this.#inside.size < this.#places) {
      this.#inside.add(visitor)
      return Promise.resolve()
    }
    let open = (): void => undefined
    const promise = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#waiting.set(visitor, { promise, open })
    return promise
  }

  /** Gives up a place, or the wait for one. */
  release(visitor: T): void {
    this.#waiting.delete(visitor)
    if (!this.#inside.delete(visitor)) return
    for (const [next, { open }] of this.#waiting) {
      this.#waiting.delete(next)
      this.#inside.add(next)
      open()
      return
    }
  }
}
