/** A cache of the entries used last, bounded by size. */
export class LruCache<T> {
  readonly #kept = new Map<number, { readonly value: T; readonly size: number }>()
  readonly #most: number
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  get(key: number): T | undefined {
    const found = this.#kept.get(key)
    if (found === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found.value
  }

  set(key: number, value: T, size: number): void {
    this.#size += size - (this.#kept.get(key)?.size ?? 0)
    this.#kept.delete(key)
    this.#kept.set(key, { value, size })
    for (const [oldest, { size: freed }] of this.#kept) {
      if (this.#size <= this.#most) return
      this.#kept.delete(oldest)
      this.#size -= freed
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#size = 0
  }
}
