import type { EmbeddingEngine } from '../../../src/core/embedding/engine.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { createPackTexts } from '../../../src/core/pack/pack-texts.ts'
import type { PackVectors } from '../../../src/core/pack/pack-vectors.ts'
import { type Task, turn } from './task.ts'

/** What chunks are embedded of, and how. */
export interface Embedding {
  readonly pack: Pack
  readonly vectors: PackVectors
  readonly engine: EmbeddingEngine
  readonly task: Task
  /** Resolves when nothing else is to be done. */
  readonly untilIdle: () => Promise<void>
  /** Keeps the vectors that there are so far. */
  readonly keep: () => Promise<void>
}

/** Texts of one pass of the model: a question waits for no more than that. */
const BATCH_CHARS = 500
const BATCH_TEXTS = 8

/** Vectors are kept this often, so that a closed tab loses little. */
const KEEP_EVERY_MS = 20_000

/** Embeds the chunks that have no vector yet. Everything else comes first. */
export async function embedChunks({ pack, vectors, engine, task, untilIdle, keep }: Embedding): Promise<void> {
  const texts = createPackTexts(pack)
  const total = pack.chunks.length
  let keptAt = performance.now()
  let isChanged = false
  for (let position = 0; position < total; ) {
    await untilIdle()
    task.signal.throwIfAborted()
    const batch = new Map<number, string>()
    let chars = 0
    // The language of a file is looked for with its first chunk, so many chunks without a vector take their time as well.
    for (let looked = 0; position < total && chars < BATCH_CHARS && looked < BATCH_TEXTS; position++) {
      if (vectors.has(position)) continue
      looked++
      const text = texts.at(position)
      if (text === null) continue
      batch.set(position, text)
      chars += text.length
    }
    const found = engine.embed([...batch.values()])
    for (const [i, at] of [...batch.keys()].entries()) vectors.set(at, found[i] ?? new Float32Array())
    isChanged ||= batch.size > 0
    task.progress({ stage: 'embedding', done: position, total })
    if (isChanged && performance.now() - keptAt > KEEP_EVERY_MS) {
      await keep()
      keptAt = performance.now()
      isChanged = false
    }
    await turn()
  }
  if (isChanged) await keep()
}
