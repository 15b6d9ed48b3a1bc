import { type Signal, signal } from '@preact/signals'

/** What is shown, and what was asked of it. It is all in the address, so that it can be passed on. */
export interface Route {
  readonly page: 'home' | 'sources' | 'source' | 'search' | 'duplicates' | 'places' | 'unknown'
  /** Of a page about one thing. */
  readonly id: string
  readonly query: URLSearchParams
}

/** Where we are. */
export const route: Signal<Route> = signal(parseRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** Reads the part of an address behind `#`. */
export function parseRoute(hash: string): Route {
  const { path = '', query = '' } = /^#?\/?(?<path>[^?]*)(?:\?(?<query>.*))?$/s.exec(hash)?.groups ?? {}
  const [page = '', id = '', ...rest] = path.split('/')
  return { page: rest.length > 0 ? 'unknown' : pageOf(page, id), id: decode(id), query: new URLSearchParams(query) }
}

function pageOf(page: string, id: string): Route['page'] {
  if (page === 'sources') return id === '' ? 'sources' : 'source'
  if (id !== '') return 'unknown'
  if (page === '') return 'home'
  return page === 'search' || page === 'duplicates' || page === 'places' ? page : 'unknown'
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not written by us; taken as it is, nothing will have this name.
    return text
  }
}

/** Changes what is asked of the page we are on, without a new entry in the history. What is empty is left out. */
export function replaceQuery(changes: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(route.value.query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name)
    else query.set(name, value)
  }
  const [path] = location.hash.split('?', 1)
  const text = query.toString()
  history.replaceState(null, '', `${path || '#/'}${text === '' ? '' : `?${text}`}`)
  route.value = parseRoute(location.hash)
}
