/** What is to be downloaded. */
export interface DownloadRequest {
  readonly url: string
  /** Media types that are wanted. @default any */
  readonly accept?: string
  /** Most bytes of the answer. */
  readonly maxBytes: number
  /** Fields that go to the origin of the address alone, and nowhere it leads to. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/**
 * Downloads a file by its address: its bytes in pieces, which have to be read to their end, or given up. Redirects are followed, each
 * checked like the first address. Rejects with a {@link DownloadError} when there is nothing to be had, when it breaks off or is too
 * large, and with the reason of the signal when it is aborted.
 */
export type Download = (request: DownloadRequest) => Promise<AsyncIterable<Uint8Array>>

/** Ways to download, which must be closed. */
export interface Downloads {
  /** From the web. */
  readonly web: Download
  /** From the registries that the owner configured, and from where these lead. */
  readonly registry: Download
  /**
   * The addresses that a program which fetches by itself may reach a host by, checked like all that is downloaded from the web, the best
   * first. Rejects with a {@link DownloadError} where there is none, or where it may not.
   */
  readonly resolve: (host: string, port: number) => Promise<readonly string[]>
  /**
   * Opens a proxy on this machine for such a program, which leads to that one host only, through the owner's proxy where there is one. It
   * ends with this process, and with it whatever the program fetches. It is to be closed.
   */
  readonly openProxy: (way: ProxyWay) => Promise<OpenProxy>
  close(): Promise<void>
}

/** Where a proxy leads, and how far. */
export interface ProxyWay {
  readonly host: string
  readonly port: number
  /** Where the host was found. */
  readonly addresses: readonly string[]
  /** Most bytes that it lets in. */
  readonly maxBytes: number
}

/** A proxy of this process. */
export interface OpenProxy {
  readonly url: string
  /** Why it last did not lead anywhere, in words; null where it did. */
  readonly failure: string | null
  close(): Promise<void>
}

/** Why there is nothing. */
export type DownloadProblem =
  /** Nothing is at the address. */
  | 'missing'
  /** It may be had later: the server is busy or broken, or the connection broke. */
  | 'busy'
  | 'failed'

/** An address that is not public, and what the owner has to name in allowPrivate in order to open it. */
export interface RefusedAddress {
  readonly address: string
  readonly rule: string
}

/** The host of an address, as allowPrivate names it. */
export function hostRuleOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

/** Names the flag that opens an address, and no other. */
export function adviseAllowance(rule: string): string {
  return `if that is yours, add --allow-private=${rule}, or ${rule} to allowPrivate in the configuration`
}

/** There is nothing to be had. Its message is for people, and holds nothing private. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  readonly problem: DownloadProblem
  /** How long the server asks to wait, in milliseconds; null where it does not say. */
  readonly retryAfterMs: number | null
  /** The address that may not be connected to, for the owner alone; null where it is something else. */
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
