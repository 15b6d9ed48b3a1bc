import { type FaultyServer, openFaultyServer, type RouteAnswer, type SeenRequest } from './faults.ts'
import { toyVector } from './toy-vectors.ts'

/** Options of the server, and its differences from OpenAI. */
export interface OpenAiOptions {
  /** Its models, with the dimensions of each. @default `text-embedding-3-small` with 8 dimensions */
  readonly models?: Readonly<Record<string, number>>
  readonly apiKey?: string
  /** Maximum number of texts per request. @default 2048 */
  readonly maxTexts?: number
  /** Whether a text is too long for the model. */
  readonly isTooLong?: (text: string) => boolean
  /** Status for a text that is too long: OpenAI and vLLM answer 400, llama.cpp 500. @default 400 */
  readonly tooLongStatus?: 400 | 500
  /** Path of the route. The default is also that of Ollama, LM Studio and vLLM. @default '/v1/embeddings' */
  readonly path?: string
  /** Whether the vectors come in the reverse order of the texts. @default false */
  readonly isReversed?: boolean
}

/** Members of `CreateEmbeddingRequest`, which allows no others. */
const MEMBERS = ['input', 'model', 'encoding_format', 'dimensions', 'user']
const MAX_TEXTS = 2048

/**
 * A server that follows `POST /embeddings` of openai/openai-openapi (`CreateEmbeddingRequest`, `CreateEmbeddingResponse`): `input` is
 * one text or 1 to 2048 texts, none of them empty; `additionalProperties: false`; errors `{error: {message, type, param, code}}` with
 * 400 invalid_request_error, 401 invalid_api_key, 404 model_not_found, 405.
 */
export async function openOpenAiServer(options: OpenAiOptions = {}): Promise<FaultyServer> {
  const { models = { 'text-embedding-3-small': 8 }, apiKey, path = '/v1/embeddings', isReversed = false } = options
  const { maxTexts = MAX_TEXTS, isTooLong = () => false, tooLongStatus = 400 } = options
  const embed = (request: SeenRequest): RouteAnswer => {
    const { headers, json } = request
    if (!(headers['content-type'] ?? '').startsWith('application/json') || json === undefined) {
      return fail(400, 'We could not parse the JSON body of your request.', null, null)
    }
    const refusal = refuseBody(json as Readonly<Record<string, unknown>>, maxTexts)
    if (refusal !== undefined) return refusal
    const { model, input, dimensions } = json as { model: string; input: string | string[]; dimensions?: number }
    const size = models[model]
    if (size === undefined) {
      return fail(
        404,
        `The model \`${model}\` does not exist or you do not have access to it.`,
        null,
        'model_not_found',
      )
    }
    if (dimensions !== undefined && dimensions > size) {
      return fail(
        400,
        `Invalid value for 'dimensions' = ${dimensions}. Must be less than or equal to ${size}.`,
        'dimensions',
        null,
      )
    }
    const texts = typeof input === 'string' ? [input] : input
    if (texts.some(isTooLong)) {
      return tooLongStatus === 400
        ? fail(400, "This model's maximum context length is 8192 tokens.", null, null)
        : {
            status: 500,
            json: { error: { code: 500, message: 'input is too large to process', type: 'server_error' } },
          }
    }
    const data = texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: toyVector(text, dimensions ?? size),
    }))
    if (isReversed) data.reverse()
    return { status: 200, json: { object: 'list', data, model, usage: { prompt_tokens: 5, total_tokens: 5 } } }
  }
  return openFaultyServer({
    routes: { [`POST ${path}`]: embed },
    beforeRoute: ({ headers }) => {
      const { authorization = '' } = headers
      if (apiKey === undefined || authorization === `Bearer ${apiKey}`) return undefined
      // The message repeats the given key, as that of OpenAI does.
      return fail(401, `Incorrect API key provided: ${authorization.slice(7)}.`, null, 'invalid_api_key')
    },
    unknown: ({ method, path: requestedPath }, isOtherMethod) =>
      isOtherMethod
        ? fail(405, `Not allowed to ${method} on ${requestedPath}.`, null, 'method_not_supported')
        : fail(404, `Invalid URL (${method} ${requestedPath})`, null, null),
  })
}

function fail(status: number, message: string, param: string | null, code: string | null): RouteAnswer {
  return { status, json: { error: { message, type: 'invalid_request_error', param, code } } }
}

function refuseBody(body: Readonly<Record<string, unknown>>, maxTexts: number): RouteAnswer | undefined {
  const stray = Object.keys(body).find((name) => !MEMBERS.includes(name))
  if (stray !== undefined) return fail(400, `Unrecognized request argument supplied: ${stray}`, null, null)
  const { model, input, encoding_format: format = 'float', dimensions = 1, user = '' } = body
  if (typeof model !== 'string' || model === '') return fail(400, 'you must provide a model parameter', null, null)
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input]
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string' || text === '')) {
    return fail(400, "'$.input' is invalid. Please check the API reference.", null, null)
  }
  if (texts.length > maxTexts) {
    return fail(
      400,
      `Invalid 'input': array too long. Expected at most ${maxTexts}.`,
      'input',
      'array_above_max_length',
    )
  }
  if (format !== 'float' && format !== 'base64') return fail(400, 'Invalid encoding_format', 'encoding_format', null)
  if (!(Number.isInteger(dimensions) && Number(dimensions) > 0))
    return fail(400, 'Invalid dimensions', 'dimensions', null)
  return typeof user === 'string' ? undefined : fail(400, 'Invalid user', 'user', null)
}
