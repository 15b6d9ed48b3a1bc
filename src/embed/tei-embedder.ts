import type { Embedder } from '../library/ports/vectors.ts'
import { ServiceFailure } from '../library/service-call.ts'
import { openServiceEmbedder, type ServiceEmbedderOptions } from './service-embedder.ts'
import type { EmbeddingProtocol, ServedModel } from './service-session.ts'

const SERVICE = 'Text Embeddings Inference'

/** Opens the model of a Text Embeddings Inference server. */
export function openTeiEmbedder(options: ServiceEmbedderOptions): Promise<Embedder> {
  return openServiceEmbedder(options, createTeiProtocol(options))
}

function createTeiProtocol({ endpoint, dimensions }: ServiceEmbedderOptions): EmbeddingProtocol {
  const addressOf = (path: string): string => {
    const url = new URL(endpoint)
    url.pathname = url.pathname.replace(API_PATH, '') + path
    return url.href
  }
  return {
    service: SERVICE,
    url: addressOf('/embed'),
    writeBody: (inputs) => ({
      inputs,
      truncate: true,
      normalize: true,
      ...(dimensions === undefined ? {} : { dimensions }),
    }),
    readVectors: (answer) => (Array.isArray(answer) ? answer : undefined),
    readModel: async (call) => readInfo(await call({ method: 'GET', url: addressOf('/info') })),
  }
}

/** Paths that users append to the endpoint. */
const API_PATH = /(?:(?:\/(?:embed|info|v1|v1\/embeddings))|(?<!\/))\/*$/

/** Reads the model of TEI: https://huggingface.github.io/text-embeddings-inference, `GET /info`. */
function readInfo(answer: unknown): ServedModel {
  const info = (answer ?? {}) as Readonly<Record<string, unknown>>
  const { model_id: model, model_sha: revision, model_type: type, max_client_batch_size: maxTexts } = info
  const refuse = (problem: string): ServiceFailure => new ServiceFailure('bad-answer', `${SERVICE} ${problem}`)
  if (typeof model !== 'string') throw refuse('does not report its model')
  const { embedding } = (type ?? {}) as Readonly<Record<string, unknown>>
  // Servers from 2023 report no type.
  if (type !== undefined && embedding === undefined) throw refuse(`serves ${model}, which is not an embedding model`)
  return {
    model,
    // The revision includes pooling, which changes vectors as much as the weights do.
    revision: JSON.stringify([revision ?? null, embedding ?? null]),
    ...(typeof maxTexts === 'number' && maxTexts >= 1 ? { maxTexts } : {}),
  }
}
