import { createHash } from 'node:crypto'
import { PharosError } from '../core/errors.ts'
import type { Clock } from '../crawl/ports.ts'
import { PROOF_TEXT, TEXT_RECIPE } from '../library/embedded-text.ts'
import type { HttpClient } from '../library/http-client.ts'
import { callService, type ServiceCall, type ServiceFailure } from '../library/service-call.ts'
import type { VectorSpace } from '../library/vectors.ts'
import {
  describeFailure,
  isBreakdown,
  isSuspicious,
  type NamedService,
  REPLACE,
  refused,
  tellFailure,
  unusable,
} from './service-problems.ts'
import { readVector } from './service-vectors.ts'

/** Endpoint of a service, and the model to request. */
export interface SessionOptions {
  readonly endpoint: string
  /** Sent as a bearer token. */
  readonly key?: string
  /** For each answer. */
  readonly timeoutMs: number
  /** Put before every text. */
  readonly textPrefix: string
  /** Dimensions to request, if any. */
  readonly dimensions?: number
  readonly client: HttpClient
  readonly clock: Clock
  /** Told when it turns out to serve another model than before: this session is of no use from then on. */
  readonly onOtherModel?: () => void
}

/** The parts in which kinds of services differ. */
export interface EmbeddingProtocol {
  /** How people know it. */
  readonly service: string
  /** Where texts are sent. */
  readonly url: string
  /** Further fields of the request, as JSON. */
  writeBody(texts: readonly string[]): unknown
  /** The vectors of an answer in the order of the texts, as they are; undefined for what is no such answer. */
  readVectors(answer: unknown): readonly unknown[] | undefined
  /** Asks which model is served now. */
  readModel(call: (part: Pick<ServiceCall, 'method' | 'url'>) => Promise<unknown>): Promise<ServedModel>
}

/** Which model a service has. */
export interface ServedModel {
  readonly model: string
  /** Further settings that change vectors, as far as the service reports them. */
  readonly revision: string
  /** Most texts that it takes at once. */
  readonly mostTexts?: number
}

/** How patient a call is. */
interface Patience {
  readonly timeoutMs: number
  /** Pauses before the same call is made again. */
  readonly delaysMs: readonly number[]
  isWorthRetrying(failure: ServiceFailure): boolean
}

const DELAYS_MS = [250, 1000, 4000]
/** One that went down is started anew by whatever watches over it, and has to load its model. */
const REVIVAL_MS = [...DELAYS_MS, 10_000]
/** A text is taken to be at fault when the service breaks down over it so often, and is well after each. */
const MOST_BREAKDOWNS = 2
/** After this many timeouts of single texts in a row, the service counts as too slow for now. */
const MOST_LATE = 3
/** Interval for checking that the service still has the same model: after a restart it may not. */
const MODEL_CHECK_MS = 60_000
/** Room in an answer for each number, and for what stands around them. */
const BYTES_PER_NUMBER = 32
const LEAST_ANSWER_BYTES = 2 ** 20
/** Vectors may be of as many numbers before it is known of how many they are. */
const MOST_DIMENSIONS = 65_536

/** Calls of one service, which is to have the same model all along. */
export class EmbeddingSession {
  readonly #options: SessionOptions
  readonly #protocol: EmbeddingProtocol
  readonly #named: NamedService
  #served: ServedModel | undefined
  #checkedAt = 0
  #dimensions: number | undefined
  /** Texts in a row that were not answered in time. */
  #late = 0

  constructor(options: SessionOptions, protocol: EmbeddingProtocol) {
    this.#options = options
    this.#protocol = protocol
    this.#named = { service: protocol.service, ...options }
  }

  get mostTexts(): number {
    return this.#served?.mostTexts ?? Number.POSITIVE_INFINITY
  }

