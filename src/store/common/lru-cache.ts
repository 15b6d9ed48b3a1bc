/** A cache with a maximum total size, which drops the least recently used entries first. */
export class LruCache<T> {
  readonly #entries = new Map<number, { readonly value: T; readonly size: number }>()
  readonly #maxSize: number
  #size = 0

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get(key: number): T | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return found.value
  }

  set(key: number, value: T, size: number): void {
    this.#size += size - (this.#entries.get(key)?.size ?? 0)
    this.#entries.delete(key)
    this.#entries.set(key, { value, size })
    for (const [oldest, { size: freed }] of this.#entries) {
      if (this.#size <= this.#maxSize) return
      this.#entries.delete(oldest)
      this.#size -= freed
    }
  }

  /** Drops all entries whose keys fail a test. */
  keep(test: (key: number) => boolean): void {
    for (const [key, { size }] of this.#entries) {
      if (test(key)) continue
      this.#entries.delete(key)
      this.#size -= size
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#size = 0
  }
}
