import { PharosError } from '../errors.ts'
import {
  INNER_WIDTH,
  MAX_ROWS,
  type Matrix,
  type MemoryLayout,
  type Norm,
  PAGE_BYTES,
  planMemory,
  TOKEN_WIDTH,
  WIDTH,
  type Workspace,
} from './memory-layout.ts'
import { type Digest, MAX_TOKENS, type ModelFiles, readModel } from './model.ts'
import { openPieces } from './packed-pieces.ts'
import { createVocabulary, tokenizeText, type WordPieceVocabulary } from './word-piece.ts'

/** The kernel in its two builds, as bytes of WebAssembly. */
export interface KernelFiles {
  /** Needs relaxed SIMD. */
  readonly relaxed: Uint8Array<ArrayBuffer>
  /** Needs SIMD only. */
  readonly plain: Uint8Array<ArrayBuffer>
}

/** Turns texts into vectors on the thread that calls it. */
export interface EmbeddingEngine {
  /** Vectors of length 1. The vector of a text does not depend on the texts beside it. */
  embed(texts: readonly string[]): Float32Array[]
  /** Like `embed`, for texts given as tokens; throws a `RangeError` for tokens that the model does not have. */
  embedTokens(texts: readonly (readonly number[])[]): Float32Array[]
}

/** How a model is loaded. */
export interface LoadOptions {
  /** A faster SHA-256 than the portable one. */
  readonly digest?: Digest
  /** Number of engines that may work at the same time, each in its own thread. @default 1 */
  readonly engines?: number
}

/** A model in memory. If it was loaded for several engines, it can be sent to other threads, which then share its memory. */
export interface LoadedModel {
  /** Which build of the kernel the runtime supports. */
  readonly kernel: keyof KernelFiles
  readonly module: WebAssembly.Module
  readonly memory: WebAssembly.Memory
  readonly plan: MemoryLayout
}

/** Exports of the kernel. Pointers are byte offsets in its memory. */
interface Kernel {
  expand(tokens: number, scales: number, rows: number, width: number, out: number): void
  quantize(x: number, rows: number, width: number, bytes: number, scales: number): void
  activate(x: number, rows: number, width: number, bytes: number, scales: number, table: number): void
  writeGelu(table: number): void
  normalize(x: number, rows: number, width: number, gains: number, biases: number, bytes: number, scales: number): void
  product: Product
  dotProduct: Product
  hasDot(): number
  attend(x: number, rows: number, heads: number, out: number, scratch: number): void
  pool(x: number, rows: number, width: number, out: number): void
}

type Product = (
  activations: number,
  rowScales: number,
  rows: number,
  inputs: number,
  outputs: number,
  weights: number,
  scales: number,
  biases: number,
  offsets: number,
  out: number,
  adds: boolean,
) => void

const HEADS = 12

/**
 * Checks the model and copies it into memory of a fixed size. Rejects with `MODEL_UNUSABLE` for files with other hashes, and where the host
 * has no SIMD.
 */
export async function loadModel(
  files: ModelFiles,
  kernels: KernelFiles,
  { digest, engines = 1 }: LoadOptions = {},
): Promise<LoadedModel> {
  const model = await readModel(files, digest)
  const kernel = (['relaxed', 'plain'] as const).find((name) => WebAssembly.validate(kernels[name]))
  if (kernel === undefined) {
    throw new PharosError('MODEL_UNUSABLE', {
      problem: 'this runtime has no SIMD in WebAssembly, or the kernel is damaged',
    })
  }
  const isShared = engines > 1
  const module = await WebAssembly.compile(isShared ? withSharedMemory(kernels[kernel]) : kernels[kernel])
  const { plan, bytes, write } = planMemory(model, engines)
  const pages = Math.ceil(bytes / PAGE_BYTES)
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: isShared })
  write(memory.buffer)
  instantiate(module, memory).writeGelu(plan.gelu)
  return { kernel, module, memory, plan }
}

/** Opens one of the engines of a model; two threads must never open the same one. */
export function createEngine(model: LoadedModel, index = 0): EmbeddingEngine {
  const workspace = model.plan.workspaces[index]
  if (workspace === undefined) throw new RangeError(`the model was loaded for ${model.plan.workspaces.length} engines`)
  return new Engine(model, workspace)
}

/** The names `env` and `memory`, with which a module begins the declaration of its imported memory. */
const MEMORY_IMPORT = new TextEncoder().encode('\u0003env\u0006memory')
/** The bit in the flags of a memory that lets threads share it. */
const SHARED_BIT = 2

function withSharedMemory(kernel: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(kernel)
  const at = bytes.findIndex((_, i) => MEMORY_IMPORT.every((byte, j) => bytes[i + j] === byte))
  const flags = at + MEMORY_IMPORT.length + 1
  bytes[flags] = (bytes[flags] ?? 0) | SHARED_BIT
  return bytes
}

function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernel {
  // The build of this project compiles the kernel with the exports that `Kernel` declares.
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernel
}

