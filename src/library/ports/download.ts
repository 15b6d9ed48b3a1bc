import type { Registries } from '../../core/url/package-url.ts'

/** A download request. */
export interface DownloadRequest {
  readonly url: string
  /** Accepted media types. @default any */
  readonly accept?: string
  /** Maximum size of the response in bytes. */
  readonly maxBytes: number
  /** Headers sent only to the origin of the address, never to redirect targets. */
  readonly headers?: Readonly<Record<string, string>>
  /** Type of the registry from which it comes; other types have other tokens for the same host. @default no token is sent */
  readonly registryType?: keyof Registries
  readonly signal?: AbortSignal | undefined
}

/**
 * Downloads a file as pieces of bytes, which the caller must read to the end or cancel. Redirects are followed, each checked like the first
 * address. Rejects with a {@link DownloadError} if the file does not exist, the transfer breaks off or the file is too large, and with the
 * reason of the signal on abort.
 */
export type Download = (request: DownloadRequest) => Promise<AsyncIterable<Uint8Array>>

/** Ways to download; the caller must close them. */
export interface Downloads {
  /** Downloads from the web. */
  readonly web: Download
  /** Downloads from registries that the owner configured, and from addresses that they redirect to. */
  readonly registry: Download
  /**
   * Resolves a host for an external program that fetches by itself, with the same checks as downloads from the web, best address first.
   * Rejects with a {@link DownloadError} if the host has no address or access is refused.
   */
  readonly resolve: (host: string, port: number) => Promise<readonly string[]>
  /**
   * Opens a local proxy for an external program. It reaches only the target host, through the owner's proxy if one is configured. It ends
   * with this process, which ends the program's transfers. The caller must close it.
   */
  readonly openProxy: (target: ProxyTarget) => Promise<OpenProxy>
  close(): Promise<void>
}

/** Target and limit of a proxy. */
export interface ProxyTarget {
  readonly host: string
  readonly port: number
  /** Resolved addresses of the host. */
  readonly addresses: readonly string[]
  /** Maximum number of bytes received. */
  readonly maxBytes: number
}

/** A proxy in this process. */
export interface OpenProxy {
  readonly url: string
  /** Reason for the last failed connection; null if there was none. */
  readonly failure: string | null
  close(): Promise<void>
}

/** Kinds of download failure. */
export type DownloadProblem =
  /** The file does not exist. */
  | 'missing'
  /** A retry may succeed: the server is busy or broken, or the connection broke. */
  | 'busy'
  | 'failed'

/** An address that is not public, and the `allowPrivate` entry that permits it. */
export interface RefusedAddress {
  readonly address: string
  readonly rule: string
}

/** Returns the host of an address in the form that `allowPrivate` uses. */
export function hostRuleOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

/** Names the flag and the setting that permit exactly the host or address in `rule`. */
export function adviseAllowance(rule: string): string {
  return `if that is yours, add --allow-private=${rule}, or ${rule} to allowPrivate in the configuration`
}

/** A download has failed. The message is for people and contains nothing private. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  readonly problem: DownloadProblem
  /** Value of Retry-After in milliseconds; null if absent. */
  readonly retryAfterMs: number | null
  /** The refused address, for the owner only; null for other failures. */
  readonly refused: RefusedAddress | null

  constructor(
    problem: DownloadProblem,
    message: string,
    {
      retryAfterMs = null,
      refused = null,
      ...options
    }: ErrorOptions & { readonly retryAfterMs?: number | null; readonly refused?: RefusedAddress | null } = {},
  ) {
    super(message, options)
    this.problem = problem
    this.retryAfterMs = retryAfterMs
    this.refused = refused
  }
}
