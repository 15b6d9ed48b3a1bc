import { type Signal, signal } from '@preact/signals'
import { decodePart } from '../../src/core/url/decode-part.ts'

/** The current page and its parameters. All of it is in the address, so that the address can be shared. */
export interface Route {
  readonly page: 'home' | 'sources' | 'source' | 'search' | 'duplicates' | 'changes' | 'unknown'
  /** The id of the source on a page about one source. */
  readonly id: string
  readonly query: URLSearchParams
}

/** The current route. */
export const route: Signal<Route> = signal(parseRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** Parses the fragment of an address. */
export function parseRoute(hash: string): Route {
  const { path = '', query = '' } = /^#?\/?(?<path>[^?]*)(?:\?(?<query>.*))?$/s.exec(hash)?.groups ?? {}
  const [page = '', id = '', ...rest] = path.split('/')
  return { page: rest.length > 0 ? 'unknown' : pageOf(page, id), id: decodePart(id), query: new URLSearchParams(query) }
}

function pageOf(page: string, id: string): Route['page'] {
  if (page === 'sources') return id === '' ? 'sources' : 'source'
  if (id !== '') return 'unknown'
  if (page === '') return 'home'
  return page === 'search' || page === 'duplicates' || page === 'changes' ? page : 'unknown'
}

/** Changes query parameters of the current page without a new history entry. Empty values are left out. */
export function replaceQuery(changes: Readonly<Record<string, string | readonly string[]>>): void {
  const query = new URLSearchParams(route.value.query)
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name)
    for (const one of [value].flat()) if (one !== '') query.append(name, one)
  }
  const [path] = location.hash.split('?', 1)
  const text = query.toString()
  history.replaceState(null, '', `${path || '#/'}${text === '' ? '' : `?${text}`}`)
  route.value = parseRoute(location.hash)
}
