import { PharosError } from '../core/errors.ts'
import { LOCAL_PATH, writeLocalFields } from './local-page.ts'
import type { HttpSettings } from './ports.ts'
import type { Sessions } from './session.ts'

/** Longest address that is read, in characters. */
const MAX_ADDRESS = 8192

/** Names of this machine for itself. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** Sites from which a browser may have been sent here: its own pages, or whoever sits before it. */
const OWN_SITES = ['same-origin', 'none']

/** What can be asked for without a token: whether it runs, how to get in, and what that page is made of. */
const OPEN_PATHS = ['/login', '/pages/style.css', '/pages/icon.svg', '/pages/live.js', '/favicon.ico']

/** What stays open. A page of another site could hold many of them without reading one; no link leads to them. */
const STREAMS = ['/events', '/mcp']

/** Everything that is shown comes from here, and nothing of it runs that was not built with the program. */
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

/** Fields of every answer. */
const FIELDS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Nothing is told to other sites. With `no-referrer` a form of our own pages would be sent with the origin `null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

/** Decides who may ask what. */
export interface Guard {
  /** Refuses a request that was meant for another host, or comes from a page of another site, or from somebody without the token. */
  check(request: Request, path: string): void
  /** The answer to a browser that asks whether it may ask; undefined where the request is none of that kind. */
  preflight(request: Request): Response | undefined
  /** Adds the fields of every answer. */
  dress(response: Response, request: Request, path: string): void
}

/** Creates a guard. */
export function createGuard(settings: Pick<HttpSettings, 'hosts' | 'allowedOrigins'>, sessions: Sessions): Guard {
  const hosts = new Set([...LOOPBACK, ...settings.hosts.map((host) => host.toLowerCase())])
  const origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()))
  const isAllowed = (origin: string | null): origin is string => origin !== null && origins.has(origin.toLowerCase())
  return {
    check(request, path) {
      if (request.url.length > MAX_ADDRESS) {
        throw new PharosError('ADDRESS_TOO_LONG', { length: request.url.length, most: MAX_ADDRESS })
      }
      const host = hostOf(request)
      if (!hosts.has(nameOf(host))) throw new PharosError('HOST_REFUSED', { host: host.slice(0, MAX_SHOWN) })
      const origin = request.headers.get('origin')
      if (!isAllowed(origin)) checkSite(request, path, origin, host)
      if (!isOpen(request, path) && !sessions.isKnown(request)) throw new PharosError('TOKEN_REQUIRED')
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
    dress({ headers, status }, request, path) {
      // What is told instead of such a file is a page like all others.
      const isLocal = path.startsWith(LOCAL_PATH) && status < 400
      const fields = isLocal ? { ...FIELDS, ...writeLocalFields(hostOf(request)) } : FIELDS
      for (const [name, value] of Object.entries(fields)) headers.set(name, value)
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

/** So much of what a stranger sent is shown. */
const MAX_SHOWN = 200

/**
 * Refuses what a page of another site sent. Such a page may lead a person here, which is a request without an origin that changes
 * nothing; browsers send the origin with everything else.
 */
function checkSite(request: Request, path: string, origin: string | null, host: string): void {
  const site = request.headers.get('sec-fetch-site')
  const isOwn = site === null || OWN_SITES.includes(site)
  // Only a browser sets this field, and no page can.
  const isSame = origin === null || originHost(origin) === host || (origin === 'null' && site === 'same-origin')
  if (!isSame || (!isOwn && (isChange(request) || STREAMS.includes(path)))) {
    throw new PharosError('ORIGIN_REFUSED', { origin: (origin ?? 'another site').slice(0, MAX_SHOWN) })
  }
}

function isChange({ method }: Request): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

function isOpen({ method }: Request, path: string): boolean {
  if (path === '/health' || path === '/ready') return method === 'GET' || method === 'HEAD'
  return OPEN_PATHS.includes(path)
}

/** The host that was asked for, with its port. */
function hostOf(request: Request): string {
  return (request.headers.get('host') ?? new URL(request.url).host).toLowerCase()
}

/** `localhost:41000` → `localhost`, `[::1]:41000` → `[::1]` */
function nameOf(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '')
}

/** The host of an origin, written as in the field Host. */
function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host.toLowerCase() : undefined
}
