const KEY = 'pharos-local-asked'

/** Asks the browser once not to clear away what is kept when it needs room. Whatever it answers, nothing else changes. */
export async function askToStay(): Promise<void> {
  try {
    if (localStorage.getItem(KEY) !== null) return
    localStorage.setItem(KEY, 'yes')
    await navigator.storage?.persist?.()
  } catch {
    // Neither the question nor the note that it was asked is possible everywhere.
  }
}
