import { PharosError } from '../errors.ts'
import type { Sha256 } from '../model.ts'
import { type EmbeddingModel, MAX_TOKENS, MODEL_DIMENSIONS, type ModelFiles, parseModel } from './model.ts'
import { tokenizeText } from './word-piece.ts'

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
  /** The same for tokens; throws a `RangeError` for tokens that the model does not have. */
  embedTokens(texts: readonly (readonly number[])[]): Float32Array[]
  /** Which build of the kernel it runs. */
  readonly kernel: keyof KernelFiles
  /** Bytes of memory the kernel works in. They are allocated once. */
  readonly memoryBytes: number
}

/** What every engine needs of its model and of its host. */
export interface EngineOptions {
  /** A faster SHA-256 than the one that runs everywhere. */
  readonly sha256?: Sha256
}

/** What the kernel exports. Pointers are byte offsets in its memory. */
interface Kernel {
  expand(tokens: number, scales: number, rows: number, width: number, out: number): void
  quantize(x: number, rows: number, width: number, bytes: number, scales: number): void
  activate(x: number, rows: number, width: number, bytes: number, scales: number, table: number): void
  writeGelu(table: number): void
  normalize(x: number, rows: number, width: number, gains: number, biases: number, bytes: number, scales: number): void
  product: Product
  addProduct: Product
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
) => void

/** Where a matrix is in the memory of the kernel. */
interface Matrix {
  readonly inputs: number
  readonly outputs: number
  readonly weights: number
  readonly scales: number
  readonly biases: number
  readonly offsets: number
}

interface Layer {
  readonly queriesKeysValues: Matrix
  readonly attended: Matrix
  readonly widened: Matrix
  readonly narrowed: Matrix
  readonly attentionNorm: Norm
  readonly outputNorm: Norm
}

interface Norm {
  readonly gains: number
  readonly biases: number
}

const WIDTH = MODEL_DIMENSIONS
const TOKEN_WIDTH = 128
const INNER_WIDTH = 1536
const HEADS = 12
/** Activations are bytes around this value. */
const ZERO_POINT = 64
/** Outputs of a panel of packed weights. */
const PANEL = 16
const PAGE_BYTES = 65_536
/** The table of GELU, with one more entry that is read beside the last. */
const GELU_BYTES = 8194 * 4
/** The kernel keeps its constants below this. */
const FIRST_FREE = 8192
/** Tokens in one pass: one long text, or several short ones. The kernel computes rows in pairs. */
const MAX_ROWS = MAX_TOKENS

/**
 * Checks the model, copies it into memory of its own and answers an engine. Throws `MODEL_UNUSABLE` for files that are not those of the
 * model, and where the host has no SIMD.
 */
export function createEngine(files: ModelFiles, kernels: KernelFiles, { sha256 }: EngineOptions = {}): EmbeddingEngine {
  const model = parseModel(files, sha256)
  const build = (['relaxed', 'plain'] as const).find((name) => WebAssembly.validate(kernels[name]))
  if (build === undefined) {
    throw new PharosError('MODEL_UNUSABLE', {
      problem: 'this runtime has no SIMD in WebAssembly, or the kernel is damaged',
    })
  }
  return new Engine(model, build, new WebAssembly.Module(kernels[build]))
}

class Engine implements EmbeddingEngine {
  readonly kernel: keyof KernelFiles
  readonly memoryBytes: number
  readonly #model: EmbeddingModel
  readonly #kernel: Kernel
  readonly #layers: readonly Layer[]
  readonly #projection: Matrix
  readonly #inputNorm: Norm
  readonly #positions: Float32Array
  readonly #bytes: Int8Array
  readonly #floats: Float32Array
  /** Token rows as they are kept, and their scales. */
  readonly #tokens: number
  readonly #tokenScales: number
  /** Rows of the state of each token. */
  readonly #state: number
  /** What a product is given: bytes, and a scale for each row. */
  readonly #activations: number
  readonly #rowScales: number
  /** Results that are wider than the state. */
  readonly #wide: number
  readonly #attended: number
  readonly #scratch: number
  readonly #vector: number
  readonly #gelu: number

