import { readFileSync } from 'node:fs'
import { PharosError } from '../../core/errors.ts'

/** The address of a server. */
export interface ServerAddress {
  readonly origin: string
  /** The bearer token; null if the server requires none. */
  readonly token: string | null
  /** Handles the requests if the server runs in this process. @default the global `fetch`, over the network */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined
}

const RESPONSE_TIMEOUT_MS = 30_000

/** Sends a request to a Pharos server and returns its response. An error response is rethrown with the message of the server. */
export async function askServer(server: ServerAddress, path: string, body?: unknown): Promise<unknown> {
  const { origin, token, fetch: send = fetch } = server
  const request = new Request(`${origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    redirect: 'error',
  })
  const response = await send(request).catch((cause: unknown) => {
    const problem = 'it does not answer'
    throw new PharosError(
      'SERVER_REFUSED',
      { who: describeServer(server), problem, advice: 'look at its log' },
      { cause },
    )
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  const { problem, advice } = parseErrorResponse(answer, response.status)
  // Without a server, advice that names API routes is useless.
  const usableAdvice = server.fetch === undefined ? advice : '`pharos status` shows what is running'
  throw new PharosError('SERVER_REFUSED', { who: describeServer(server), problem, advice: usableAdvice })
}

/** The name of a server in messages. */
export function describeServer({ origin, fetch: own }: ServerAddress): string {
  return own === undefined ? `the server at ${origin}` : 'the queue of the library'
}

function parseErrorResponse(answer: unknown, status: number): { problem: string; advice: string } {
  const { error, advice, id } = (answer ?? {}) as { error?: unknown; advice?: unknown; id?: unknown }
  const advised = typeof advice === 'string' ? advice : 'look at its log'
  return {
    problem: typeof error === 'string' ? error : `status ${status}`,
    advice: typeof id === 'string' ? advised.replace('under this id', `under the id ${id}`) : advised,
  }
}

/** Reads the token from a file; null if there is no file. */
export function readTokenFile(file: string | null): string | null {
  if (file === null) return null
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new PharosError('USAGE', { problem: `--token-file ${file}: it cannot be read` }, { cause })
  }
}
