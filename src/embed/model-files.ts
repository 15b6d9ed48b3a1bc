import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TEXT_RECIPE } from '../library/embedded-text.ts'
import type { VectorSpace } from '../library/vectors.ts'

/** The files a model is made of. */
export const MODEL_FILES = ['model_quantized.onnx', 'tokenizer.json', 'config.json'] as const

/** Name of a file of a model. */
export type ModelFile = (typeof MODEL_FILES)[number]

/** What is written beside a model when it is put in place: its files were there in full, and were these. */
export interface ModelManifest {
  readonly model: string
  readonly dimensions: number
  /** SHA-256 of each file. */
  readonly files: Readonly<Record<ModelFile, string>>
}

/** Texts are cut after so many tokens: as many as the model was made for. */
export const MAX_TOKENS = 256

/** Which runtime runs the model. Named in its folder, so that another version, or another kind of machine, has its own. */
export const RUNTIME_VERSION = '1.30.0'

const MANIFEST = 'manifest.json'

/** Where the files of a model are. */
export function modelPlace(folder: string): string {
  return join(folder, 'model')
}

/** Where the runtime is, as a folder that packages can be loaded from. */
export function runtimePlace(folder: string): string {
  return join(folder, `onnxruntime-${RUNTIME_VERSION}-${process.platform}-${process.arch}`)
}

/** Whether the runtime is in its place, which it only comes to in full. */
export function hasRuntime(folder: string): boolean {
  return existsSync(runtimePlace(folder))
}

/** Reads what is said about the model in a folder; undefined when there is none. */
export function readManifest(folder: string): ModelManifest | undefined {
  const file = join(modelPlace(folder), MANIFEST)
  if (!existsSync(file)) return undefined
  // Written below.
  return JSON.parse(readFileSync(file, 'utf8')) as ModelManifest
}

/** The manifest of a model as the text of its file. */
export function writeManifest(manifest: ModelManifest): { readonly name: string; readonly text: string } {
  return { name: MANIFEST, text: `${JSON.stringify(manifest, null, 2)}\n` }
}

/** The space of the vectors that a model makes. Everything that decides what a text becomes is in its fingerprint. */
export function spaceOf({ model, dimensions, files }: ModelManifest): VectorSpace {
  const recipe = [...MODEL_FILES.map((name) => files[name]), `mean of at most ${MAX_TOKENS} tokens`, TEXT_RECIPE]
  const fingerprint = createHash('sha256').update(recipe.join('\n')).digest('hex')
  return { model, fingerprint, dimensions }
}
