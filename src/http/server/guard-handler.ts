import { describeFailure } from '../failure.ts'
import type { HttpSettings, Peer } from '../ports.ts'
import { createGuard } from './security.ts'
import { createSessions } from './session.ts'

type RequestHandler = (request: Request, peer?: Peer) => Promise<Response>

/** Applies the Host and Origin checks of the server to a stand-alone handler. */
export function guardHandler(
  handle: RequestHandler,
  settings: Pick<HttpSettings, 'hosts' | 'allowedOrigins'>,
): RequestHandler {
  // The handler listens on loopback only, so it needs no token.
  const guard = createGuard(settings, createSessions(null))
  const answer = async (request: Request, path: string, peer: Peer | undefined): Promise<Response> => {
    try {
      const preflight = guard.preflight(request)
      if (preflight !== undefined) return preflight
      guard.check(request, path)
      const response = await handle(request, peer)
      // The headers of a response from another handler may be immutable, so this copies the response.
      return new Response(response.body, response)
    } catch (error) {
      const { status, body } = describeFailure(error, crypto.randomUUID())
      return Response.json(body, { status })
    }
  }
  return async (request, peer) => {
    const { pathname } = new URL(request.url)
    const response = await answer(request, pathname, peer)
    guard.addHeaders(response, request, pathname)
    return response
  }
}
