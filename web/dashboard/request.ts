import { noteTrouble } from './library-trouble.ts'

/** What the server refused, or could not do. */
export interface Refusal {
  readonly status: number
  /** In words, for people. */
  readonly message: string
  readonly code: string
  /** By which the log of the server knows it. */
  readonly id: string | null
  /** What is wrong of what was sent, by its name; null where that is not known. */
  readonly field: string | null
}

/** An answer, or why there is none. */
export type Answer<T> = { readonly value: T } | { readonly refusal: Refusal }

/** Asks the server of this page. What is missing is a login: then the browser is sent there. */
export async function request<T>(path: string, init: RequestInit = {}): Promise<Answer<T>> {
  let response: Response
  try {
    response = await fetch(path, { ...init, headers: { accept: 'application/json', ...init.headers } })
  } catch {
    return {
      refusal: { status: 0, message: 'The server cannot be reached.', code: 'UNREACHABLE', id: null, field: null },
    }
  }
  if (response.status === 401) {
    location.assign(`/login?next=${encodeURIComponent(`/${location.hash}`)}`)
    // The page is about to be left; whoever waits for this has nothing more to do.
    return new Promise(() => {})
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return { value: body as T }
  const refusal = { status: response.status, ...readRefusal(body, response) }
  if (isLibraryTrouble(refusal.code)) noteTrouble(refusal.message)
  return { refusal }
}

/** Whether the server refused because its library cannot be used. */
export function isLibraryTrouble(code: string): boolean {
  return code === 'STORE_UNAVAILABLE' || code === 'LIBRARY_UNUSABLE'
}

/** Asks for a change. */
export function send<T>(path: string, body: unknown = {}, method: string = 'POST'): Promise<Answer<T>> {
  return request(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
}

/** Writes the part of an address behind `?`; what is empty is left out. */
export function writeQuery(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

function readRefusal(body: unknown, { status, statusText }: Response): Omit<Refusal, 'status'> {
  const { error, code, id, field, advice } = (body ?? {}) as {
    readonly error?: unknown
    readonly advice?: unknown
    readonly code?: unknown
    readonly id?: unknown
    readonly field?: unknown
  }
  // Other advice names routes, which nobody has here.
  const more = code === 'BROWSER_MISSING' && typeof advice === 'string' ? ` – ${advice}` : ''
  return {
    message: typeof error === 'string' ? `${error}${more}` : `The server answered ${status} ${statusText}`.trim(),
    code: typeof code === 'string' ? code : `HTTP_${status}`,
    id: typeof id === 'string' ? id : null,
    field: typeof field === 'string' ? field : null,
  }
}