  constructor(model: EmbeddingModel, build: keyof KernelFiles, module: WebAssembly.Module) {
    this.kernel = build
    this.#model = model
    const layout = new Layout()
    const { matrix, norm, write } = planWeights(model, layout)
    this.#projection = matrix('proj')
    this.#inputNorm = norm('eln')
    this.#layers = Array.from({ length: model.layerCount }, (_, i) => ({
      queriesKeysValues: matrix(`${i}.q`, `${i}.k`, `${i}.v`),
      attended: matrix(`${i}.o`),
      widened: matrix(`${i}.i`),
      narrowed: matrix(`${i}.d`),
      attentionNorm: norm(`${i}.aln`),
      outputNorm: norm(`${i}.oln`),
    }))
    this.#positions = model.floats('pos')
    this.#tokens = layout.take(MAX_ROWS * TOKEN_WIDTH)
    this.#tokenScales = layout.take(MAX_ROWS * 4)
    this.#state = layout.take(MAX_ROWS * WIDTH * 4)
    this.#activations = layout.take(MAX_ROWS * INNER_WIDTH)
    this.#rowScales = layout.take(MAX_ROWS * 4)
    this.#wide = layout.take(MAX_ROWS * INNER_WIDTH * 4)
    this.#attended = layout.take(MAX_ROWS * WIDTH * 4)
    this.#scratch = layout.take((2 * 32 + 2) * MAX_ROWS * 4)
    this.#vector = layout.take(WIDTH * 4)
    this.#gelu = layout.take(GELU_BYTES)

    const pages = Math.ceil(layout.end / PAGE_BYTES)
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages })
    this.memoryBytes = memory.buffer.byteLength
    this.#bytes = new Int8Array(memory.buffer)
    this.#floats = new Float32Array(memory.buffer)
    write(memory.buffer)
    const { exports } = new WebAssembly.Instance(module, { env: { memory } })
    // The build compiles what is imported here.
    this.#kernel = exports as unknown as Kernel
    this.#kernel.writeGelu(this.#gelu)
  }

  embed(texts: readonly string[]): Float32Array[] {
    return this.embedTokens(texts.map((text) => tokenizeText(text, this.#model.vocabulary, MAX_TOKENS)))
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
    const { tokenCount } = this.#model
    const unknown = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= tokenCount)
    if (unknown !== undefined) throw new RangeError(`token ${unknown} is not one of the ${tokenCount} of the model`)
  }

  /** One pass over texts whose tokens are `rows` in all. */
  #run(texts: readonly (readonly number[])[], rows: number): Float32Array[] {
    const kernel = this.#kernel
    this.#placeTokens(texts)
    kernel.expand(this.#tokens, this.#tokenScales, rows, TOKEN_WIDTH, this.#wide)
    kernel.quantize(this.#wide, rows, TOKEN_WIDTH, this.#activations, this.#rowScales)
    this.#multiply(kernel.addProduct, this.#projection, rows, this.#state)
    this.#normalize(this.#inputNorm, rows)
    for (const layer of this.#layers) {
      this.#multiply(kernel.product, layer.queriesKeysValues, rows, this.#wide)
      let row = 0
      for (const { length } of texts) {
        const input = this.#wide + row * 3 * WIDTH * 4
        kernel.attend(input, length, HEADS, this.#attended + row * WIDTH * 4, this.#scratch)
        row += length
      }
      kernel.quantize(this.#attended, rows, WIDTH, this.#activations, this.#rowScales)
      this.#multiply(kernel.addProduct, layer.attended, rows, this.#state)
      this.#normalize(layer.attentionNorm, rows)
      this.#multiply(kernel.product, layer.widened, rows, this.#wide)
      kernel.activate(this.#wide, rows, INNER_WIDTH, this.#activations, this.#rowScales, this.#gelu)
      this.#multiply(kernel.addProduct, layer.narrowed, rows, this.#state)
      this.#normalize(layer.outputNorm, rows)
    }
    let row = 0
    return texts.map(({ length }) => {
      kernel.pool(this.#state + row * WIDTH * 4, length, WIDTH, this.#vector)
      row += length
      return this.#floats.slice(this.#vector / 4, this.#vector / 4 + WIDTH)
    })
  }

  /** Puts the rows of tokens, and of their positions, where the kernel takes them from. */
  #placeTokens(texts: readonly (readonly number[])[]): void {
    const { tokenRows, tokenScales } = this.#model
    let row = 0
    for (const tokens of texts) {
      const positions = this.#positions.subarray(0, tokens.length * WIDTH)
      this.#floats.set(positions, this.#state / 4 + row * WIDTH)
      for (const token of tokens) {
        const values = tokenRows.subarray(token * TOKEN_WIDTH, (token + 1) * TOKEN_WIDTH)
        this.#bytes.set(values, this.#tokens + row * TOKEN_WIDTH)
        this.#floats[this.#tokenScales / 4 + row] = tokenScales[token] ?? 0
        row++
      }
    }
  }

  #multiply(product: Product, matrix: Matrix, rows: number, out: number): void {
    const { inputs, outputs, weights, scales, biases, offsets } = matrix
    product(this.#activations, this.#rowScales, rows, inputs, outputs, weights, scales, biases, offsets, out)
  }

  #normalize({ gains, biases }: Norm, rows: number): void {
    this.#kernel.normalize(this.#state, rows, WIDTH, gains, biases, this.#activations, this.#rowScales)
  }
}

/** Gives out memory from the first free byte on. */
class Layout {
  end: number = FIRST_FREE

  take(bytes: number): number {
    const at = this.end
    this.end += Math.ceil(bytes / 64) * 64
    return at
  }
}

/** Says where the weights go, and writes them once there is memory. */
function planWeights(model: EmbeddingModel, layout: Layout) {
  const writers: ((buffer: ArrayBuffer) => void)[] = []
  const place = (values: Float32Array | Int32Array): number => {
    const at = layout.take(values.byteLength)
    const view = new Int32Array(values.buffer, values.byteOffset, values.length)
    writers.push((buffer) => new Int32Array(buffer).set(view, at / 4))
    return at
  }
  const join = (names: readonly string[]): Float32Array => {
    const parts = names.map((name) => model.floats(name))
    const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  }
  return {
    /** Several matrices of the same inputs become one. */
    matrix(...names: readonly string[]): Matrix {
      const parts = names.map((name) => model.matrix(name))
      const inputs = parts[0]?.inputs ?? 0
      const outputs = parts.reduce((sum, part) => sum + part.outputs, 0)
      const weights = layout.take(inputs * outputs)
      const offsets = new Int32Array(outputs)
      let done = 0
      for (const { outputs: count, weights: rows } of parts) {
        const first = done
        for (let j = 0; j < count; j++) {
          let sum = 0
          for (let i = j * inputs; i < (j + 1) * inputs; i++) sum += rows[i] ?? 0
          offsets[first + j] = -ZERO_POINT * sum
        }
        writers.push((buffer) => packPanels(rows, inputs, count, new Int32Array(buffer, weights + first * inputs)))
        done += count
      }
      return {
        ...{ inputs, outputs, weights, offsets: place(offsets) },
        scales: place(join(names.map((name) => `${name}.s`))),
        biases: place(join(names.map((name) => `${name}.b`))),
      }
    },
    norm: (name: string): Norm => ({
      gains: place(model.floats(`${name}.g`)),
      biases: place(model.floats(`${name}.b`)),
    }),
    write(buffer: ArrayBuffer): void {
      for (const writer of writers) writer(buffer)
    },
  }
}

/** Rows of weights in the order in which the kernel reads them: for each 16 outputs, four inputs of each at a time. */
function packPanels(rows: Int8Array, inputs: number, outputs: number, packed: Int32Array): void {
  const words = new Int32Array(rows.buffer, rows.byteOffset, rows.length / 4)
  const rowWords = inputs / 4
  let at = 0
  for (let panel = 0; panel < outputs; panel += PANEL) {
    for (let i = 0; i < rowWords; i++) {
      for (let j = panel; j < panel + PANEL; j++) packed[at++] = words[j * rowWords + i] ?? 0
    }
  }
}
