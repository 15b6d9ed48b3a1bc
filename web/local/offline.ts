/** Delay before the remaining files are cached, so that the page can start its own work first. */
const CACHE_DELAY_MS = 3000

/** How long the page waits for the service worker, which may also start later. */
const CONTROL_TIMEOUT_MS = 10_000

let isControlled: Promise<boolean> | undefined

/**
 * Caches the files of the page in a service worker, so that the page works offline from the first load on. Browsers without service
 * workers, or on insecure addresses, need a connection for files they have not loaded yet.
 *
 * Resolves to whether the requests of the page go through the service worker.
 */
export function enableOffline(): Promise<boolean> {
  isControlled ??= registerServiceWorker().catch(() => false)
  return isControlled
}

async function registerServiceWorker(): Promise<boolean> {
  const { serviceWorker: container } = navigator as { readonly serviceWorker?: ServiceWorkerContainer }
  if (!isSecureContext || container === undefined) return false
  const existing = await container.getRegistration('./')
  if (container.controller !== null && existing?.waiting) {
    // A newer version is ready, and the user has not started any work in this one.
    container.addEventListener('controllerchange', () => location.reload(), { once: true })
    existing.waiting.postMessage('take-over')
  }
  await container.register('./service-worker.js')
  // Some browsers silently ignore the registration, so there may be none.
  const registration = await container.getRegistration('./')
  if (registration === undefined) return false
  cacheRemainingFiles(container).catch(() => undefined)
  return waitForControl(container, registration)
}

/** Waits until the service worker controls this page; resolves to false if it fails. */
function waitForControl(
  container: ServiceWorkerContainer,
  { installing, active }: ServiceWorkerRegistration,
): Promise<boolean> {
  return new Promise((resolve) => {
    if (container.controller !== null) return resolve(true)
    container.addEventListener('controllerchange', () => resolve(true), { once: true })
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'redundant') resolve(false)
    })
    setTimeout(() => resolve(false), CONTROL_TIMEOUT_MS)
    // After a forced reload the service worker does not control the page until it is asked to.
    active?.postMessage('answer-all')
  })
}

/**
 * Caches 13 MB of grammars and 10 MB of model, so that folders in any language can be read and searched by meaning offline. With the data
 * saver on, files are cached only when they are used.
 */
async function cacheRemainingFiles(container: ServiceWorkerContainer): Promise<void> {
  const { active } = await container.ready
  await new Promise((resolve) => setTimeout(resolve, CACHE_DELAY_MS))
  await untilIdle()
  if (!isDataSaverOn()) active?.postMessage('take-in-rest')
}

function untilIdle(): Promise<void> {
  if (typeof requestIdleCallback !== 'function') return Promise.resolve()
  return new Promise((resolve) => requestIdleCallback(() => resolve()))
}

function isDataSaverOn(): boolean {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } }
  return connection?.saveData === true
}
