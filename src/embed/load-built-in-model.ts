import { subtle } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type LoadedModel, loadModel } from '../core/embedding/engine.ts'
import { messageOf, PharosError } from '../core/errors.ts'

/** Reads the model and its kernel from the folder that the build made, for so many engines. */
export async function loadBuiltInModel(folder: URL, engines: number): Promise<LoadedModel> {
  try {
    const names = ['weights.bin', 'model.json', 'vocab.txt', 'kernel-relaxed.wasm', 'kernel-plain.wasm']
    const [weights, description, pieces, relaxed, plain] = await Promise.all(
      names.map((name) => readFile(new URL(name, folder))),
    )
    if (!weights || !description || !pieces || !relaxed || !plain) throw new Error('files are missing')
    return await loadModel(
      { 'weights.bin': weights, 'model.json': description, 'vocab.txt': pieces },
      { relaxed, plain },
      { digest, engines },
    )
  } catch (error) {
    if (error instanceof PharosError) throw error
    throw new PharosError('MODEL_UNUSABLE', { problem: messageOf(error) }, { cause: error })
  }
}

/** On a thread of the system, so that this one can do other things. */
async function digest(data: Uint8Array): Promise<string> {
  // Files are never in shared memory.
  return Buffer.from(await subtle.digest('SHA-256', data as Uint8Array<ArrayBuffer>)).toString('hex')
}
