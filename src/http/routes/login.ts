import { z } from 'zod'
import { textField } from '../fields.ts'
import { readNext, renderLogin } from '../pages/login.ts'
import type { Peer } from '../ports.ts'
import { createRoute, type Route } from '../route.ts'
import { readForm } from '../server/read-body.ts'
import { failures } from '../shapes.ts'

const GROUP = 'Server'
const next = z.object({ next: textField('Path to open after the login.') })

/** Login and logout for browsers when a token is required. */
export const loginRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/login',
    group: GROUP,
    summary: 'A page that asks for the token.',
    query: next,
    answers: {
      200: { what: 'The page.', type: 'text/html' },
      303: { what: 'No token is needed, or the browser is already logged in.' },
    },
    run({ query, request }, { sessions }) {
      return sessions.isAuthenticated(request)
        ? redirectTo(readNext(query.next))
        : loginResponse(readNext(query.next), false)
    },
  }),
  createRoute({
    method: 'post',
    path: '/login',
    group: GROUP,
    summary: 'Logs in with the token in the form field `token`, and sets a cookie.',
    query: next,
    answers: {
      303: { what: 'Logged in; the cookie is set.' },
      401: { what: 'The page again.', type: 'text/html' },
      429: { what: 'Too many wrong tokens; the page again.', type: 'text/html' },
      ...failures(413),
    },
    async run({ query, request, peer }, { sessions }) {
      const form = await readForm(request)
      const nextPath = readNext(form.get('next') ?? query.next)
      if (!sessions.isTokenRequired) return redirectTo(nextPath)
      const waitMs = sessions.loginRateLimit.waitMs()
      if (waitMs > 0) return loginResponse(nextPath, true, Math.ceil(waitMs / 1000))
      const isRight = sessions.isToken(form.get('token')?.trim() ?? '')
      sessions.loginRateLimit.recordAttempt(isRight)
      if (!isRight) return loginResponse(nextPath, true)
      return redirectTo(nextPath, sessions.writeCookie(isSecure(request, peer)))
    },
  }),
  createRoute({
    method: 'post',
    path: '/logout',
    group: GROUP,
    summary: 'Logs out and clears the cookie.',
    answers: { 303: { what: 'Logged out.' } },
    run: (_, { sessions }) => redirectTo('/login', sessions.clearCookie()),
  }),
]

async function loginResponse(next: string, hasFailed: boolean, waitSeconds = 0): Promise<Response> {
  const text = String(await renderLogin({ next, hasFailed, waitSeconds }))
  const status = waitSeconds > 0 ? 429 : hasFailed ? 401 : 200
  const retry = waitSeconds > 0 ? { 'retry-after': String(waitSeconds) } : {}
  return new Response(text, { status, headers: { ...retry, 'content-type': 'text/html; charset=utf-8' } })
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/

/** Whether the browser uses HTTPS, directly or through a proxy on this machine; headers of other proxies are not trusted. */
function isSecure({ url, headers }: Request, peer: Peer | undefined): boolean {
  if (url.startsWith('https:')) return true
  return LOOPBACK.test(peer?.address ?? '') && headers.get('x-forwarded-proto')?.toLowerCase() === 'https'
}

function redirectTo(location: string, cookie?: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location, ...(cookie === undefined ? {} : { 'set-cookie': cookie }) },
  })
}
