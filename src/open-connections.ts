import { PharosError } from './core/errors.ts'
import { refuseCredentials } from './core/url/credentials.ts'
import { withoutUndefined } from './core/without-undefined.ts'
import type { Clock, Fetcher, Renderer } from './crawl/ports.ts'
import type { ServiceEmbedderOptions } from './embed/service-embedder.ts'
import { createAddressCheck, systemResolve } from './fetch/address-check.ts'
import type { Allowance } from './fetch/addresses.ts'
import type { ServiceClient } from './fetch/service-client.ts'
import type { HttpClient } from './library/ports/http-client.ts'
import type { Reranker } from './library/ports/reranker.ts'
import type { Store } from './library/ports/store.ts'
import type { VectorCopy } from './library/ports/vector-copy.ts'
import type { Embedder, VectorIndex } from './library/ports/vectors.ts'

/**
 * Programs and services beside a library, as configured by the user. Embedding, reranking and Qdrant are used only if given; the browser
 * and Crawl4AI have defaults.
 */
export interface ConnectionOptions {
  /** The browser that renders pages. @default the first one found, when it is needed */
  readonly browser?: {
    readonly path?: string
    /** Maximum concurrent pages. @default 2 */
    readonly concurrency?: number
    /** Time after which a page is taken as it is, in milliseconds. @default 30 s */
    readonly timeoutMs?: number
  }
  readonly crawl4ai?: {
    readonly endpoint: string
    readonly token?: string
    /** @default 60 s */
    readonly timeoutMs?: number
    /** @default 5 */
    readonly concurrency?: number
    /** @default 3 */
    readonly retries?: number
  }
  /** Creates vectors in place of the built-in model. */
  readonly embedding?: EmbeddingOptions
  readonly reranking?: RerankingOptions
  /** Stores a copy of all vectors and finds the nearest. */
  readonly qdrant?: { readonly url: string; readonly collection?: string; readonly key?: string }
}

/** A service that creates vectors. */
export interface EmbeddingOptions
  extends Partial<Omit<ServiceEmbedderOptions, 'endpoint' | 'client' | 'clock' | 'signal'>> {
  /** Text Embeddings Inference, or any service with the API of OpenAI. */
  readonly type: 'tei' | 'openai'
  readonly endpoint: string
  /** Model name for `openai`. */
  readonly model?: string
}

/** A service that reranks hits. */
export interface RerankingOptions {
  readonly type: 'tei' | 'hosted'
  readonly endpoint: string
  /** Model name for `hosted`. */
  readonly model?: string
  readonly key?: string
  /** @default 50 */
  readonly candidates?: number
  /** @default 1 s */
  readonly budgetMs?: number
}

/** Dependencies of the services. */
export interface ConnectionParts {
  readonly options: ConnectionOptions
  readonly userAgent: string
  /** Which addresses pages may be fetched from, also by a browser or a fetching service. */
  readonly allowance: Allowance
  readonly proxy: string | undefined
  readonly maxPageBytes: number | undefined
  readonly clock: Clock
}

/** The services of a library, each opened once on first use. */
export interface Connections {
  /** Undefined if no service is configured. */
  readonly openEmbedder: (() => Promise<Embedder>) | undefined
  readonly openReranker: () => Promise<Reranker | undefined>
  readonly openRenderer: () => Promise<Renderer>
  readonly openCrawl4AI: () => Promise<Fetcher>
  /** Adds the copy in Qdrant to the vectors of a store, if one is configured. */
  withVectorCopy(
    vectors: VectorIndex,
    store: Store,
  ): Promise<{ readonly vectors: VectorIndex; readonly copy?: VectorCopy }>
  /** Closes all services, including those still being opened. Later calls throw `INTERRUPTED`. */
  close(): Promise<void>
}

const CRAWL4AI_DEFAULTS = { endpoint: 'http://localhost:52004', timeoutMs: 60_000, concurrency: 5, retries: 3 }
const EMBEDDING_DEFAULTS = { batch: 32, batchBytes: 2 ** 20, timeoutMs: 30_000, textPrefix: '', queryPrefix: '' }
const RERANKING_DEFAULTS = { candidates: 50, budgetMs: 1000 }
const DEFAULT_COLLECTION = 'pharos'
/** Timeout for resolving a host. */
const RESOLVE_TIMEOUT_MS = 10_000

