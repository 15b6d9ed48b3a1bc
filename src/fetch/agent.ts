import type { Dispatcher } from 'undici'
// Imports three parts of undici: the whole package, with its own fetch, caches and sockets, takes three times as long to load.
import request from 'undici/lib/api/api-request.js'
import errors from 'undici/lib/core/errors.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import type { HostResolver } from './address-check.ts'
import type { Allowance } from './addresses.ts'
import { Connector } from './connector.ts'
import type { HttpProxy } from './parse-proxy.ts'

/** How connections are made and kept. */
export interface AgentOptions {
  readonly allowance: Allowance
  readonly resolve: HostResolver
  /** Trusted certificates in PEM. Undefined uses Node's. */
  readonly ca: string | undefined
  readonly proxy: HttpProxy | undefined
  readonly connectTimeoutMs: number
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly maxHeaderBytes: number
  readonly connectionsPerOrigin: number
}

/** Connections to allowed addresses, kept alive. */
export interface GuardedAgent {
  readonly dispatch: Dispatcher['dispatch']
  /** Sends a request and returns its response, whose body must be read or dumped. */
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>
  /** Closes all connections; requests in progress fail. */
  close(): Promise<void>
}

/** Opens the agent that sends all requests of the program. */
export function openAgent(options: AgentOptions): GuardedAgent {
  const { allowance, resolve, ca, proxy, connectTimeoutMs: timeoutMs } = options
  const connector = new Connector({ allowance, timeoutMs, resolve, ca, proxy })
  const agent = new Agent({
    connect: connector.connect,
    connections: options.connectionsPerOrigin,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: options.maxHeaderBytes,
    headersTimeout: options.firstByteTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
  })
  return {
    dispatch: (options, handler) => agent.dispatch(options, handler),
    request: (options) => request.call(agent, options),
    async close() {
      connector.close()
      await agent.destroy()
    },
  }
}

/** Whether a response was not HTTP. The error's `data` has the bytes that failed to parse, and is empty when the response ended early. */
export function isParserError(error: Error): boolean {
  return error instanceof errors.HTTPParserError
}
