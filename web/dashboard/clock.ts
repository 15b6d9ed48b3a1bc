import { type Signal, signal } from '@preact/signals'

/** The current time, updated once a second. Countdowns and ages depend on it. */
export const now: Signal<number> = signal(Date.now())

setInterval(() => {
  // A hidden page does not need to be redrawn.
  if (!document.hidden) now.value = Date.now()
}, 1000)

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.value = Date.now()
})
