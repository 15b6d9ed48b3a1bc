import { describeFailure } from './failure.ts'
import type { HttpSettings, Peer } from './ports.ts'
import { createGuard } from './security.ts'
import { createSessions } from './session.ts'

type Handle = (request: Request, peer?: Peer) => Promise<Response>

/** Lets a handler that stands alone answer only the requests that the server would let pass: Host and Origin are checked alike. */
export function guardHandler(handle: Handle, settings: Pick<HttpSettings, 'hosts' | 'allowedOrigins'>): Handle {
  // It listens on this machine only, where no token is needed.
  const guard = createGuard(settings, createSessions(null))
  const answer = async (request: Request, path: string, peer: Peer | undefined): Promise<Response> => {
    try {
      const preflight = guard.preflight(request)
      if (preflight !== undefined) return preflight
      guard.check(request, path)
      const response = await handle(request, peer)
      // Fields of a response that something else made may be immutable.
      return new Response(response.body, response)
    } catch (error) {
      const { status, body } = describeFailure(error, crypto.randomUUID())
      return Response.json(body, { status })
    }
  }
  return async (request, peer) => {
    const { pathname } = new URL(request.url)
    const response = await answer(request, pathname, peer)
    guard.dress(response, request, pathname)
    return response
  }
}
