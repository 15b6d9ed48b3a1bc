import { PharosError } from '../errors.ts'
import { sha256 } from '../hash.ts'

/** Name of the model that users see. */
export const MODEL_NAME = 'pharos-embed-1'

/** The language that the model was trained for. */
export const MODEL_LANGUAGE = 'en'

/** Number of values in a vector. */
export const MODEL_DIMENSIONS = 384

/** Texts are cut after this many tokens: the model was trained on shorter ones only. */
export const MAX_TOKENS = 128

/** The files of the model and their SHA-256. Other files are another model, whose vectors are not comparable. */
export const MODEL_FILES = {
  'weights.bin': '5333e8947cd5e4e4141af96d072c1023c042fa84c9c57e319d5858b2b09e4a7a',
  'model.json': '41fb9e7988644bcda04f9a92ba62a1fbcdb4a0b3fe5d226291fbcd4c823dbda5',
  'vocab.txt': '07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3',
} as const

/** The content of each file. The caller reads the files. */
export type ModelFiles = Readonly<Record<keyof typeof MODEL_FILES, Uint8Array>>

/** A model that was checked. */
export interface EmbeddingModel {
  /** The pieces of words, in the order of their tokens. */
  readonly pieces: readonly string[]
  readonly tokenCount: number
  readonly layerCount: number
  /** A row for each token, and the scale of each row. */
  readonly tokenRows: Int8Array
  readonly tokenScales: Float32Array
  floats(name: string): Float32Array
  /** Weights of a linear layer, one row for each output. */
  matrix(name: string): { readonly inputs: number; readonly outputs: number; readonly weights: Int8Array }
}

interface Tensor {
  readonly offset: number
  readonly bytes: number
  readonly shape: readonly number[]
}

/** Returns the SHA-256 of bytes in hexadecimal digits. */
export type Digest = (data: Uint8Array) => string | Promise<string>

/** Checks the files of the model; rejects with `MODEL_UNUSABLE` if one differs from the expected file. */
export async function readModel(files: ModelFiles, digest: Digest = sha256): Promise<EmbeddingModel> {
  for (const [name, expected] of Object.entries(MODEL_FILES)) {
    const found = await digest(files[name as keyof ModelFiles])
    if (found !== expected) {
      throw new PharosError('MODEL_UNUSABLE', {
        problem: `${name} is damaged (SHA-256 ${found}, expected ${expected})`,
      })
    }
  }
  const decode = (name: keyof ModelFiles): string => new TextDecoder().decode(files[name])
  // The hash has proven that the file is valid.
  const { layers, tensors } = JSON.parse(decode('model.json')) as {
    readonly layers: number
    readonly tensors: Readonly<Record<string, Tensor>>
  }
  const weights = files['weights.bin']
  // A view of floats must begin at a multiple of four bytes.
  const { buffer, byteOffset } = weights.byteOffset % 4 === 0 ? weights : new Uint8Array(weights)
  const find = (name: string): Tensor => {
    const tensor = tensors[name]
    if (tensor === undefined) throw new PharosError('MODEL_UNUSABLE', { problem: `model.json has no tensor ${name}` })
    return tensor
  }
  const bytes = (name: string): Int8Array => {
    const { offset, bytes: length } = find(name)
    return new Int8Array(buffer, byteOffset + offset, length)
  }
  const floats = (name: string): Float32Array => {
    const { offset, bytes: length } = find(name)
    return new Float32Array(buffer, byteOffset + offset, length / 4)
  }
  return {
    pieces: decode('vocab.txt').trimEnd().split('\n'),
    tokenCount: find('emb.w').shape[0] ?? 0,
    layerCount: layers,
    tokenRows: bytes('emb.w'),
    tokenScales: floats('emb.s'),
    floats,
    matrix(name) {
      const [outputs = 0, inputs = 0] = find(`${name}.w`).shape
      return { inputs, outputs, weights: bytes(`${name}.w`) }
    },
  }
}
