import { reportOutage } from './library-outage.ts'

/** An error response, or a failed request. */
export interface Refusal {
  readonly status: number
  /** A readable message. */
  readonly message: string
  readonly code: string
  /** The id of the error in the log of the server. */
  readonly id: string | null
  /** The name of the invalid field in the request; null if it is not known. */
  readonly field: string | null
}

/** The value of a successful response, or the error. */
export type Answer<T> = { readonly value: T } | { readonly refusal: Refusal }

/** Sends a request to the server. Without a valid session it redirects the browser to the login page. */
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
    // The browser is leaving the page, so the promise never settles.
    return new Promise(() => {})
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return { value: body as T }
  const refusal = { status: response.status, ...readRefusal(body, response) }
  if (isLibraryOutage(refusal.code)) reportOutage(refusal.message)
  return { refusal }
}

/** Whether the error code means that the library is unavailable. */
export function isLibraryOutage(code: string): boolean {
  return code === 'STORE_UNAVAILABLE' || code === 'LIBRARY_UNUSABLE'
}

/** Sends a request that changes something. */
export function send<T>(path: string, body: unknown = {}, method: string = 'POST'): Promise<Answer<T>> {
  return request(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
}

/** Writes a query string with its leading `?`; empty values are left out. */
export function writeQuery(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`
}

function readRefusal(body: unknown, { status, statusText }: Response): Omit<Refusal, 'status'> {
  const { error, code, id, field, advice } = (body ?? {}) as {
    readonly error?: unknown
    readonly advice?: unknown
    readonly code?: unknown
    readonly id?: unknown
    readonly field?: unknown
  }
  // Advice for other codes names API routes, which mean nothing to a user of the dashboard.
  const hint = code === 'BROWSER_MISSING' && typeof advice === 'string' ? ` – ${advice}` : ''
  return {
    message: typeof error === 'string' ? `${error}${hint}` : `The server answered ${status} ${statusText}`.trim(),
    code: typeof code === 'string' ? code : `HTTP_${status}`,
    id: typeof id === 'string' ? id : null,
    field: typeof field === 'string' ? field : null,
  }
}
