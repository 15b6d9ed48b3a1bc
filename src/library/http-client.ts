/** What is asked of a service that the owner configured. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  /** Further fields; `content-type` is given for a body. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON. */
  readonly body?: string
  /** Time for the whole answer, in milliseconds. */
  readonly timeoutMs: number
  /** Most decoded bytes of an answer. @default 64 MB */
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

/** What a service answered, whatever its status. Redirects are not followed. */
export interface ServiceAnswer {
  readonly status: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * Reaches the services that the owner configured, by their origins, and nothing else. Rejects with a {@link ServiceError} when there
 * is no answer, and with the reason of the signal when it is aborted.
 */
export interface HttpClient {
  request(request: ServiceRequest): Promise<ServiceAnswer>
}

/** Why there is no answer. */
export type ServiceProblem =
  /** It was not asked: its origin is not configured, or what was to be sent cannot be. */
  | 'not-allowed'
  | 'timeout'
  /** No connection, or one that broke. */
  | 'network'
  /** Not HTTP, or an encoding that nobody knows. */
  | 'bad-answer'
  | 'too-large'

/** A service that gave no answer. Its message is for people and holds nothing private. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly problem: ServiceProblem

  constructor(problem: ServiceProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}
