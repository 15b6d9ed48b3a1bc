/** A resource that is opened on first use. */
interface LazyResource<T> {
  open(): Promise<T>
  close(): Promise<void>
}

/** Creates a resource from the function that opens it. */
export function createLazy<T extends { close(): Promise<void> }>(open: () => Promise<T>): LazyResource<T> {
  let opening: Promise<T> | undefined
  return {
    open() {
      opening ??= open()
      return opening
    },
    async close() {
      // A failed opening needs no closing.
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}
