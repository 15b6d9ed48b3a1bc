import { type Signal, signal } from '@preact/signals'

/** Why the library cannot be used, and since when that is known here. */
export interface LibraryTrouble {
  readonly since: number
  readonly message: string
}

/** So often it is asked whether it can be used again. */
const ASK_MS = 2000

/** Null while the library can be used, as far as is known. */
export const libraryTrouble: Signal<LibraryTrouble | null> = signal(null)

/** Takes in that an answer needed the library, and had none. */
export function noteTrouble(message: string): void {
  const known = libraryTrouble.peek()
  if (known?.message !== message) libraryTrouble.value = { since: known?.since ?? Date.now(), message }
  if (known === null) void untilReady()
}

async function untilReady(): Promise<void> {
  let answer: Response | null
  do {
    await new Promise((resolve) => setTimeout(resolve, ASK_MS))
    // A server that is away too is told by those who listen to it.
    answer = await fetch('/ready').catch(() => null)
  } while (answer?.ok !== true)
  libraryTrouble.value = null
}
