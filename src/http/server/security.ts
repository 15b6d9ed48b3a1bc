import { PharosError } from '../../core/errors.ts'
import { LOCAL_PATH, writeLocalHeaders } from '../local-page.ts'
import type { HttpSettings } from '../ports.ts'
import type { Sessions } from './session.ts'

/** Maximum length of a request URL, in characters. */
const MAX_URL_CHARS = 8192

/** Loopback names of this machine. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Values of Sec-Fetch-Site for requests from our own pages or typed by the user. */
const OWN_SITE_VALUES = ['same-origin', 'none']

/** Paths that need no token: the login page and its assets. */
const PUBLIC_PATHS = ['/login', '/pages/style.css', '/pages/icon.svg', '/pages/live.js', '/favicon.ico']

/** Long-lived streams. Cross-site requests to them are refused, because a page of another site could keep many open. */
const STREAM_PATHS = ['/events', '/mcp']

/** Everything loads from this origin, and only scripts from the build may run. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

/** Headers of every response. */
const RESPONSE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Sends no referrer to other sites. With `no-referrer`, forms of our own pages would have the origin `null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

/** Checks which requests are allowed. */
export interface Guard {
  /** Refuses a request with a foreign Host, from a page of another site, or without the token. */
  check(request: Request, path: string): void
  /** The response to a CORS preflight request; undefined for other requests. */
  preflight(request: Request): Response | undefined
  /** Adds the headers of every response. */
  addHeaders(response: Response, request: Request, path: string): void
}

/** Creates a guard. */
export function createGuard(settings: Pick<HttpSettings, 'hosts' | 'allowedOrigins'>, sessions: Sessions): Guard {
  const hosts = new Set([...LOOPBACK, ...settings.hosts.map((host) => host.toLowerCase())])
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()))
  const isAllowed = (origin: string | null): origin is string => origin !== null && origins.has(origin.toLowerCase())
  return {
    check(request, path) {
      if (request.url.length > MAX_URL_CHARS) {
        throw new PharosError('ADDRESS_TOO_LONG', { length: request.url.length, most: MAX_URL_CHARS })
      }
      const host = hostOf(request)
      if (!hosts.has(withoutPort(host))) throw new PharosError('HOST_REFUSED', { host: host.slice(0, MAX_SHOWN_CHARS) })
      const origin = request.headers.get('origin')
      if (!isAllowed(origin)) checkSite(request, path, origin, host)
      if (!isPublic(request, path) && !sessions.isAuthenticated(request)) throw new PharosError('TOKEN_REQUIRED')
    },
    preflight(request) {
      const { headers, method } = request
      const origin = headers.get('origin')
      if (method !== 'OPTIONS' || !headers.has('access-control-request-method') || !isAllowed(origin)) return undefined
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-methods': 'GET, POST, DELETE',
          'access-control-allow-headers':
            'authorization, content-type, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name',
          'access-control-max-age': '600',
        },
      })
    },
    addHeaders({ headers, status }, request, path) {
      // An error response on a local path is an ordinary page, so it gets the ordinary headers.
      const isLocal = path.startsWith(LOCAL_PATH) && status < 400
      const added = isLocal ? { ...RESPONSE_HEADERS, ...writeLocalHeaders(hostOf(request)) } : RESPONSE_HEADERS
      for (const [name, value] of Object.entries(added)) headers.set(name, value)
      if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
      if (origins.size === 0) return
      headers.append('vary', 'origin')
      const origin = request.headers.get('origin')
      if (!isAllowed(origin)) return
      headers.set('access-control-allow-origin', origin)
      headers.set('access-control-expose-headers', 'mcp-session-id')
    },
  }
}

/** Maximum length of untrusted text in an error message. */
const MAX_SHOWN_CHARS = 200

/**
 * Refuses requests from pages of other sites, except reads without an Origin header, such as followed links, which change nothing. Streams
 * are refused to other sites even without that header.
 */
function checkSite(request: Request, path: string, origin: string | null, host: string): void {
  const site = request.headers.get('sec-fetch-site')
  const isOwnSite = site === null || OWN_SITE_VALUES.includes(site)
  // Only the browser sets Sec-Fetch-Site; scripts cannot forge it.
  const isSameOrigin = origin === null || originHost(origin) === host || (origin === 'null' && site === 'same-origin')
  if (!isSameOrigin || (!isOwnSite && (isWriteRequest(request) || STREAM_PATHS.includes(path)))) {
    throw new PharosError('ORIGIN_REFUSED', { origin: (origin ?? 'another site').slice(0, MAX_SHOWN_CHARS) })
  }
}

function isWriteRequest({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

function isPublic({ method }: Request, path: string): boolean {
  if (path === '/health' || path === '/ready') return method === 'GET' || method === 'HEAD'
  return PUBLIC_PATHS.includes(path)
}

/** The requested host with its port. */
function hostOf(request: Request): string {
  return (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
}

/** `localhost:41000` → `localhost`, `[::1]:41000` → `[::1]` */
function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '')
}

/** The host of an origin, in the form of the Host header. */
function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined
}
