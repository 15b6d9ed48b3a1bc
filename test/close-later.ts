const closers: (() => unknown)[] = []

/** Closes a resource after the test, in reverse order of opening. */
export function closeLater(close: () => unknown): void {
  closers.push(close)
}

/** Closes everything that the finished test has opened. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close()
}
