import { createHash } from 'node:crypto'
import { PharosError } from '../core/errors.ts'
import type { Clock } from '../crawl/ports.ts'
import { PROBE_TEXT, TEXT_RECIPE } from '../library/embed/embedded-text.ts'
import type { HttpClient } from '../library/ports/http-client.ts'
import type { VectorSpace } from '../library/ports/vectors.ts'
import { callService, type ServiceCall, type ServiceFailure } from '../library/service-call.ts'
import {
  createRefusedError,
  createUnusableError,
  isOutage,
  isPossibleTextFault,
  type NamedService,
  REPLACE_ADVICE,
  toCallerError,
  writeFailure,
} from './service-errors.ts'
import { readVector } from './service-vectors.ts'

/** Endpoint of a service, and the model to request. */
export interface SessionOptions {
  readonly endpoint: string
  /** Sent as a bearer token. */
  readonly key?: string
  /** Timeout of each response. */
  readonly timeoutMs: number
  /** Prefix of every text. */
  readonly textPrefix: string
  /** Dimensions to request, if any. */
  readonly dimensions?: number
  readonly client: HttpClient
  readonly clock: Clock
  /** Called when the service turns out to serve another model than before; this session is unusable from then on. */
  readonly onOtherModel?: () => void
}

/** The parts of the protocol that differ between services. */
export interface EmbeddingProtocol {
  /** Name of the service. */
  readonly service: string
  /** URL for embedding requests. */
  readonly url: string
  /** The body of a request for these texts, as JSON. */
  writeBody(texts: readonly string[]): unknown
  /** The raw vectors of a response in the order of the texts; undefined for an invalid response. */
  readVectors(answer: unknown): readonly unknown[] | undefined
  /** Reads which model is served now. */
  readModel(call: (part: Pick<ServiceCall, 'method' | 'url'>) => Promise<unknown>): Promise<ServedModel>
}

/** The model of a service. */
export interface ServedModel {
  readonly model: string
  /** Further settings that change vectors, as far as the service reports them. */
  readonly revision: string
  /** Limit of texts per request. */
  readonly maxTexts?: number
}

/** Timeout and retries of a call. */
interface RetryPolicy {
  readonly timeoutMs: number
  /** Back-off before each retry. */
  readonly delaysMs: readonly number[]
  isWorthRetrying(failure: ServiceFailure): boolean
}

const RETRY_DELAYS_MS = [250, 1000, 4000]
/** Back-off after an outage: longer, because a crashed service is first restarted by its supervisor and then loads its model. */
const RESTART_DELAYS_MS = [...RETRY_DELAYS_MS, 10_000]
/** Number of crashes after which a text counts as the cause, if the service is healthy again after each. */
const MAX_OUTAGES_PER_TEXT = 2
/** After this many timeouts of single texts in a row, the service counts as too slow for now. */
const MAX_CONSECUTIVE_TIMEOUTS = 3
/** Interval for checking that the service still has the same model, which a restart may change. */
const MODEL_CHECK_INTERVAL_MS = 60_000
/** Size limit of a response per number, including separators. */
const BYTES_PER_NUMBER = 32
const MIN_RESPONSE_BYTES = 2 ** 20
/** Assumed number of dimensions before it is known. */
const ASSUMED_DIMENSIONS = 65_536

/** Calls of one service, which must keep the same model. */
export class EmbeddingSession {
  readonly #options: SessionOptions
  readonly #protocol: EmbeddingProtocol
  readonly #service: NamedService
  #served: ServedModel | undefined
  #checkedAt = 0
  #dimensions: number | undefined
  /** Number of texts in a row that timed out. */
  #timeoutCount = 0

  constructor(options: SessionOptions, protocol: EmbeddingProtocol) {
    this.#options = options
    this.#protocol = protocol
    this.#service = { service: protocol.service, ...options }
  }

  get maxTexts(): number {
    return this.#served?.maxTexts ?? Number.POSITIVE_INFINITY
  }