class Engine implements EmbeddingEngine {
  readonly #plan: MemoryLayout
  readonly #workspace: Workspace
  readonly #kernel: Kernel
  /** The faster product on this machine; both give the same numbers. */
  readonly #product: Product
  readonly #vocabulary: WordPieceVocabulary
  readonly #bytes: Int8Array
  readonly #floats: Float32Array

  constructor({ module, memory, plan }: LoadedModel, workspace: Workspace) {
    this.#plan = plan
    this.#workspace = workspace
    this.#bytes = new Int8Array(memory.buffer)
    this.#floats = new Float32Array(memory.buffer)
    this.#vocabulary = createVocabulary(openPieces(plan.pieces, memory.buffer))
    this.#kernel = instantiate(module, memory)
    this.#product = this.#kernel.hasDot() === 1 ? this.#kernel.dotProduct : this.#kernel.product
  }

  embed(texts: readonly string[]): Float32Array[] {
    return this.embedTokens(texts.map((text) => tokenizeText(text, this.#vocabulary, MAX_TOKENS)))
  }

  embedTokens(texts: readonly (readonly number[])[]): Float32Array[] {
    for (const tokens of texts) this.#check(tokens)
    const vectors: Float32Array[] = []
    for (let next = 0; next < texts.length; ) {
      let rows = 0
      const first = next
      for (; next < texts.length; next++) {
        const { length } = texts[next] ?? []
        if (rows + length > MAX_ROWS) break
        rows += length
      }
      vectors.push(...this.#run(texts.slice(first, next), rows))
    }
    return vectors
  }

  #check(tokens: readonly number[]): void {
    if (tokens.length === 0 || tokens.length > MAX_TOKENS) {
      throw new RangeError(`a text has 1 to ${MAX_TOKENS} tokens, not ${tokens.length}`)
    }
    const { tokenCount } = this.#plan
    const unknown = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= tokenCount)
    if (unknown !== undefined) throw new RangeError(`token ${unknown} is not one of the model's ${tokenCount} tokens`)
  }

  /** Runs one pass over texts with `rows` tokens in all. */
  #run(texts: readonly (readonly number[])[], rows: number): Float32Array[] {
    const kernel = this.#kernel
    const { projection, inputNorm, layers, gelu } = this.#plan
    const { tokens, tokenScales, state, activations, rowScales, wide, attended, scratch, vector } = this.#workspace
    this.#placeTokens(texts)
    kernel.expand(tokens, tokenScales, rows, TOKEN_WIDTH, wide)
    kernel.quantize(wide, rows, TOKEN_WIDTH, activations, rowScales)
    this.#multiply(projection, rows, state, true)
    this.#normalize(inputNorm, rows)
    for (const layer of layers) {
      this.#multiply(layer.queriesKeysValues, rows, wide, false)
      let row = 0
      for (const { length } of texts) {
        kernel.attend(wide + row * 3 * WIDTH * 4, length, HEADS, attended + row * WIDTH * 4, scratch)
        row += length
      }
      kernel.quantize(attended, rows, WIDTH, activations, rowScales)
      this.#multiply(layer.attentionOutput, rows, state, true)
      this.#normalize(layer.attentionNorm, rows)
      this.#multiply(layer.feedForwardIn, rows, wide, false)
      kernel.activate(wide, rows, INNER_WIDTH, activations, rowScales, gelu)
      this.#multiply(layer.feedForwardOut, rows, state, true)
      this.#normalize(layer.outputNorm, rows)
    }
    let row = 0
    return texts.map(({ length }) => {
      kernel.pool(state + row * WIDTH * 4, length, WIDTH, vector)
      row += length
      // The vector is copied, because the next pass overwrites the memory of the kernel.
      return new Float32Array(this.#floats.subarray(vector / 4, vector / 4 + WIDTH))
    })
  }

  /** Copies the rows of tokens, and of their positions, to where the kernel reads them. */
  #placeTokens(texts: readonly (readonly number[])[]): void {
    const { tokenRows, tokenScales, positions } = this.#plan
    const workspace = this.#workspace
    let row = 0
    for (const tokens of texts) {
      const from = positions / 4
      this.#floats.copyWithin(workspace.state / 4 + row * WIDTH, from, from + tokens.length * WIDTH)
      for (const token of tokens) {
        const at = tokenRows + token * TOKEN_WIDTH
        this.#bytes.copyWithin(workspace.tokens + row * TOKEN_WIDTH, at, at + TOKEN_WIDTH)
        this.#floats[workspace.tokenScales / 4 + row] = this.#floats[tokenScales / 4 + token] ?? 0
        row++
      }
    }
  }

  /** Multiplies the activations by a matrix. With `adds` the result is added to the values at `out`; otherwise it replaces them. */
  #multiply(matrix: Matrix, rows: number, out: number, adds: boolean): void {
    const { inputs, outputs, weights, scales, biases, offsets } = matrix
    const { activations, rowScales } = this.#workspace
    this.#product(activations, rowScales, rows, inputs, outputs, weights, scales, biases, offsets, out, adds)
  }

  #normalize({ gains, biases }: Norm, rows: number): void {
    const { state, activations, rowScales } = this.#workspace
    this.#kernel.normalize(state, rows, WIDTH, gains, biases, activations, rowScales)
  }
}
