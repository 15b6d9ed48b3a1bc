import { type Signal, signal } from '@preact/signals'

/** Why the library is unavailable, and when this page noticed. */
export interface LibraryOutage {
  readonly since: number
  readonly message: string
}

/** Poll interval until the library is available again. */
const POLL_INTERVAL_MS = 2000

/** Null while the library is available as far as this page knows. */
export const libraryOutage: Signal<LibraryOutage | null> = signal(null)

/** Records that a request failed because the library is unavailable, and polls until it is back. */
export function reportOutage(message: string): void {
  const current = libraryOutage.peek()
  if (current?.message !== message) libraryOutage.value = { since: current?.since ?? Date.now(), message }
  if (current === null) void pollUntilReady()
}

async function pollUntilReady(): Promise<void> {
  let response: Response | null
  do {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
    // An unreachable server is reported by the event stream, so errors are ignored here.
    response = await fetch('/ready').catch(() => null)
  } while (response?.ok !== true)
  libraryOutage.value = null
}