  /** Requests the model and one vector, with a short timeout: a question may be waiting. */
  async open(signal: AbortSignal | undefined): Promise<VectorSpace> {
    const { model, revision } = await this.#checkModel(this.#quick, signal)
    const dimensions = await this.#probe(this.#quick, signal)
    this.#dimensions = dimensions
    const { dimensions: wanted = dimensions, textPrefix } = this.#options
    if (dimensions !== wanted) {
      const problem = `its vectors have ${dimensions} dimensions where ${wanted} are asked for`
      throw unusable(this.#named, problem, 'check the setting embedDimensions')
    }
    const recipe = [this.#protocol.service, model, revision, dimensions, JSON.stringify(textPrefix), TEXT_RECIPE]
    return { model, fingerprint: createHash('sha256').update(recipe.join('\n')).digest('hex'), dimensions }
  }

  /** Embeds texts in the background. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const isAlone = texts.length === 1
    await this.#checkModel(this.#steady(isWorthRetrying), signal)
    for (let breakdowns = 1; ; breakdowns++) {
      try {
        const vectors = await this.#ask(texts, this.#careful(isAlone), signal)
        this.#late = 0
        return vectors
      } catch (error) {
        const isDown = isBreakdown(error)
        if (!isDown && !isSuspicious(error)) throw describeFailure(this.#named, error)
        // While it makes no vector of anything, no text is at fault.
        await this.#probe(this.#reviving, signal)
        if (isDown && isAlone && breakdowns < MOST_BREAKDOWNS) continue
        if (isAlone && error.type === 'timeout' && this.#isSlow()) throw describeFailure(this.#named, error)
        throw refused(this.#named, tellFailure(this.#named, error), error)
      }
    }
  }

  /** Whether it is the service that is late, and not this text. Counted anew from then on: of the next that are, one may be at fault. */
  #isSlow(): boolean {
    this.#late = (this.#late + 1) % MOST_LATE
    return this.#late === 0
  }

  /** Embeds a question, whose caller waits. */
  async answer(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    await this.#checkModel(this.#quick, signal)
    try {
      return await this.#ask(texts, this.#quick, signal)
    } catch (error) {
      throw describeFailure(this.#named, error)
    }
  }

  get #quick(): Patience {
    return { timeoutMs: this.#options.timeoutMs, delaysMs: DELAYS_MS.slice(0, 1), isWorthRetrying: isQuickFailure }
  }

  #steady(isWorth: (failure: ServiceFailure) => boolean): Patience {
    return { timeoutMs: this.#options.timeoutMs, delaysMs: DELAYS_MS, isWorthRetrying: isWorth }
  }

  /** For texts that may be at fault: halving a batch serves as a retry, and also narrows the fault down. */
  #careful(isAlone: boolean): Patience {
    let breakdowns = 0
    return this.#steady((failure) => {
      if (isBreakdown(failure)) return ++breakdowns < MOST_BREAKDOWNS
      return isWorthRetrying(failure) && (isAlone || !isSuspicious(failure))
    })
  }

  /** For a plain text after a failure: one that hangs at that too would do so again. */
  get #reviving(): Patience {
    const isWorth = (failure: ServiceFailure): boolean => isWorthRetrying(failure) && failure.type !== 'timeout'
    return { timeoutMs: this.#options.timeoutMs, delaysMs: REVIVAL_MS, isWorthRetrying: isWorth }
  }

  /** Which model is served, asked again when it was not for a while. */
  async #checkModel(patience: Patience, signal?: AbortSignal): Promise<ServedModel> {
    const known = this.#served
    const now = this.#options.clock.now()
    if (known !== undefined && now < this.#checkedAt + MODEL_CHECK_MS) return known
    const read = this.#protocol.readModel((part) => this.#call(part, patience, signal))
    const served = await read.catch((error) => this.#failAtAnything('it does not say which model it has', error))
    if (known !== undefined && (served.model !== known.model || served.revision !== known.revision)) {
      throw this.#otherModel(`it serves ${served.model} now and served ${known.model} before`)
    }
    this.#served = served
    this.#checkedAt = now
    return served
  }

  /** Sees whether it makes vectors at all, and of how many numbers. */
  async #probe(patience: Patience, signal?: AbortSignal): Promise<number> {
    const asked = this.#ask([this.#options.textPrefix + PROOF_TEXT], patience, signal)
    const [vector] = await asked.catch((error) => this.#failAtAnything('it makes no vector of a plain text', error))
    return vector?.length ?? 0
  }

  /** For what no service may refuse. */
  #failAtAnything(what: string, error: unknown): never {
    const found = describeFailure(this.#named, error)
    if (!(found instanceof PharosError && found.code === 'EMBED_REFUSED')) throw found
    const problem = `${what}: ${found.details['problem']}`
    throw unusable(this.#named, problem, 'check the settings embedEndpoint, embedModel and embedDimensions', error)
  }

  async #ask(texts: readonly string[], patience: Patience, signal?: AbortSignal): Promise<Float32Array[]> {
    const { url } = this.#protocol
    const json = this.#protocol.writeBody(texts)
    const numbers = texts.length * (this.#dimensions ?? MOST_DIMENSIONS)
    const maxBytes = LEAST_ANSWER_BYTES + numbers * BYTES_PER_NUMBER
    return this.#readVectors(await this.#call({ method: 'POST', url, json, maxBytes }, patience, signal), texts.length)
  }

  #readVectors(answer: unknown, count: number): Float32Array[] {
    const lists = this.#protocol.readVectors(answer)
    const address = 'check the setting embedEndpoint'
    if (lists === undefined) throw unusable(this.#named, 'its answer holds no vectors', address)
    if (lists.length !== count) {
      throw unusable(this.#named, `it gave ${lists.length} vectors for ${count} texts`, address)
    }
    return lists.map((list) => {
      const read = readVector(list)
      if ('problem' in read) throw refused(this.#named, read.problem)
      const { length } = read.vector
      if (length === (this.#dimensions ?? length)) return read.vector
      const problem = `its vectors have ${length} dimensions now and had ${this.#dimensions} before: it serves another model`
      throw this.#otherModel(problem)
    })
  }

  #otherModel(problem: string): PharosError {
    this.#options.onOtherModel?.()
    return unusable(this.#named, problem, REPLACE)
  }

  #call(
    part: Pick<ServiceCall, 'method' | 'url' | 'json' | 'maxBytes'>,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { client, clock, key } = this.#options
    return callService(client, clock, {
      ...part,
      ...patience,
      retries: patience.delaysMs.length,
      service: this.#protocol.service,
      signal,
      ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    })
  }
}

/** TEI answers 424 where its model fails, which may be over in a moment. */
function isWorthRetrying(failure: ServiceFailure): boolean {
  return failure.isTransient || isSuspicious(failure)
}

/** One that took all its time would take it again. */
function isQuickFailure(failure: ServiceFailure): boolean {
  return isWorthRetrying(failure) && failure.type !== 'timeout' && failure.type !== 'rate-limited'
}
