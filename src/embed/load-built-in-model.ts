import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { type LoadedModel, loadModel } from '../core/embedding/engine.ts'
import { messageOf, PharosError } from '../core/errors.ts'

/** Loads the model and its kernel from the build's output folder, for a number of engines. */
export async function loadBuiltInModel(folder: URL, engines: number): Promise<LoadedModel> {
  try {
    const names = ['weights.bin', 'model.json', 'vocab.txt', 'kernel-relaxed.wasm', 'kernel-plain.wasm']
    const [weights, description, pieces, relaxed, plain] = await Promise.all(
      names.map((name) => readFile(new URL(name, folder))),
    )
    if (!weights || !description || !pieces || !relaxed || !plain) throw new Error('files are missing')
    const model = await loadModel(
      { 'weights.bin': weights, 'model.json': description, 'vocab.txt': pieces },
      { relaxed, plain },
      { digest, engines },
    )
    // Frees these bytes, because the model has its own copy; otherwise 10 MB would stay until a garbage collection minutes later.
    weights.buffer.transfer(0)
    return model
  } catch (error) {
    if (error instanceof PharosError) throw error
    throw new PharosError('MODEL_UNUSABLE', { problem: messageOf(error) }, { cause: error })
  }
}

/** Bytes hashed before the event loop continues: about three milliseconds. */
const SLICE_BYTES = 2 ** 20

/** Hashes in slices. WebCrypto would use another thread, but copies all bytes for it. */
async function digest(data: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < data.length; at += SLICE_BYTES) {
    hash.update(data.subarray(at, at + SLICE_BYTES))
    await setImmediate()
  }
  return hash.digest('hex')
}