  /** Reads the model and requests one vector, with a single retry, because a question may be waiting. */
  async open(signal: AbortSignal | undefined): Promise<VectorSpace> {
    const { model, revision } = await this.#checkModel(this.#quickPolicy, signal)
    const dimensions = await this.#probe(this.#quickPolicy, signal)
    this.#dimensions = dimensions
    const { dimensions: wanted = dimensions, textPrefix } = this.#options
    if (dimensions !== wanted) {
      const problem = `its vectors have ${dimensions} dimensions instead of ${wanted}`
      throw createUnusableError(this.#service, problem, 'check the setting embedDimensions')
    }
    const recipe = [this.#protocol.service, model, revision, dimensions, JSON.stringify(textPrefix), TEXT_RECIPE]
    return { model, fingerprint: createHash('sha256').update(recipe.join('\n')).digest('hex'), dimensions }
  }

  /** Embeds texts in the background. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const isSingleText = texts.length === 1
    await this.#checkModel(this.#steadyPolicy(isWorthRetrying), signal)
    for (let outageCount = 1; ; outageCount++) {
      try {
        const vectors = await this.#ask(texts, this.#textPolicy(isSingleText), signal)
        this.#timeoutCount = 0
        return vectors
      } catch (error) {
        const isDown = isOutage(error)
        if (!isDown && !isPossibleTextFault(error)) throw toCallerError(this.#service, error)
        // The probe throws if the service cannot embed anything; then no text is at fault.
        await this.#probe(this.#probePolicy, signal)
        if (isDown && isSingleText && outageCount < MAX_OUTAGES_PER_TEXT) continue
        if (isSingleText && error.type === 'timeout' && this.#countTimeout()) throw toCallerError(this.#service, error)
        throw createRefusedError(this.#service, writeFailure(this.#service, error), error)
      }
    }
  }

  /** Counts a timeout. Returns whether the service is slow, rather than this text at fault; the count then starts again. */
  #countTimeout(): boolean {
    this.#timeoutCount = (this.#timeoutCount + 1) % MAX_CONSECUTIVE_TIMEOUTS
    return this.#timeoutCount === 0
  }

  /** Embeds a question, whose caller waits. */
  async embedQuery(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    await this.#checkModel(this.#quickPolicy, signal)
    try {
      return await this.#ask(texts, this.#quickPolicy, signal)
    } catch (error) {
      throw toCallerError(this.#service, error)
    }
  }

  get #quickPolicy(): RetryPolicy {
    return {
      timeoutMs: this.#options.timeoutMs,
      delaysMs: RETRY_DELAYS_MS.slice(0, 1),
      isWorthRetrying: isWorthQuickRetry,
    }
  }

  #steadyPolicy(isWorth: (failure: ServiceFailure) => boolean): RetryPolicy {
    return { timeoutMs: this.#options.timeoutMs, delaysMs: RETRY_DELAYS_MS, isWorthRetrying: isWorth }
  }

  /** Policy for texts. A batch with a text that may be at fault is not retried: the caller halves the batch, which also finds the text. */
  #textPolicy(isSingleText: boolean): RetryPolicy {
    let outageCount = 0
    return this.#steadyPolicy((failure) => {
      if (isOutage(failure)) return ++outageCount < MAX_OUTAGES_PER_TEXT
      return isWorthRetrying(failure) && (isSingleText || !isPossibleTextFault(failure))
    })
  }

  /** Policy for the harmless probe text after a failure. A timeout is not retried: a service that hangs on this text would hang again. */
  get #probePolicy(): RetryPolicy {
    const isWorth = (failure: ServiceFailure): boolean => isWorthRetrying(failure) && failure.type !== 'timeout'
    return { timeoutMs: this.#options.timeoutMs, delaysMs: RESTART_DELAYS_MS, isWorthRetrying: isWorth }
  }

  /** Reads the served model, at most once per interval. */
  async #checkModel(policy: RetryPolicy, signal?: AbortSignal): Promise<ServedModel> {
    const known = this.#served
    const now = this.#options.clock.now()
    if (known !== undefined && now < this.#checkedAt + MODEL_CHECK_INTERVAL_MS) return known
    const read = this.#protocol.readModel((part) => this.#call(part, policy, signal))
    const served = await read.catch((error) => this.#throwUnusable('it does not report its model', error))
    if (known !== undefined && (served.model !== known.model || served.revision !== known.revision)) {
      throw this.#createOtherModelError(`it now serves ${served.model} instead of ${known.model}`)
    }
    this.#served = served
    this.#checkedAt = now
    return served
  }

  /** Checks that the service can embed at all, and returns the number of dimensions. */
  async #probe(policy: RetryPolicy, signal?: AbortSignal): Promise<number> {
    const probe = this.#ask([this.#options.textPrefix + PROBE_TEXT], policy, signal)
    const [vector] = await probe.catch((error) => this.#throwUnusable('it could not embed a test text', error))
    return vector?.length ?? 0
  }

  /** Throws `SERVICE_UNUSABLE` even for a refusal, because no service may refuse this input. */
  #throwUnusable(what: string, error: unknown): never {
    const found = toCallerError(this.#service, error)
    if (!(found instanceof PharosError && found.code === 'EMBED_REFUSED')) throw found
    const problem = `${what}: ${found.details['problem']}`
    throw createUnusableError(
      this.#service,
      problem,
      'check the settings embedEndpoint, embedModel and embedDimensions',
      error,
    )
  }

  async #ask(texts: readonly string[], policy: RetryPolicy, signal?: AbortSignal): Promise<Float32Array[]> {
    const { url } = this.#protocol
    const json = this.#protocol.writeBody(texts)
    const numbers = texts.length * (this.#dimensions ?? ASSUMED_DIMENSIONS)
    const maxBytes = MIN_RESPONSE_BYTES + numbers * BYTES_PER_NUMBER
    return this.#readVectors(await this.#call({ method: 'POST', url, json, maxBytes }, policy, signal), texts.length)
  }

  #readVectors(answer: unknown, count: number): Float32Array[] {
    const lists = this.#protocol.readVectors(answer)
    const advice = 'check the setting embedEndpoint'
    if (lists === undefined) throw createUnusableError(this.#service, 'its answer holds no vectors', advice)
    if (lists.length !== count) {
      throw createUnusableError(this.#service, `it returned ${lists.length} vectors for ${count} texts`, advice)
    }
    return lists.map((list) => {
      const read = readVector(list)
      if ('problem' in read) throw createRefusedError(this.#service, read.problem)
      const { length } = read.vector
      if (length === (this.#dimensions ?? length)) return read.vector
      const problem = `its vectors now have ${length} dimensions instead of ${this.#dimensions}: it serves another model`
      throw this.#createOtherModelError(problem)
    })
  }

  #createOtherModelError(problem: string): PharosError {
    this.#options.onOtherModel?.()
    return createUnusableError(this.#service, problem, REPLACE_ADVICE)
  }

  #call(
    part: Pick<ServiceCall, 'method' | 'url' | 'json' | 'maxBytes'>,
    policy: RetryPolicy,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { client, clock, key } = this.#options
    return callService(client, clock, {
      ...part,
      ...policy,
      retries: policy.delaysMs.length,
      service: this.#protocol.service,
      signal,
      ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    })
  }
}

/** Whether a retry may help. A failure that a text may have caused can also be transient. */
function isWorthRetrying(failure: ServiceFailure): boolean {
  return failure.isTransient || isPossibleTextFault(failure)
}

/** Whether a quick retry may help: not after a timeout, which would repeat, nor after a rate limit, which needs a longer wait. */
function isWorthQuickRetry(failure: ServiceFailure): boolean {
  return isWorthRetrying(failure) && failure.type !== 'timeout' && failure.type !== 'rate-limited'
}
