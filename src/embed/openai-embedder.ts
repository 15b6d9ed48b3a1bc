import type { Embedder } from '../library/ports/vectors.ts'
import { openServiceEmbedder, type ServiceEmbedderOptions } from './service-embedder.ts'
import type { EmbeddingProtocol } from './service-session.ts'

/** Endpoint and model of an OpenAI-compatible service. */
export interface OpenAiEmbedderOptions extends ServiceEmbedderOptions {
  readonly model: string
}

/** Opens a model of OpenAI, or of any service with the same API: Ollama, LM Studio, vLLM, llama.cpp, LocalAI. */
export function openOpenAiEmbedder(options: OpenAiEmbedderOptions): Promise<Embedder> {
  return openServiceEmbedder(options, createOpenAiProtocol(options))
}

function createOpenAiProtocol({ endpoint, model, dimensions }: OpenAiEmbedderOptions): EmbeddingProtocol {
  return {
    service: 'the embedding service',
    url: resolveEndpoint(endpoint),
    // Optional fields are sent only when set, because not every service supports them.
    writeBody: (input) => ({
      model,
      input,
      encoding_format: 'float',
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    readVectors,
    readModel: async () => ({ model, revision: '' }),
  }
}

/** Accepts `http://localhost:11434`, the same with `/v1`, or the full URL. Other path segments belong to a gateway and stay. */
function resolveEndpoint(endpoint: string): string {
  const url = new URL(endpoint)
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  if (!path.endsWith('/embeddings')) url.pathname = `${path === '' ? '/v1' : path}/embeddings`
  return url.href
}

/** The vectors sorted by index, because not every service returns them in order. */
function readVectors(answer: unknown): readonly unknown[] | undefined {
  const { data } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (!Array.isArray(data)) return undefined
  const vectors: unknown[] = []
  for (const item of data as readonly unknown[]) {
    const { index, embedding } = (item ?? {}) as Readonly<Record<string, unknown>>
    if (typeof index !== 'number' || !(index in data) || index in vectors) return undefined
    vectors[index] = embedding
  }
  return vectors
}
