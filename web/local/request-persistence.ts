const KEY = 'pharos-local-asked'

/** Asks the browser once to make the storage persistent. The page works the same whether or not it agrees. */
export async function requestPersistence(): Promise<void> {
  try {
    if (localStorage.getItem(KEY) !== null) return
    localStorage.setItem(KEY, 'yes')
    await navigator.storage?.persist?.()
  } catch {
    // Some browsers have no persistent storage, or no local storage to remember the request.
  }
}
