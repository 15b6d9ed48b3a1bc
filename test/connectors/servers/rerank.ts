import {
  type FaultyServer,
  type FaultyServerOptions,
  openFaultyServer,
  type RouteAnswer,
  type SeenRequest,
} from './faults.ts'

/** How well a text answers a question, from 0 to 1. */
export type JudgeText = (query: string, text: string) => number

/** Configuration of a TEI server. */
export interface TeiRerankerOptions {
  readonly judge: JudgeText
  /** `--max-client-batch-size`. @default 32 */
  readonly maxClientBatchSize?: number
  /** `--payload-limit`, in bytes. @default 2_000_000 */
  readonly payloadLimit?: number
  /** `--api-key`. @default none */
  readonly apiKey?: string
  /** Whether the model is an embedding model: such a server has the route and refuses requests. @default false */
  readonly isEmbedding?: boolean
}

/**
 * A test server for TEI with a reranker, after router/src/http/server.rs and types.rs (huggingface/text-embeddings-inference):
 * `ErrorType` Validation is 413, Tokenizer 422, Backend 424, Overloaded 429, Unhealthy 503. axum refuses other content types with 415,
 * invalid JSON with 400, a wrong schema with 422, and a body over the payload limit with 413. serde ignores unknown fields, but this server
 * refuses them, because they mean a misspelling.
 */
export function openTeiRerankServer(options: TeiRerankerOptions): Promise<FaultyServer> {
  const { apiKey, judge, maxClientBatchSize = 32, payloadLimit = 2_000_000, isEmbedding = false } = options
  const refuse = (status: number, error_type: string, error: string): RouteAnswer => {
    return { status, json: { error, error_type } }
  }
  return openFaultyServer({
    ...withKey(apiKey, () => ({ status: 401, text: '' })),
    unknown: (_, isOtherMethod) => ({ status: isOtherMethod ? 405 : 404, text: '' }),
    routes: {
      'GET /health': () => ({ status: 200, text: '' }),
      'GET /info': () => ({
        status: 200,
        json: {
          model_id: 'BAAI/bge-reranker-base',
          model_type: isEmbedding ? { embedding: { pooling: 'cls' } } : { reranker: { id2label: { 0: 'LABEL_0' } } },
          max_client_batch_size: maxClientBatchSize,
          version: '1.8.2',
        },
      }),
      'POST /rerank': (request) => {
        const problem = findBodyProblem(request, payloadLimit, TEI_MEMBERS)
        if (problem !== undefined) return { status: problem.status, text: problem.text }
        const { query, texts, raw_scores } = request.json as TeiBody
        if (texts.length === 0) return refuse(413, 'Validation', '`texts` cannot be empty')
        if (isEmbedding) return refuse(424, 'Backend', 'model is not a re-ranker model')
        if (texts.length > maxClientBatchSize) {
          const error = `batch size ${texts.length} > maximum allowed batch size ${maxClientBatchSize}`
          return refuse(413, 'Validation', error)
        }
        const ranks = texts.map((text, index) => ({ index, score: judge(query, text) * (raw_scores ? 10 : 1) }))
        return { status: 200, json: ranks.sort((a, b) => b.score - a.score) }
      },
    },
  })
}

interface TeiBody {
  readonly query: string
  readonly texts: readonly string[]
  readonly raw_scores?: boolean
}

/** The members of a body: how each is checked, and whether it is required. */
type Members = Readonly<Record<string, { readonly isValid: (value: unknown) => boolean; readonly isRequired: boolean }>>

const isText = (value: unknown): boolean => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value) && value > 0

const TEI_MEMBERS: Members = {
  query: { isValid: isText, isRequired: true },
  texts: { isValid: isTexts, isRequired: true },
  truncate: { isValid: (value) => value === null || isBoolean(value), isRequired: false },
  truncation_direction: { isValid: (value) => value === 'Left' || value === 'Right', isRequired: false },
  raw_scores: { isValid: isBoolean, isRequired: false },
  return_text: { isValid: isBoolean, isRequired: false },
}

/** The vendor whose API a hosted service follows. */
export type RerankVendor = 'cohere' | 'jina' | 'voyage'

/** Configuration of a hosted service. */
export interface HostedRerankerOptions {
  readonly vendor: RerankVendor
  readonly judge: JudgeText
  readonly apiKey: string
  readonly model: string
}

/** Differences between the vendors. */
const VENDORS: Readonly<
  Record<
    RerankVendor,
    {
      readonly path: string
      readonly members: Members
      readonly maxDocuments: number
      /** Status for an invalid body. */
      readonly status: number
      readonly refuse: (text: string) => unknown
      readonly write: (judged: readonly Judged[]) => unknown
    }
  >
