import { readFileSync } from 'node:fs'
import { PharosError } from '../core/errors.ts'

/** A server that may be asked. */
export interface ServerAddress {
  readonly origin: string
  /** What it demands; null when it demands nothing. */
  readonly token: string | null
}

const PATIENCE_MS = 30_000

/** Asks a server of ours something, and gives its answer. What it refuses is told in its own words. */
export async function askServer({ origin, token }: ServerAddress, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
    redirect: 'error',
  }).catch((cause: unknown) => {
    const problem = 'it does not answer'
    throw new PharosError('SERVER_REFUSED', { origin, problem, advice: 'look at its log' }, { cause })
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  throw new PharosError('SERVER_REFUSED', { origin, ...readRefusal(answer, response.status) })
}

function readRefusal(answer: unknown, status: number): { problem: string; advice: string } {
  const { error, advice } = (answer ?? {}) as { error?: unknown; advice?: unknown }
  return {
    problem: typeof error === 'string' ? error : `status ${status}`,
    advice: typeof advice === 'string' ? advice : 'look at its log',
  }
}

/** The token of a file that a server of ours has named. */
export function readNamedToken(file: string | null): string | null {
  if (file === null) return null
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new PharosError('USAGE', { problem: `--token-file ${file}: it cannot be read` }, { cause })
  }
}
