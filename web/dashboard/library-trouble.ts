import { type Signal, signal } from '@preact/signals'

/** Why the library is unavailable, and when this page noticed. */
export interface LibraryTrouble {
  readonly since: number
  readonly message: string
}

/** Poll interval until the library is available again. */
const ASK_MS = 2000

/** Null while the library is available as far as this page knows. */
export const libraryTrouble: Signal<LibraryTrouble | null> = signal(null)

/** Records that a request failed because the library is unavailable, and polls until it is back. */
export function noteTrouble(message: string): void {
  const known = libraryTrouble.peek()
  if (known?.message !== message) libraryTrouble.value = { since: known?.since ?? Date.now(), message }
  if (known === null) void untilReady()
}

async function untilReady(): Promise<void> {
  let answer: Response | null
  do {
    await new Promise((resolve) => setTimeout(resolve, ASK_MS))
    // An unreachable server is reported by the event stream, so errors are ignored here.
    answer = await fetch('/ready').catch(() => null)
  } while (answer?.ok !== true)
  libraryTrouble.value = null
}
