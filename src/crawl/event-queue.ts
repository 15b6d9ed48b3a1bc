/** Hands values from where they arise to one reader that asks for them. Whoever adds waits while too many are unread. */
export class EventQueue<T> {
  readonly #capacity: number
  /** How many were added, and how many of them were read. */
  pushed = 0
  read = 0
  #values: T[] = []
  #isClosed = false
  #wakeReader: (() => void) | undefined
  #wakeWriters: (() => void)[] = []

  constructor(capacity = 1000) {
    this.#capacity = capacity
  }

  /** Adds a value. What comes too late is not told any more. */
  push(value: T): void {
    if (this.#isClosed) return
    this.pushed++
    this.#values.push(value)
    this.#wakeReader?.()
  }

  /** Whether too many are unread. */
  get isFull(): boolean {
    return this.#values.length >= this.#capacity
  }

  /** Resolves when there is room. */
  async hasRoom(): Promise<void> {
    while (this.isFull && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wakeWriters.push(resolve)
      })
    }
  }

  /** Says that nothing will be added any more; what is unread stays readable. */
  close(): void {
    this.#isClosed = true
    this.#wakeReader?.()
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const values = this.#values
      this.#values = []
      this.#wake()
      for (const value of values) {
        this.read++
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

  #wake(): void {
    const writers = this.#wakeWriters
    this.#wakeWriters = []
    for (const wake of writers) wake()
  }
}
