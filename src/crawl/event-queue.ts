/** Queue with one reader. Writers await `waitForRoom`, which blocks while too many values are unread. */
export class EventQueue<T> {
  readonly #capacity: number
  /** Number of values added so far. */
  pushedCount = 0
  /** Number of values read so far. */
  readCount = 0
  #values: T[] = []
  #isClosed = false
  #wakeReader: (() => void) | undefined
  #wakeWriters: (() => void)[] = []

  constructor(capacity = 1000) {
    this.#capacity = capacity
  }

  /** Adds a value. Values after `close` are ignored. */
  push(value: T): void {
    if (this.#isClosed) return
    this.pushedCount++
    this.#values.push(value)
    this.#wakeReader?.()
  }

  /** Whether the number of values that the reader has not taken yet has reached the capacity. */
  get isFull(): boolean {
    return this.#values.length >= this.#capacity
  }

  /** Resolves when the queue has room or is closed. */
  async waitForRoom(): Promise<void> {
    while (this.isFull && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wakeWriters.push(resolve)
      })
    }
  }

  /** Ends the queue; unread values stay readable. */
  close(): void {
    this.#isClosed = true
    this.#wakeReader?.()
    this.#wakeAllWriters()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const values = this.#values
      this.#values = []
      this.#wakeAllWriters()
      for (const value of values) {
        this.readCount++
        yield value
      }
      if (this.#values.length > 0) continue
      if (this.#isClosed) return
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve
      })
      this.#wakeReader = undefined
    }
  }

  #wakeAllWriters(): void {
    const writers = this.#wakeWriters
    this.#wakeWriters = []
    for (const wake of writers) wake()
  }
}
