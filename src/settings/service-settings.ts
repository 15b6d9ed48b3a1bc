import type { Setting } from './settings.ts'

/** Settings for search by meaning: the embedder, the reranker and Qdrant. */
export interface ServiceConfig {
  readonly embed: boolean
  /** 0 for all processors. */
  readonly embedThreads: number
  /** One of `built-in`, `tei`, `openai`. */
  readonly embedder: string
  /** Empty when there is none. */
  readonly embedEndpoint: string
  /** Empty if the service has only one model. */
  readonly embedModel: string
  /** Empty when there is none. Never shown. */
  readonly embedKey: string
  /** 0 for the dimensions of the model. */
  readonly embedDimensions: number
  readonly embedBatch: number
  readonly embedBatchBytes: number
  /** Milliseconds. */
  readonly embedTimeout: number
  readonly embedTextPrefix: string
  readonly embedQueryPrefix: string
  /** One of `none`, `tei`, `hosted`. */
  readonly reranker: string
  /** Empty when there is none. */
  readonly rerankEndpoint: string
  readonly rerankModel: string
  /** Empty when there is none. Never shown. */
  readonly rerankKey: string
  readonly rerankCandidates: number
  /** Milliseconds. */
  readonly rerankBudget: number
  /** Empty when there is none. */
  readonly qdrantUrl: string
  readonly qdrantCollection: string
  /** Empty when there is none. Never shown. */
  readonly qdrantKey: string
}

export const SERVICE_SETTINGS: Readonly<Record<keyof ServiceConfig, Setting>> = {
  embed: { type: 'switch', default: true, description: 'embed pages for search by meaning' },
  embedThreads: { type: 'count', default: 0, most: 256, description: 'number of processors for embedding, 0 for all' },
  embedder: {
    type: 'text',
    default: 'built-in',
    choices: ['built-in', 'tei', 'openai'],
    description: 'embedding model: built-in, tei (Text Embeddings Inference) or openai (any compatible service)',
  },
  embedEndpoint: {
    type: 'url',
    default: '',
    isSecret: true,
    key: 'embedKey',
    description: 'URL of the embedding service: http://localhost:8080 (tei), http://localhost:11434/v1 (openai)',
  },
  embedModel: {
    type: 'text',
    default: '',
    description: 'model of the embedding service; not needed for tei, which has only one',
  },
  embedKey: {
    type: 'text',
    default: '',
    hasFlag: false,
    isSecret: true,
    description: 'API key for the embedding service',
  },
  embedDimensions: {
    type: 'count',
    default: 0,
    most: 65_536,
    hasFlag: false,
    description: 'number of dimensions to request, 0 for the default of the model',
  },
  embedBatch: {
    type: 'count',
    default: 32,
    least: 1,
    most: 2048,
    hasFlag: false,
    description: 'texts in one request to the embedding service',
  },
  embedBatchBytes: {
    type: 'bytes',
    default: 2 ** 20,
    least: 1,
    hasFlag: false,
    description: 'bytes in one request to the embedding service',
  },
  embedTimeout: {
    type: 'duration',
    default: 30_000,
    least: 1,
    hasFlag: false,
    description: 'timeout for the embedding service',
  },
  embedTextPrefix: {
    type: 'text',
    default: '',
    hasFlag: false,
    isVerbatim: true,
    description: 'put this before every text, for models that want it ("passage: ")',
  },
  embedQueryPrefix: {
    type: 'text',
    default: '',
    hasFlag: false,
    isVerbatim: true,
    description: 'put this before every question ("query: ")',
  },
  reranker: {
    type: 'text',
    default: 'none',
    choices: ['none', 'tei', 'hosted'],
    description:
      'reranker for the best hits: none, tei (Text Embeddings Inference) or hosted (such as Jina, Cohere or vLLM)',
  },
  rerankEndpoint: {
    type: 'url',
    default: '',
    isSecret: true,
    key: 'rerankKey',
    description: 'URL of the reranker: http://localhost:8081 (tei), https://api.jina.ai/v1 (hosted)',
  },
  rerankModel: {
    type: 'text',
    default: '',
    hasFlag: false,
    description: 'model of the reranker; not needed for tei, which has only one',
  },
  rerankKey: { type: 'text', default: '', hasFlag: false, isSecret: true, description: 'API key for the reranker' },
  rerankCandidates: {
    type: 'count',
    default: 50,
    least: 1,
    most: 100,
    hasFlag: false,
    description: 'number of hits to rerank',
  },
  rerankBudget: {
    type: 'duration',
    default: 1000,
    least: 1,
    hasFlag: false,
    description: 'timeout for the reranker; after that the answer is not reranked',
  },
  qdrantUrl: {
    type: 'url',
    default: '',
    isSecret: true,
    key: 'qdrantKey',
    description: 'URL of a Qdrant that keeps a copy of all vectors and finds the nearest ones',
  },
  qdrantCollection: { type: 'text', default: 'pharos', hasFlag: false, description: 'Qdrant collection to use' },
  qdrantKey: { type: 'text', default: '', hasFlag: false, isSecret: true, description: 'API key for Qdrant' },
}
