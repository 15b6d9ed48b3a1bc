/** Time for the page to begin with what it was opened for. */
const PAUSE_MS = 3000

/** A service worker that is not there after so long may come later; the page does not wait for it. */
const PATIENCE_MS = 10_000

let isAnswered: Promise<boolean> | undefined

/**
 * Has the browser keep the page's own files, so that it works without a connection from the first load on. Browsers that have no such
 * thing, or not at this address, need a connection for what they have not loaded yet.
 *
 * Gives whether what the page asks for comes through its service worker, as soon as that is known.
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
    // A newer version is ready, and the user has not started any work with this one.
    container.addEventListener('controllerchange', () => location.reload(), { once: true })
    known.waiting.postMessage('take-over')
  }
  await container.register('./service-worker.js')
  // Where they are refused without a word there is none now.
  const registration = await container.getRegistration('./')
  if (registration === undefined) return false
  takeInRest(container).catch(() => undefined)
  return untilAnswered(container, registration)
}

/** Waits for the service worker to answer for this page; not for one that fails. */
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
    // After a forced reload the service worker ignores the page until it is asked to answer.
    active?.postMessage('answer-all')
  })
}

/**
 * 13 MB of grammars and 10 MB of model, so that folders in any language can be read, and searched by meaning, without a connection. Who
 * saves data gets what is used.
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
