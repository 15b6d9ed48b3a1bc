import { writeContentSecurityPolicy, writePolicySource } from '../../src/core/content-security-policy.ts'

/** The files of one build, with a digest that identifies them. */
interface FileSet {
  readonly digest: string
  /** Path relative to the page → integrity hash. */
  readonly files: Readonly<Record<string, string>>
}

/** Defined by the build. The grammars and the model are twenty times as large as everything else, and change far less often. */
declare const OWN_FILES: { readonly page: FileSet; readonly grammars: FileSet; readonly model: FileSet }

/** The part of `ExtendableEvent` that is used here. */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}

interface WorkerFetchEvent extends WorkerEvent {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}

/** The global scope of a service worker. The worker types of TypeScript conflict with those of pages, so this declares the part in use. */
interface Scope {
  readonly location: Location
  readonly clients: {
    claim(): Promise<void>
    matchAll(options: { readonly type: 'window'; readonly includeUncontrolled: true }): Promise<{ url: string }[]>
  }
  skipWaiting(): Promise<void>
  addEventListener(name: 'install' | 'activate', listen: (event: WorkerEvent) => void): void
  addEventListener(name: 'message', listen: (event: WorkerEvent & MessageEvent<unknown>) => void): void
  addEventListener(name: 'fetch', listen: (event: WorkerFetchEvent) => void): void
}

const scope = globalThis as unknown as Scope
const folder = new URL('./', scope.location.href).href
const policy = writeContentSecurityPolicy(writePolicySource(folder))

/** Prefix of cache names; it has the folder, because one origin can host this page in several folders. */
const PREFIX = `pharos-local ${folder} `
const ownFiles = OWN_FILES
const page = createFileCache('page', ownFiles.page)
const grammars = createFileCache('grammars', ownFiles.grammars)
const model = createFileCache('model', ownFiles.model)
const fileCaches = [page, grammars, model]

// A worker of a new build waits until all pages of the previous build are closed. Only then does it remove the caches of that build.
scope.addEventListener('install', (event) => event.waitUntil(cacheAll(page)))
scope.addEventListener('activate', (event) => event.waitUntil(activateWorker()))
// After a forced reload, a page of another build may send these messages, so their names must not change.
scope.addEventListener('message', (event) => {
  if (event.data === 'take-in-rest') event.waitUntil(cacheAll(grammars).then(() => cacheAll(model)))
  if (event.data === 'take-over') event.waitUntil(activateIfAlone())
  if (event.data === 'answer-all') event.waitUntil(scope.clients.claim())
})
scope.addEventListener('fetch', (event) => {
  const path = pathOf(event.request)
  const cache = fileCaches.find(({ files }) => Object.hasOwn(files, path))
  // Requests for any other file are left to the browser.
  if (cache !== undefined) event.respondWith(respond(event.request, path, cache))
})

/** The cache of one set of files. */
interface FileCache {
  readonly name: string
  readonly files: FileSet['files']
}

function createFileCache(kind: string, { digest, files }: FileSet): FileCache {
  return { name: `${PREFIX}${kind} ${digest}`, files }
}

/** Removes the caches of earlier builds, and takes control of the pages that are already open. */
async function activateWorker(): Promise<void> {
  const names = await caches.keys()
  const isOld = (name: string) => name.startsWith(PREFIX) && fileCaches.every((cache) => name !== cache.name)
  await Promise.all(names.filter(isOld).map((name) => caches.delete(name)))
  await scope.clients.claim()
}

/** Activates at once if the page that sent the message, which was just opened, is the only one. */
async function activateIfAlone(): Promise<void> {
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (windows.filter(({ url }) => url.startsWith(folder)).length <= 1) await scope.skipWaiting()
}

/** Caches the missing files one after another, so that they do not compete with requests of the page. */
async function cacheAll(cache: FileCache): Promise<void> {
  for (const path of Object.keys(cache.files)) {
    if ((await findCached(path, cache)) === undefined) await fetchAndCache(path, cache)
  }
}

async function respond(request: Request, path: string, cache: FileCache): Promise<Response> {
  const found = (await findCached(path, cache)) ?? (await fetchAndCache(path, cache).catch(() => undefined))
  if (found !== undefined) return found
  // A grammar or model of another build does not fit this page.
  if (cache !== page) return Response.error()
  // Falls back to the network. If the server already has another build, its page then loads the files of that build. Error responses are
  // passed on unchanged.
  const other = await fetch(request)
  return other.ok ? withPolicy(other) : other
}

async function findCached(path: string, { name }: FileCache): Promise<Response | undefined> {
  try {
    return await (await caches.open(name)).match(folder + path)
  } catch {
    // The browser does not allow caches here.
    return undefined
  }
}

/** Fetches a file, verifies that it belongs to this build, and caches it if there is space. */
async function fetchAndCache(path: string, { name, files }: FileCache): Promise<Response> {
  const address = folder + path
  const integrity = files[path] ?? ''
  // The HTTP cache may hold the file of another build, so a failed check is retried without it.
  const found = await fetch(address, { integrity }).catch(() => fetch(address, { integrity, cache: 'reload' }))
  if (!found.ok) throw new Error(`${path}: ${found.status}`)
  const response = await withPolicy(found)
  const copy = response.clone()
  const store = async () => (await caches.open(name)).put(address, copy)
  await store().catch(() => undefined)
  return response
}

/** Headers that affect how the browser treats a file. All others concern the transfer and are dropped. */
const KEPT_HEADERS = [
  'content-type',
  'content-security-policy',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'permissions-policy',
  'referrer-policy',
  'x-content-type-options',
]

/**
 * Adds the content security policy to a response. Static hosts send none, and a web worker started by the page gets its policy only from
 * this header.
 */
async function withPolicy(found: Response): Promise<Response> {
  const headers = new Headers([...found.headers].filter(([name]) => KEPT_HEADERS.includes(name)))
  headers.append('content-security-policy', policy)
  return new Response(await found.blob(), { headers })
}

/** The path of a request relative to the page; empty for other folders and for methods other than GET. */
function pathOf({ method, url }: Request): string {
  const [address = ''] = url.split(/[?#]/, 1)
  if (method !== 'GET' || !address.startsWith(folder)) return ''
  return address.slice(folder.length) || 'index.html'
}