> = {
  // docs.cohere.com/v2/reference/rerank: 400 for a bad body, 401, 422 for unknown members; errors are {"message"}.
  cohere: {
    path: '/v2/rerank',
    members: hostedMembers({ top_n: isCount, max_tokens_per_doc: isCount, priority: isCount }),
    maxDocuments: 10_000,
    status: 422,
    refuse: (message) => ({ id: '1', message }),
    write: (results) => ({
      id: '1',
      results,
      meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
    }),
  },
  // api.jina.ai/redoc (rerank): FastAPI, 422 {"detail": …}; documents come back unless return_documents is false.
  jina: {
    path: '/v1/rerank',
    members: hostedMembers({ top_n: isCount, return_documents: isBoolean, truncation: isBoolean }),
    maxDocuments: 2048,
    status: 422,
    refuse: (detail) => ({ detail }),
    write: (judged) => ({
      model: 'm',
      object: 'list',
      usage: { total_tokens: 1 },
      results: judged.map((one) => ({ ...one, document: { text: 'the text' } })),
    }),
  },
  // docs.voyageai.com/reference/reranker-api: `top_k`, `data`, at most 1,000 documents, 400 {"detail": …} for unknown members.
  voyage: {
    path: '/v1/rerank',
    members: hostedMembers({ top_k: isCount, return_documents: isBoolean, truncation: isBoolean }),
    maxDocuments: 1000,
    status: 400,
    refuse: (detail) => ({ detail }),
    write: (data) => ({ object: 'list', data, model: 'm', usage: { total_tokens: 1 } }),
  },
}

interface Judged {
  readonly index: number
  readonly relevance_score: number
}

function hostedMembers(others: Readonly<Record<string, (value: unknown) => boolean>>): Members {
  const optional = Object.entries(others).map(([name, isValid]) => [name, { isValid, isRequired: false }])
  return {
    model: { isValid: isText, isRequired: true },
    query: { isValid: isText, isRequired: true },
    documents: { isValid: isTexts, isRequired: true },
    ...Object.fromEntries(optional),
  }
}

/** A hosted reranker that refuses whatever its documentation does not allow. */
export function openHostedRerankServer({ vendor, judge, apiKey, model }: HostedRerankerOptions): Promise<FaultyServer> {
  const { path, members, maxDocuments, status, refuse, write } = VENDORS[vendor]
  return openFaultyServer({
    ...withKey(apiKey, ({ headers }) => ({
      status: 401,
      json: refuse(`invalid api token: ${headers['authorization']}`),
    })),
    routes: {
      [`POST ${path}`]: (request) => {
        const problem = findBodyProblem(request, Number.POSITIVE_INFINITY, members)
        if (problem !== undefined) return { status: problem.status === 422 ? status : 400, json: refuse(problem.text) }
        const body = request.json as { model: string; query: string; documents: string[]; top_n?: number }
        if (body.model !== model) return { status: 404, json: refuse(`model '${body.model}' not found`) }
        if (body.query === '') return { status: 400, json: refuse('query must not be empty') }
        if (body.documents.length === 0 || body.documents.length > maxDocuments) {
          return { status: 400, json: refuse(`expected 1 to ${maxDocuments} documents`) }
        }
        const judged = body.documents.map((text, index) => ({ index, relevance_score: judge(body.query, text) }))
        judged.sort((a, b) => b.relevance_score - a.relevance_score)
        return { status: 200, json: write(judged.slice(0, body.top_n ?? judged.length)) }
      },
    },
  })
}

function withKey(
  key: string | undefined,
  refuse: (request: SeenRequest) => RouteAnswer,
): Pick<FaultyServerOptions, 'beforeRoute'> {
  if (key === undefined) return {}
  return {
    beforeRoute: (request) => (request.headers['authorization'] === `Bearer ${key}` ? undefined : refuse(request)),
  }
}

/** Finds the problem in a body: its type, its size, its JSON, or one of its fields. */
function findBodyProblem(
  { headers, text, json }: SeenRequest,
  maxBytes: number,
  members: Members,
): { readonly status: number; readonly text: string } | undefined {
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) {
    return { status: 415, text: 'Expected request with `Content-Type: application/json`' }
  }
  if (Buffer.byteLength(text) > maxBytes) return { status: 413, text: 'length limit exceeded' }
  if (typeof json !== 'object' || json === null)
    return { status: 400, text: 'Failed to parse the request body as JSON' }
  const given = json as Readonly<Record<string, unknown>>
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(members, name))
  if (unknown !== undefined) return { status: 422, text: `unknown field: ${unknown}` }
  for (const [name, { isValid, isRequired }] of Object.entries(members)) {
    if (given[name] === undefined ? isRequired : !isValid(given[name])) return { status: 422, text: `invalid ${name}` }
  }
  return undefined
}
