import { writePagePolicy, writePolicyPlace } from '../../src/core/page-policy.ts'

/** Files of one build, and what tells them from those of another. */
interface FileSet {
  readonly digest: string
  /** Path in the page's folder → what its bytes have to be. */
  readonly files: Readonly<Record<string, string>>
}

/** Written by the build. The grammars and the model are twenty times as large as all the rest, and change far less often. */
declare const OWN_FILES: { readonly page: FileSet; readonly grammars: FileSet; readonly model: FileSet }

/** What lasts until it is done, as the browser sees it. */
interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void
}

interface Asked extends Lasting {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}

/** The worker as it sees itself, without the library of types for workers, which contradicts the one for pages. */
interface Scope {
  readonly location: Location
  readonly clients: {
    claim(): Promise<void>
    matchAll(options: { readonly type: 'window'; readonly includeUncontrolled: true }): Promise<{ url: string }[]>
  }
  skipWaiting(): Promise<void>
  addEventListener(name: 'install' | 'activate', listen: (event: Lasting) => void): void
  addEventListener(name: 'message', listen: (event: Lasting & MessageEvent<unknown>) => void): void
  addEventListener(name: 'fetch', listen: (event: Asked) => void): void
}

const scope = globalThis as unknown as Scope
const folder = new URL('./', scope.location.href).href
const policy = writePagePolicy(writePolicyPlace(folder))

/** An origin may have this page in several folders. */
const PREFIX = `pharos-local ${folder} `
const own = OWN_FILES
const page = createShelf('page', own.page)
const grammars = createShelf('grammars', own.grammars)
const model = createShelf('model', own.model)
const shelves = [page, grammars, model]

// A worker of another build waits until the pages of the one before it are gone, and what those may still ask for is kept as long.
scope.addEventListener('install', (event) => event.waitUntil(takeInAll(page)))
scope.addEventListener('activate', (event) => event.waitUntil(begin()))
scope.addEventListener('message', (event) => {
  if (event.data === 'take-in-rest') event.waitUntil(takeInAll(grammars).then(() => takeInAll(model)))
  if (event.data === 'take-over') event.waitUntil(takeOver())
  if (event.data === 'answer-all') event.waitUntil(scope.clients.claim())
})
scope.addEventListener('fetch', (event) => {
  const path = pathOf(event.request)
  const shelf = shelves.find(({ files }) => Object.hasOwn(files, path))
  // Whatever else lies in or beside the folder is none of our business.
  if (shelf !== undefined) event.respondWith(answer(event.request, path, shelf))
})

/** What is kept of one set of files, and under which name. */
interface Shelf {
  readonly name: string
  readonly files: FileSet['files']
}

function createShelf(what: string, { digest, files }: FileSet): Shelf {
  return { name: `${PREFIX}${what} ${digest}`, files }
}

/** Removes what was kept for earlier builds; the page that is open already is answered from now on too. */
async function begin(): Promise<void> {
  const names = await caches.keys()
  const isOld = (name: string) => name.startsWith(PREFIX) && shelves.every((shelf) => name !== shelf.name)
  await Promise.all(names.filter(isOld).map((name) => caches.delete(name)))
  await scope.clients.claim()
}

/** Does not wait any longer where the only page is the one that asks for it, which has just been opened. */
async function takeOver(): Promise<void> {
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (windows.filter(({ url }) => url.startsWith(folder)).length <= 1) await scope.skipWaiting()
}

/** Takes in what is not there yet, one after the other, so that whatever the page itself needs is not kept waiting. */
async function takeInAll(shelf: Shelf): Promise<void> {
  for (const path of Object.keys(shelf.files)) {
    if ((await findKept(path, shelf)) === undefined) await takeIn(path, shelf)
  }
}

async function answer(request: Request, path: string, shelf: Shelf): Promise<Response> {
  const found = (await findKept(path, shelf)) ?? (await takeIn(path, shelf).catch(() => undefined))
  if (found !== undefined) return found
  // A grammar or model of another build is none of this page's.
  if (shelf !== page) return Response.error()
  // A page of another build brings all that it needs; an error is told by whoever made it.
  const other = await fetch(request)
  return other.ok ? holdBack(other) : other
}

async function findKept(path: string, { name }: Shelf): Promise<Response | undefined> {
  try {
    return await (await caches.open(name)).match(folder + path)
  } catch {
    // Nothing can be kept here.
    return undefined
  }
}

/** Fetches a file of this very build, and keeps it where there is room. */
async function takeIn(path: string, { name, files }: Shelf): Promise<Response> {
  const address = folder + path
  const integrity = files[path] ?? ''
  // What the browser has of it may be of another build.
  const found = await fetch(address, { integrity }).catch(() => fetch(address, { integrity, cache: 'reload' }))
  if (!found.ok) throw new Error(`${path}: ${found.status}`)
  const response = await holdBack(found)
  const copy = response.clone()
  const keep = async () => (await caches.open(name)).put(address, copy)
  await keep().catch(() => undefined)
  return response
}

/** Fields that say how a browser is to treat a file. The others are about handing it out, which is over. */
const LASTING_FIELDS = [
  'content-type',
  'content-security-policy',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'permissions-policy',
  'referrer-policy',
  'x-content-type-options',
]

/** Puts a file under the policy: a host that serves plain files sends none, and without it a worker would have none. */
async function holdBack(found: Response): Promise<Response> {
  const headers = new Headers([...found.headers].filter(([name]) => LASTING_FIELDS.includes(name)))
  headers.append('content-security-policy', policy)
  return new Response(await found.blob(), { headers })
}

/** Path of what is asked for in the page's folder; empty for what lies elsewhere or is not only to be read. */
function pathOf({ method, url }: Request): string {
  const [address = ''] = url.split(/[?#]/, 1)
  if (method !== 'GET' || !address.startsWith(folder)) return ''
  return address.slice(folder.length) || 'index.html'
}
