/** Time for the page to begin with what it was opened for. */
const PAUSE_MS = 3000

/**
 * Has the browser keep the page's own files, so that it works without a connection from the first load on. Browsers that have no such
 * thing, or not at this address, need a connection for what they have not loaded yet; the rest is the same.
 */
export function keepOffline(): void {
  const { serviceWorker } = navigator as { readonly serviceWorker?: ServiceWorkerContainer }
  if (isSecureContext && serviceWorker !== undefined) keepFiles(serviceWorker).catch(() => undefined)
}

async function keepFiles(container: ServiceWorkerContainer): Promise<void> {
  const known = await container.getRegistration('./')
  if (container.controller !== null && known?.waiting) {
    // A later version is there, and nothing was begun with this one yet.
    container.addEventListener('controllerchange', () => location.reload(), { once: true })
    known.waiting.postMessage('take-over')
  }
  await container.register('./service-worker.js')
  const { active } = await container.ready
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  await untilIdle()
  // 13 MB, so that folders in any language can be read then. Who saves data gets what is used.
  if (!savesData()) active?.postMessage('take-in-grammars')
}

function untilIdle(): Promise<void> {
  if (typeof requestIdleCallback !== 'function') return Promise.resolve()
  return new Promise((resolve) => requestIdleCallback(() => resolve()))
}

function savesData(): boolean {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } }
  return connection?.saveData === true
}
