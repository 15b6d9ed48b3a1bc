import type { EmbeddingEngine } from '../../../src/core/embedding/engine.ts'
import type { Pack } from '../../../src/core/pack/pack.ts'
import { createPackTexts } from '../../../src/core/pack/pack-texts.ts'
import type { PackVectors } from '../../../src/core/pack/pack-vectors.ts'
import { nextEventLoopTurn, type Task } from './task.ts'

/** The chunks to embed, and the engine. */
export interface EmbedOptions {
  readonly pack: Pack
  readonly vectors: PackVectors
  readonly engine: EmbeddingEngine
  readonly task: Task
  /** Resolves when no other operation is running. */
  readonly untilIdle: () => Promise<void>
  /** Saves the vectors computed so far. */
  readonly save: () => Promise<void>
}

/** Limits of one batch. A query waits for at most one batch. */
const BATCH_CHARS = 500
const BATCH_TEXTS = 8

/** Interval for saving vectors, so that a reload or a closed tab loses little work; longer if saving takes long. */
const SAVE_INTERVAL_MS = 1000

/** Embeds the chunks that have no vector yet. All other operations take precedence. */
export async function embedChunks({ pack, vectors, engine, task, untilIdle, save }: EmbedOptions): Promise<void> {
  const texts = createPackTexts(pack)
  const total = pack.chunks.length
  let nextSaveAt = performance.now() + SAVE_INTERVAL_MS
  let isChanged = false
  for (let position = 0; position < total; ) {
    await untilIdle()
    task.signal.throwIfAborted()
    const batch = new Map<number, string>()
    let chars = 0
    // `texts.at` takes time even if it returns null, because it detects the language of each file, so the number of lookups is limited too.
    for (let lookupCount = 0; position < total && chars < BATCH_CHARS && lookupCount < BATCH_TEXTS; position++) {
      if (vectors.has(position)) continue
      lookupCount++
      const text = texts.at(position)
      if (text === null) continue
      batch.set(position, text)
      chars += text.length
    }
    const embedded = engine.embed([...batch.values()])
    for (const [i, at] of [...batch.keys()].entries()) vectors.set(at, embedded[i] ?? new Float32Array())
    isChanged ||= batch.size > 0
    task.progress({ stage: 'embedding', done: position, total })
    const startedAt = performance.now()
    if (isChanged && startedAt > nextSaveAt) {
      await save()
      nextSaveAt = performance.now() + Math.max(SAVE_INTERVAL_MS, 20 * (performance.now() - startedAt))
      isChanged = false
    }
    await nextEventLoopTurn()
  }
  if (isChanged) await save()
}
