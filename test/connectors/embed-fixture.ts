import { openOpenAiEmbedder } from '../../src/embed/openai-embedder.ts'
import type { ServiceEmbedderOptions } from '../../src/embed/service-embedder.ts'
import { openTeiEmbedder } from '../../src/embed/tei-embedder.ts'
import { openServiceClient } from '../../src/fetch/service-client.ts'
import type { ServiceRequest } from '../../src/library/ports/http-client.ts'
import type { Embedder } from '../../src/library/ports/vectors.ts'
import { createQuickClock } from './quick-clock.ts'
import type { FaultyServer } from './servers/faults.ts'

/** A client whose timeout a test can shorten. */
export function createShortTimeoutClient(origin: string) {
  const client = openServiceClient({ origins: [origin], userAgent: 'Pharos/test' })
  let timeoutMs: number | undefined
  let isMatch = (_body: string): boolean => true
  return {
    /** Sets the timeout of requests whose body passes `appliesTo`; undefined restores the normal timeout. */
    setTimeoutMs: (ms: number | undefined, appliesTo: (body: string) => boolean = () => true): void => {
      timeoutMs = ms
      isMatch = appliesTo
    },
    request: (request: ServiceRequest) =>
      client.request(timeoutMs === undefined || !isMatch(String(request.body)) ? request : { ...request, timeoutMs }),
    close: () => client.close(),
  }
}

/** Options of an embedder besides its server. */
export type EmbedderTraits = Partial<ServiceEmbedderOptions> & { readonly model?: string }

/** Route, opener and body formats by kind of service. */
export const KINDS = {
  tei: {
    route: 'POST /embed',
    open: (options: ServiceEmbedderOptions) => openTeiEmbedder(options),
    textsOf: (body: unknown): readonly string[] => (body as { inputs: string[] }).inputs,
    answerOf: (vectors: readonly unknown[]): unknown => vectors,
  },
  openai: {
    route: 'POST /v1/embeddings',
    open: (options: ServiceEmbedderOptions & { readonly model?: string }) =>
      openOpenAiEmbedder({ model: 'text-embedding-3-small', ...options }),
    textsOf: (body: unknown): readonly string[] => (body as { input: string[] }).input,
    answerOf: (vectors: readonly unknown[]): unknown => ({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'm',
    }),
  },
} as const

export type Kind = keyof typeof KINDS

/** Opens embedders over servers, and closes everything at the end of a test. */
export function createEmbedFixture() {
  const closing: (() => Promise<void>)[] = []
  return {
    /** Closes `opened` when the test is over. */
    later: <T extends { close(): Promise<void> }>(opened: T): T => {
      closing.push(() => opened.close())
      return opened
    },
    open(kind: Kind, { origin }: Pick<FaultyServer, 'origin'>, traits: EmbedderTraits = {}): Promise<Embedder> {
      const client = openServiceClient({ origins: [origin], userAgent: 'Pharos/test' })
      closing.push(() => client.close())
      return KINDS[kind].open({
        endpoint: origin,
        batch: 4,
        batchBytes: 100_000,
        timeoutMs: 60_000,
        textPrefix: '',
        queryPrefix: '',
        client,
        clock: createQuickClock(),
        ...traits,
      })
    },
    async end(): Promise<void> {
      for (const close of closing.splice(0).reverse()) await close()
    },
  }
}
