/** Delay before the remaining files are cached, so that the page can start its own work first. */
const PAUSE_MS = 3000

/** Timeout for the service worker. It may start later, but the page does not wait longer. */
const PATIENCE_MS = 10_000

let isAnswered: Promise<boolean> | undefined

/**
 * Caches the files of the page in a service worker, so that it works offline from the first load on. Browsers without service workers, or
 * on insecure addresses, need a connection for files they have not loaded yet.
 *
 * Resolves to whether the requests of the page go through the service worker.
 */
export function keepOffline(): Promise<boolean> {
  isAnswered ??= keepFiles().catch(() => false)
  return isAnswered
}

async function keepFiles(): Promise<boolean> {
  const { serviceWorker: container } = navigator as { readonly serviceWorker?: ServiceWorkerContainer }
  if (!isSecureContext || container === undefined) return false
  const known = await container.getRegistration('./')
  if (container.controller !== null && known?.waiting) {
    // A newer version is ready, and the user has not started any work in this one.
    container.addEventListener('controllerchange', () => location.reload(), { once: true })
    known.waiting.postMessage('take-over')
  }
  await container.register('./service-worker.js')
  // Some browsers silently ignore the registration, so there may be none.
  const registration = await container.getRegistration('./')
  if (registration === undefined) return false
  takeInRest(container).catch(() => undefined)
  return untilAnswered(container, registration)
}

/** Waits until the service worker controls this page; resolves to false if it fails. */
function untilAnswered(
  container: ServiceWorkerContainer,
  { installing, active }: ServiceWorkerRegistration,
): Promise<boolean> {
  return new Promise((resolve) => {
    if (container.controller !== null) return resolve(true)
    container.addEventListener('controllerchange', () => resolve(true), { once: true })
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'redundant') resolve(false)
    })
    setTimeout(() => resolve(false), PATIENCE_MS)
    // After a forced reload the service worker does not control the page until it is asked to.
    active?.postMessage('answer-all')
  })
}

/**
 * Caches 13 MB of grammars and 10 MB of model, so that folders in any language can be read and searched by meaning offline. With the data
 * saver on, files are cached only when they are used.
 */
async function takeInRest(container: ServiceWorkerContainer): Promise<void> {
  const { active } = await container.ready
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  await untilIdle()
  if (!savesData()) active?.postMessage('take-in-rest')
}

function untilIdle(): Promise<void> {
  if (typeof requestIdleCallback !== 'function') return Promise.resolve()
  return new Promise((resolve) => requestIdleCallback(() => resolve()))
}

function savesData(): boolean {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } }
  return connection?.saveData === true
}
