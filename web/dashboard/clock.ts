import { type Signal, signal } from '@preact/signals'

/** The time, told once a second: what counts down or shows an age goes by this. */
export const now: Signal<number> = signal(Date.now())

setInterval(() => {
  // What nobody sees need not be drawn again.
  if (!document.hidden) now.value = Date.now()
}, 1000)

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.value = Date.now()
})
