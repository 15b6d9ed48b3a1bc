import { PharosError } from './core/errors.ts'
import { refuseCredentials } from './core/url/credentials.ts'
import type { Clock, Fetcher, Renderer } from './crawl/ports.ts'
import type { ServiceEmbedderOptions } from './embed/service-embedder.ts'
import { createAddressCheck, systemResolve } from './fetch/address-check.ts'
import type { Allowance } from './fetch/addresses.ts'
import type { ServiceClient } from './fetch/service-client.ts'
import type { HttpClient } from './library/http-client.ts'
import type { Reranker } from './library/reranker.ts'
import type { Store } from './library/store.ts'
import type { VectorCopy } from './library/vector-copy.ts'
import type { Embedder, VectorIndex } from './library/vectors.ts'

/** Programs and services beside a library, as their owner configured them. Those that are not given are not used. */
export interface ConnectionOptions {
  /** The browser that pages are rendered with. @default the first that is found, when it is needed */
  readonly browser?: {
    readonly path?: string
    /** Pages at once. @default 2 */
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
  /** Makes vectors instead of the model of this machine. */
  readonly embedding?: EmbeddingOptions
  readonly reranking?: RerankingOptions
  /** Keeps a copy of all vectors, and finds the nearest. */
  readonly qdrant?: { readonly url: string; readonly collection?: string; readonly key?: string }
}

/** A service that makes vectors. */
export interface EmbeddingOptions
  extends Partial<Omit<ServiceEmbedderOptions, 'endpoint' | 'client' | 'clock' | 'signal'>> {
  /** Text Embeddings Inference, or whatever answers like OpenAI. */
  readonly type: 'tei' | 'openai'
  readonly endpoint: string
  /** What `openai` is asked for. */
  readonly model?: string
}

/** A service that judges hits. */
export interface RerankingOptions {
  readonly type: 'tei' | 'hosted'
  readonly endpoint: string
  /** What `hosted` is asked for. */
  readonly model?: string
  readonly key?: string
  /** @default 50 */
  readonly candidates?: number
  /** @default 1 s */
  readonly budgetMs?: number
}

/** What services are opened with. */
export interface ConnectionParts {
  readonly options: ConnectionOptions
  readonly userAgent: string
  /** What pages may be reached, also by a browser and by a service that fetches. */
  readonly allowance: Allowance
  readonly proxy: string | undefined
  readonly maxPageBytes: number | undefined
  readonly clock: Clock
}

/** The services of a library, each opened once, when it is first needed. */
export interface Connections {
  /** Undefined where no service is configured. */
  readonly openEmbedder: (() => Promise<Embedder>) | undefined
  readonly openReranker: () => Promise<Reranker | undefined>
  readonly openRenderer: () => Promise<Renderer>
  readonly openCrawl4AI: () => Promise<Fetcher>
  /** The vectors of a store, with their copy where there is one. */
  withCopy(vectors: VectorIndex, store: Store): Promise<{ readonly vectors: VectorIndex; readonly copy?: VectorCopy }>
  /** Closes all of them, also what is still being opened. Whatever is opened afterwards is refused with `INTERRUPTED`. */
  close(): Promise<void>
}

const CRAWL4AI = { endpoint: 'http://localhost:52004', timeoutMs: 60_000, concurrency: 5, retries: 3 }
const EMBEDDING = { batch: 32, batchBytes: 2 ** 20, timeoutMs: 30_000, textPrefix: '', queryPrefix: '' }
const RERANKING = { candidates: 50, budgetMs: 1000 }
const COLLECTION = 'pharos'
/** Time for the addresses of a host to be found. */
const RESOLVE_MS = 10_000

/** Prepares the services that are configured. Nothing is asked of them before it is needed. */
export function openConnections(parts: ConnectionParts): Connections {
  const { options, userAgent, allowance, clock } = parts
  const crawl4ai = { ...CRAWL4AI, ...options.crawl4ai }
  const origins = listOrigins(options, crawl4ai.endpoint)
  const { once, keep, close } = createKeeper()
  const openClient = keep(async (): Promise<ServiceClient> => {
    const { openServiceClient } = await import('./fetch/service-client.ts')
    return openServiceClient({ origins, userAgent })
  })
  // Opened with its first request: whoever configured nothing has no use for it.
  const client: HttpClient = { request: async (request) => (await openClient()).request(request) }
  const { embedding, reranking, qdrant } = options
  return {
    openEmbedder:
      embedding === undefined ? undefined : once((forget) => openEmbedding(embedding, client, clock, forget)),
    openReranker: once(async () => (reranking === undefined ? undefined : openReranking(reranking, client, clock))),
    openRenderer: keep(async () => {
      const [{ findBrowser }, { openChromiumRenderer }] = await Promise.all([
        import('./fetch/find-browser.ts'),
        import('./fetch/chromium-renderer.ts'),
      ])
      const { path, ...further } = options.browser ?? {}
      return openChromiumRenderer({
        executablePath: await findBrowser(path),
        userAgent,
        allowance,
        ...further,
        ...(parts.proxy === undefined ? {} : { proxy: parts.proxy }),
        ...(parts.maxPageBytes === undefined ? {} : { maxBytes: parts.maxPageBytes }),
      })
    }),
    openCrawl4AI: keep(async () => {
      const { openCrawl4AIFetcher } = await import('./fetch/crawl4ai-fetcher.ts')
      const checkAddress = createAddressCheck({ allowance, resolve: systemResolve, timeoutMs: RESOLVE_MS })
      return openCrawl4AIFetcher({ ...crawl4ai, client, clock, checkAddress })
    }),
    async withCopy(vectors, store) {
      if (qdrant === undefined) return { vectors }
      const [{ createQdrantCopy }, { createQdrantIndex }] = await Promise.all([
        import('./embed/qdrant-copy.ts'),
        import('./embed/qdrant-index.ts'),
      ])
      const copy = createQdrantCopy({
        collection: COLLECTION,
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

/** Opens things once, when they are first needed, until it is closed. */
interface Keeper {
  /**
   * Opens once what opens; a failure is not kept, so that it is tried again when it is next needed. So is what is of no use any more,
   * which it says by `forget`.
   */
  once<T>(open: (forget: () => void) => Promise<T>): () => Promise<T>
  /** The same for what has to be closed. */
  keep<T extends Closable>(open: () => Promise<T>): () => Promise<T>
  /** Closes what is kept, when it is open; whatever is wanted afterwards is refused. */
  close(): Promise<void>
}

interface Closable {
  close(): Promise<void>
}

function createKeeper(): Keeper {
  const kept = new Set<Promise<Closable>>()
  let isClosed = false
  const once: Keeper['once'] = <T>(open: (forget: () => void) => Promise<T>) => {
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
      // All at once: the end of the client is what ends an opening that waits for a service. What fails to open needs no end.
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

/** The origins that may be reached because somebody configured them. */
function listOrigins({ embedding, reranking, qdrant }: ConnectionOptions, crawl4ai: string): string[] {
  const places = [crawl4ai, embedding?.endpoint, reranking?.endpoint, qdrant?.url]
  return places.filter((place) => place !== undefined).map((place) => new URL(place).origin)
}

async function openEmbedding(
  options: EmbeddingOptions,
  client: HttpClient,
  clock: Clock,
  onOtherModel: () => void,
): Promise<Embedder> {
  const { type, model = '', ...further } = options
  const all = { ...EMBEDDING, ...further, client, clock, onOtherModel }
  return type === 'tei'
    ? (await import('./embed/tei-embedder.ts')).openTeiEmbedder(all)
    : (await import('./embed/openai-embedder.ts')).openOpenAiEmbedder({ ...all, model })
}

async function openReranking(options: RerankingOptions, client: HttpClient, clock: Clock): Promise<Reranker> {
  const { type, model = '', ...further } = options
  const all = { ...RERANKING, ...further, client, clock }
  return type === 'tei'
    ? (await import('./embed/rerank-tei.ts')).openTeiReranker(all)
    : (await import('./embed/rerank-hosted.ts')).openHostedReranker({ ...all, model })
}
