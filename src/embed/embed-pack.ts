import type { Pack } from '../core/pack/pack.ts'
import { createPackTexts } from '../core/pack/pack-texts.ts'
import { PackVectors } from '../core/pack/pack-vectors.ts'
import { openBuiltInEmbedder } from './built-in-embedder.ts'

/** How a pack is embedded. */
export interface EmbedPackOptions {
  readonly signal?: AbortSignal
  /** Called with the number of chunks that have a vector. */
  readonly onProgress?: (done: number, total: number) => void
}

/** Embeds questions with the built-in model. */
export interface QuestionEmbedder {
  embed(query: string, signal?: AbortSignal): Promise<Float32Array>
  close(): Promise<void>
}

/** Opens a question embedder; the model is loaded with the first question. */
export function openQuestionEmbedder(): QuestionEmbedder {
  const embedder = openBuiltInEmbedder()
  return {
    async embed(query, signal) {
      const [vector = new Float32Array()] = await embedder.embed([query], signal, 'query')
      return vector
    },
    close: () => embedder.close(),
  }
}

/** Embeds the chunks of a pack with the built-in model, with one thread per processor. */
export async function embedPack(pack: Pack, { signal, onProgress }: EmbedPackOptions = {}): Promise<PackVectors> {
  const embedder = openBuiltInEmbedder()
  try {
    const vectors = new PackVectors(embedder.space, pack.chunks.length)
    const texts = createPackTexts(pack)
    const missing = texts.listMissing(vectors)
    const { batchSize = 1 } = embedder
    for (let start = 0; start < missing.length; start += batchSize) {
      onProgress?.(start, missing.length)
      const positions = missing.slice(start, start + batchSize)
      const found = await embedder.embed(
        positions.map((position) => texts.at(position) ?? ''),
        signal,
      )
      for (const [i, position] of positions.entries()) vectors.set(position, found[i] ?? new Float32Array())
    }
    return vectors
  } finally {
    await embedder.close()
  }
}
