/** A request to a configured service. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  /** Additional headers; `content-type` is set for a body. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON text. */
  readonly body?: string
  /** Timeout for the whole response, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum decoded size of a response in bytes. @default 64 MB */
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

/** A response of a service with any status. Redirects are not followed. */
export interface ServiceResponse {
  readonly status: number
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * Sends requests to the origins of configured services only. Rejects with a {@link ServiceError} if there is no response, and with the
 * reason of the signal on abort.
 */
export interface HttpClient {
  request(request: ServiceRequest): Promise<ServiceResponse>
}

/** Why there is no response. */
export type ServiceProblem =
  /** The request was not sent: its origin is not configured, or it cannot be encoded. */
  | 'not-allowed'
  | 'timeout'
  /** The connection failed or broke. */
  | 'network'
  /** The response is not HTTP, or has an unknown encoding. */
  | 'bad-answer'
  | 'too-large'

/** A service did not respond. The message is for people and contains nothing private. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly problem: ServiceProblem

  constructor(problem: ServiceProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}
