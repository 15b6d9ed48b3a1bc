import { type Signal, signal } from '@preact/signals'
import { decodePart } from '../../src/core/url/decode-part.ts'
import { savePosition } from './scroll-restoration.ts'

/** The views of an index, in the order of the navigation. */
export const VIEWS = ['search', 'files', 'outline', 'symbols', 'warnings', 'export'] as const

/** One of {@link VIEWS}, or a single chunk. */
export type View = (typeof VIEWS)[number] | 'chunk'

/** The current page and its parameters. All of it is in the address, so that reloading and going back restore it. */
export type Route =
  | { readonly page: 'start' | 'preview' | 'unknown' }
  | {
      readonly page: 'index'
      readonly id: string
      readonly view: View
      /** The ref of the chunk in the chunk view. */
      readonly ref: string
      readonly query: URLSearchParams
    }

/** The current route. */
export const route: Signal<Route> = signal(parseRoute(location.hash))

let address = location.hash

addEventListener('hashchange', readAddress)

/** Parses the fragment of an address. */
export function parseRoute(hash: string): Route {
  const { path = '', query = '' } = /^#?\/?(?<path>[^?]*)(?:\?(?<query>.*))?$/s.exec(hash)?.groups ?? {}
  const [page = '', id = '', part = '', ref = '', ...rest] = path.split('/').map(decodePart)
  if (page === '') return { page: 'start' }
  if (page === 'preview' && id === '') return { page: 'preview' }
  const view = part === '' ? 'search' : part === 'chunk' && ref !== '' ? 'chunk' : VIEWS.find((name) => name === part)
  if (page !== 'index' || id === '' || view === undefined || rest.length > 0) return { page: 'unknown' }
  return { page: 'index', id, view, ref, query: new URLSearchParams(query) }
}

/** The address of a view of an index. Empty parameters are left out. */
export function indexHref(id: string, view: View = 'search', parameters: QueryParameters = {}): string {
  const { ref, ...rest } = parameters
  const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== '')).toString()
  const part = view === 'search' ? '' : `/${view}${view === 'chunk' ? `/${encodeURIComponent(ref ?? '')}` : ''}`
  return `#/index/${encodeURIComponent(id)}${part}${query === '' ? '' : `?${query}`}`
}

/** Query parameters by name; `ref` is the chunk. */
export type QueryParameters = Readonly<Record<string, string>>

/** Navigates to an address. With `replace` the current history entry is replaced. */
export function go(href: string, replace = false): void {
  if (replace) history.replaceState(history.state, '', href)
  else location.hash = href
  readAddress()
}

/** Changes query parameters of the current view without a new history entry. */
export function replaceQuery(changes: QueryParameters): void {
  const { value } = route
  if (value.page !== 'index') return
  go(indexHref(value.id, value.view, { ...Object.fromEntries(value.query), ref: value.ref, ...changes }), true)
}

function readAddress(): void {
  // `go` calls this directly, and the browser then fires `hashchange` for the same address.
  if (location.hash === address) return
  savePosition(address)
  address = location.hash
  route.value = parseRoute(address)
}
