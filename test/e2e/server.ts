import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Outcome, ProgramSandbox } from './program.ts'

/** A `pharos serve` that runs as a separate process. */
export interface ServerProcess {
  readonly pid: number
  readonly origin: string
  /** The JSON line that the server printed when it started. */
  readonly printed: Readonly<Record<string, unknown>>
  readonly ended: Promise<Outcome>
  ask(path: string, init?: RequestInit): Promise<Response>
  /** Posts JSON, and returns the JSON of a successful response. */
  post(path: string, body?: unknown): Promise<Record<string, unknown>>
  get(path: string): Promise<Record<string, unknown>>
  kill(signal: NodeJS.Signals): void
}

/** Starts `pharos serve` and waits until it has printed its address. */
export async function startServer(
  sandbox: ProgramSandbox,
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const [node, program] = sandbox.command
  const args = [program, 'serve', '--json', '--library', sandbox.path('library.db'), ...flags]
  const { child, ended } = sandbox.start(node, args, environment)
  const line = await Promise.race([
    firstLine(child.stdout),
    ended.then(({ code, stderr }) => Promise.reject(new Error(`pharos serve ended with ${code}: ${stderr}`))),
  ])
  // The JSON that the verb prints has these fields.
  const printed = JSON.parse(line) as { origin: string; pid: number }
  const { origin, pid } = printed
  const ask = (path: string, init?: RequestInit) =>
    fetch(`${origin}${path}`, { signal: AbortSignal.timeout(60_000), ...init })
  const readJson = async (request: Promise<Response>) => {
    const response = await request
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status}: ${text}`)
    // Every answer of the API is an object.
    return JSON.parse(text) as Record<string, unknown>
  }
  return {
    pid,
    origin,
    printed: { ...printed },
    ended,
    ask,
    get: (path) => readJson(ask(path)),
    post: (path, body = {}) =>
      readJson(
        ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      ),
    kill: (signal) => void process.kill(pid, signal),
  }
}

/** A free port that no other server takes by itself, for a server that is restarted on the same port. */
export async function findFreePort(): Promise<string> {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return String(port)
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  while (!text.includes('\n')) {
    const [data] = (await once(stream, 'data')) as [string]
    text += data
  }
  return text.slice(0, text.indexOf('\n'))
}

/** Calls `ask` until `isRight` accepts the answer; fails with the last answer after the timeout. */
export async function until<T>(ask: () => Promise<T>, isRight: (answer: T) => boolean, ms = 120_000): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const answer = await ask()
    if (isRight(answer)) return answer
    if (performance.now() > end) throw new Error(`still ${JSON.stringify(answer)} after ${ms} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
