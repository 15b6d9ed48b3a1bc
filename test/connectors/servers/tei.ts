import { type FaultyServer, openFaultyServer, type RouteAnswer, type SeenRequest } from './faults.ts'
import { toyVector } from './toy-vectors.ts'

/** Configuration of the server, after the flags of `text-embeddings-router`. */
export interface TeiOptions {
  readonly dimensions?: number
  /** `--max-client-batch-size` */
  readonly maxBatch?: number
  /** `--payload-limit`, in bytes. */
  readonly payloadLimit?: number
  /** `--api-key` */
  readonly apiKey?: string
  /** Value of `model_type` in `/info`. */
  readonly modelType?: unknown
  /** Whether the tokenizer fails on a text. */
  readonly isUnreadable?: (text: string) => boolean
  /** Whether the model fails on a text. */
  readonly isPoison?: (text: string) => boolean
}

/** A Text Embeddings Inference server whose faults and model a test can change. */
export interface TeiServer extends FaultyServer {
  /** Changes the model that `/info` names, and the dimensions of its vectors. */
  serve(model: { readonly id?: string; readonly sha?: string | null; readonly dimensions?: number }): void
}

/** Members of a request for vectors. The real server ignores others; this one refuses them, because they would be mistakes of Pharos. */
const MEMBERS = ['inputs', 'truncate', 'truncation_direction', 'prompt_name', 'normalize', 'dimensions']

/**
 * A server that follows `router/src/http/server.rs` of huggingface/text-embeddings-inference (1.8): `POST /embed`, `GET /info`, `GET
 * /health`. Errors are `{error, error_type}` with 400 Empty, 413 Validation, 422 Tokenizer, 424 Backend, 429 Overloaded, 503 Unhealthy. A
 * wrong key gets 401 without a body, and `/health` needs no key. Invalid bodies get the statuses of axum: 415, 400, 422, and 413 for a
 * large one.
 */
export async function openTeiServer(options: TeiOptions = {}): Promise<TeiServer> {
  const { maxBatch = 32, payloadLimit = 2_000_000, apiKey, modelType = { embedding: { pooling: 'cls' } } } = options
  let model: { id: string; sha: string | null } = {
    id: 'thenlper/gte-base',
    sha: 'fca14538aa9956a46526bd1d0d11d69e19b5a101',
  }
  let size = options.dimensions ?? 8
  const info = () => ({
    model_id: model.id,
    model_sha: model.sha,
    model_dtype: 'float16',
    served_model_name: model.id,
    model_type: modelType,
    max_concurrent_requests: 512,
    max_input_length: 512,
    max_batch_tokens: 16_384,
    max_batch_requests: null,
    max_client_batch_size: maxBatch,
    auto_truncate: false,
    tokenization_workers: 4,
    version: '1.8.2',
    sha: null,
    docker_label: null,
  })
  const embed = (request: SeenRequest): RouteAnswer => {
    const refusal = refuseBody(request, payloadLimit)
    if (refusal !== undefined) return refusal
    const { inputs, dimensions = size } = request.json as { inputs: string | string[]; dimensions?: number }
    const texts = typeof inputs === 'string' ? [inputs] : inputs
    if (texts.length === 0) return fail(400, 'Empty', '`inputs` cannot be empty')
    if (texts.length > maxBatch) {
      return fail(413, 'Validation', `batch size ${texts.length} > maximum allowed batch size ${maxBatch}`)
    }
    if (texts.includes('')) return fail(400, 'Empty', 'Input validation error: `inputs` cannot be empty')
    if (texts.some((text) => options.isUnreadable?.(text))) return fail(422, 'Tokenizer', 'Tokenization error')
    if (texts.some((text) => options.isPoison?.(text))) return fail(424, 'Backend', 'Inference failed')
    return { status: 200, json: texts.map((text) => toyVector(text, dimensions)) }
  }
  const server = await openFaultyServer({
    routes: {
      'GET /info': () => ({ status: 200, json: info() }),
      'GET /health': () => ({ status: 200, text: '' }),
      'POST /embed': embed,
    },
    beforeRoute: ({ path, headers }) =>
      apiKey === undefined || path === '/health' || headers['authorization'] === `Bearer ${apiKey}`
        ? undefined
        : { status: 401, text: '' },
    // axum sends no body in either case.
    unknown: (_, isOtherMethod) => ({ status: isOtherMethod ? 405 : 404, text: '' }),
  })
  return Object.assign(server, {
    serve: ({ id = model.id, sha = model.sha, dimensions = size }: Parameters<TeiServer['serve']>[0]) => {
      model = { id, sha }
      size = dimensions
    },
  })
}

function fail(status: number, error_type: string, error: string): RouteAnswer {
  return { status, json: { error, error_type } }
}

/** Refuses bodies that axum and serde refuse before the service sees them. */
function refuseBody({ headers, text, json }: SeenRequest, payloadLimit: number): RouteAnswer | undefined {
  if (!(headers['content-type'] ?? '').startsWith('application/json')) {
    return { status: 415, text: 'Expected request with `Content-Type: application/json`' }
  }
  if (Buffer.byteLength(text) > payloadLimit) {
    return { status: 413, text: 'Failed to buffer the request body: length limit exceeded' }
  }
  if (json === undefined) return { status: 400, text: 'Failed to parse the request body as JSON' }
  const problem = findProblem(json)
  return problem === undefined
    ? undefined
    : { status: 422, text: `Failed to deserialize the JSON body into the target type: ${problem}` }
}

function findProblem(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return 'invalid type, expected a map'
  const body = json as Readonly<Record<string, unknown>>
  const stray = Object.keys(body).find((name) => !MEMBERS.includes(name))
  if (stray !== undefined) return `unknown field \`${stray}\``
  const { inputs, truncate = null, truncation_direction: direction = 'right', prompt_name: prompt = null } = body
  const { normalize = true, dimensions = null } = body
  const isTexts = Array.isArray(inputs) && inputs.every((one) => typeof one === 'string')
  if (inputs === undefined) return 'missing field `inputs`'
  if (typeof inputs !== 'string' && !isTexts) return 'inputs: data did not match any variant of untagged enum Input'
  if (truncate !== null && typeof truncate !== 'boolean') return 'truncate: invalid type, expected a boolean'
  if (direction !== 'left' && direction !== 'right') return 'truncation_direction: unknown variant'
  if (prompt !== null && typeof prompt !== 'string') return 'prompt_name: invalid type, expected a string'
  if (typeof normalize !== 'boolean') return 'normalize: invalid type, expected a boolean'
  if (dimensions !== null && !(Number.isInteger(dimensions) && Number(dimensions) > 0))
    return 'dimensions: expected usize'
  return undefined
}
