const closers: (() => unknown)[] = []

/** Has something closed when the test is over, the latest first. */
export function closeLater(close: () => unknown): void {
  closers.push(close)
}

/** Closes what the test that is over has opened. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close()
}