/** Prepares the configured services. Sends no request before a service is needed. */
export function openConnections(parts: ConnectionParts): Connections {
  const { options, userAgent, allowance, clock } = parts
  const crawl4ai = { ...CRAWL4AI_DEFAULTS, ...options.crawl4ai }
  const origins = listOrigins(options, crawl4ai.endpoint)
  const { once, keep, close } = createLazyResources()
  const openClient = keep(async (): Promise<ServiceClient> => {
    const { openServiceClient } = await import('./fetch/service-client.ts')
    return openServiceClient({ origins, userAgent })
  })
  // The client is opened with its first request, because a user without services does not need it.
  const client: HttpClient = { request: async (request) => (await openClient()).request(request) }
  const { embedding, reranking, qdrant } = options
  return {
    openEmbedder:
      embedding === undefined ? undefined : once((forget) => openEmbedding(embedding, client, clock, forget)),
    openReranker: once(async () => (reranking === undefined ? undefined : openReranking(reranking, client, clock))),
    openRenderer: keep(async () => {
      const [{ findBrowser }, { openChromiumRenderer }] = await Promise.all([
        import('./fetch/chromium/find-browser.ts'),
        import('./fetch/chromium/renderer.ts'),
      ])
      const { path, ...further } = options.browser ?? {}
      return openChromiumRenderer({
        executablePath: await findBrowser(path),
        userAgent,
        allowance,
        ...further,
        ...withoutUndefined({ proxy: parts.proxy, maxBytes: parts.maxPageBytes }),
      })
    }),
    openCrawl4AI: keep(async () => {
      const { openCrawl4AIFetcher } = await import('./fetch/crawl4ai-fetcher.ts')
      const checkAddress = createAddressCheck({ allowance, resolve: systemResolve, timeoutMs: RESOLVE_TIMEOUT_MS })
      return openCrawl4AIFetcher({ ...crawl4ai, client, clock, checkAddress })
    }),
    async withVectorCopy(vectors, store) {
      if (qdrant === undefined) return { vectors }
      const [{ createQdrantCopy }, { createQdrantIndex }] = await Promise.all([
        import('./embed/qdrant-copy.ts'),
        import('./embed/qdrant-index.ts'),
      ])
      const copy = createQdrantCopy({
        collection: DEFAULT_COLLECTION,
        ...qdrant,
        library: await vectors.readLibraryId(),
        client,
        clock,
      })
      return { vectors: createQdrantIndex({ vectors, copy, store, clock }), copy }
    },
    close,
  }
}

/** Opens each resource on first use, and only once. After `close`, opening throws. */
interface LazyResources {
  /**
   * Returns a function that opens once. A failure is not cached, so that the next call tries again. `forget` drops a result that is no
   * longer useful, so that the next call opens again.
   */
  once<T>(open: (forget: () => void) => Promise<T>): () => Promise<T>
  /** Like `once`, for resources that must be closed. */
  keep<T extends Closable>(open: () => Promise<T>): () => Promise<T>
  /** Closes everything that `keep` opened; later calls throw. */
  close(): Promise<void>
}

interface Closable {
  close(): Promise<void>
}

function createLazyResources(): LazyResources {
  const kept = new Set<Promise<Closable>>()
  let isClosed = false
  const once: LazyResources['once'] = <T>(open: (forget: () => void) => Promise<T>) => {
    let opened: Promise<T> | undefined
    const forget = (): void => {
      opened = undefined
    }
    return async () => {
      if (isClosed) throw new PharosError('INTERRUPTED')
      opened ??= open(forget).catch((error: unknown) => {
        forget()
        throw error
      })
      return opened
    }
  }
  return {
    once,
    keep: (open) =>
      once(() => {
        const opening = open()
        kept.add(opening)
        opening.catch(() => kept.delete(opening))
        return opening
      }),
    async close() {
      isClosed = true
      // Closes all resources concurrently: closing the HTTP client aborts an `open` that is still waiting for a service, which would
      // otherwise block here. A resource that failed to open needs no close.
      await Promise.all([...kept].map(async (opening) => (await opening.catch(() => undefined))?.close()))
    },
  }
}

/** Refuses passwords in the addresses of services. */
export function refusePasswords({ embedding, reranking, qdrant, crawl4ai }: ConnectionOptions): void {
  refuseCredentials('embedding.endpoint', embedding?.endpoint ?? '', 'key')
  refuseCredentials('reranking.endpoint', reranking?.endpoint ?? '', 'key')
  refuseCredentials('qdrant.url', qdrant?.url ?? '', 'key')
  refuseCredentials('crawl4ai.endpoint', crawl4ai?.endpoint ?? '', 'token')
}

/** The only origins that the service client may contact. */
function listOrigins({ embedding, reranking, qdrant }: ConnectionOptions, crawl4ai: string): string[] {
  const endpoints = [crawl4ai, embedding?.endpoint, reranking?.endpoint, qdrant?.url]
  return endpoints.filter((endpoint) => endpoint !== undefined).map((endpoint) => new URL(endpoint).origin)
}

async function openEmbedding(
  options: EmbeddingOptions,
  client: HttpClient,
  clock: Clock,
  onOtherModel: () => void,
): Promise<Embedder> {
  const { type, model = '', ...further } = options
  const all = { ...EMBEDDING_DEFAULTS, ...further, client, clock, onOtherModel }
  return type === 'tei'
    ? (await import('./embed/tei-embedder.ts')).openTeiEmbedder(all)
    : (await import('./embed/openai-embedder.ts')).openOpenAiEmbedder({ ...all, model })
}

async function openReranking(options: RerankingOptions, client: HttpClient, clock: Clock): Promise<Reranker> {
  const { type, model = '', ...further } = options
  const all = { ...RERANKING_DEFAULTS, ...further, client, clock }
  return type === 'tei'
    ? (await import('./embed/rerank-tei.ts')).openTeiReranker(all)
    : (await import('./embed/rerank-hosted.ts')).openHostedReranker({ ...all, model })
}
