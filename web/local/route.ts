import { type Signal, signal } from '@preact/signals'
import { noteLeaving } from './visited.ts'

/** The parts of an index, in the order in which they are offered. */
export const VIEWS = ['search', 'files', 'outline', 'symbols', 'warnings', 'export'] as const

/** One of {@link VIEWS}, or a single chunk. */
export type View = (typeof VIEWS)[number] | 'chunk'

/** What is shown, and what was asked of it. It is all in the address, so that going back and loading anew lead to the same. */
export type Route =
  | { readonly page: 'start' | 'preview' | 'unknown' }
  | {
      readonly page: 'index'
      readonly id: string
      readonly view: View
      /** Of the chunk that is shown. */
      readonly ref: string
      readonly query: URLSearchParams
    }

/** Where we are. */
export const route: Signal<Route> = signal(parseRoute(location.hash))

let address = location.hash

addEventListener('hashchange', readAddress)

/** Reads the part of an address behind `#`. */
export function parseRoute(hash: string): Route {
  const { path = '', query = '' } = /^#?\/?(?<path>[^?]*)(?:\?(?<query>.*))?$/s.exec(hash)?.groups ?? {}
  const [page = '', id = '', part = '', ref = '', ...rest] = path.split('/').map(decode)
  if (page === '') return { page: 'start' }
  if (page === 'preview' && id === '') return { page: 'preview' }
  const view = part === '' ? 'search' : part === 'chunk' && ref !== '' ? 'chunk' : VIEWS.find((one) => one === part)
  if (page !== 'index' || id === '' || view === undefined || rest.length > 0) return { page: 'unknown' }
  return { page: 'index', id, view, ref, query: new URLSearchParams(query) }
}

/** The address of a part of an index. What is asked of it may be left out, and what is empty is. */
export function indexHref(id: string, view: View = 'search', asked: Asked = {}): string {
  const { ref, ...rest } = asked
  const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== '')).toString()
  const part = view === 'search' ? '' : `/${view}${view === 'chunk' ? `/${encodeURIComponent(ref ?? '')}` : ''}`
  return `#/index/${encodeURIComponent(id)}${part}${query === '' ? '' : `?${query}`}`
}

/** Values by their names; `ref` is the chunk. */
export type Asked = Readonly<Record<string, string>>

/** Goes somewhere. With `replace`, going back skips where we are. */
export function go(href: string, replace = false): void {
  if (replace) history.replaceState(history.state, '', href)
  else location.hash = href
  readAddress()
}

/** Changes what is asked of the part we are in, without a new entry in the history. */
export function replaceQuery(changes: Asked): void {
  const { value } = route
  if (value.page !== 'index') return
  go(indexHref(value.id, value.view, { ...Object.fromEntries(value.query), ref: value.ref, ...changes }), true)
}

function readAddress(): void {
  // Whoever goes somewhere reads it at once, and the browser tells of it once more.
  if (location.hash === address) return
  noteLeaving(address)
  address = location.hash
  route.value = parseRoute(address)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not written by us; taken as it is, nothing will have this name.
    return text
  }
}
