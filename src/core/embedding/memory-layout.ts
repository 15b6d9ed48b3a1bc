import { type EmbeddingModel, MAX_TOKENS, MODEL_DIMENSIONS } from './model.ts'
import { type PackedPieces, planPieces } from './packed-pieces.ts'

/** Where a matrix is in the memory of the kernel. */
export interface Matrix {
  readonly inputs: number
  readonly outputs: number
  readonly weights: number
  readonly scales: number
  readonly biases: number
  readonly offsets: number
}

interface Layer {
  readonly queriesKeysValues: Matrix
  readonly attentionOutput: Matrix
  readonly feedForwardIn: Matrix
  readonly feedForwardOut: Matrix
  readonly attentionNorm: Norm
  readonly outputNorm: Norm
}

export interface Norm {
  readonly gains: number
  readonly biases: number
}

/** Where everything is in the memory of the kernel. */
export interface MemoryLayout {
  readonly pieces: PackedPieces
  readonly tokenCount: number
  readonly tokenRows: number
  readonly tokenScales: number
  readonly positions: number
  readonly gelu: number
  readonly projection: Matrix
  readonly inputNorm: Norm
  readonly layers: readonly Layer[]
  /** One workspace for each engine. */
  readonly workspaces: readonly Workspace[]
}

/** The working memory of an engine. */
export interface Workspace {
  /** Quantized token rows and their scales. */
  readonly tokens: number
  readonly tokenScales: number
  /** Rows of the state of each token. */
  readonly state: number
  /** Left operand of a product: bytes, and a scale for each row. */
  readonly activations: number
  readonly rowScales: number
  /** Results that are wider than the state. */
  readonly wide: number
  readonly attended: number
  readonly scratch: number
  readonly vector: number
}

export const WIDTH: number = MODEL_DIMENSIONS
export const TOKEN_WIDTH = 128
export const INNER_WIDTH = 1536

/** Activations are bytes around this value. */
const ZERO_POINT = 64
/** Number of outputs in a panel of packed weights. */
const PANEL = 16
export const PAGE_BYTES = 65_536
/** The table of GELU, with one extra entry at the end: the kernel interpolates between an entry and the next. */
const GELU_BYTES = 8194 * 4
/** The kernel keeps its constants below this offset. */
const HEAP_START = 8192
/** Tokens in one pass: one long text, or several short ones. An even number, because the kernel computes rows in pairs. */
export const MAX_ROWS: number = MAX_TOKENS

/** Plans the memory layout, and returns a function that writes the model there. */
export function planMemory(
  model: EmbeddingModel,
  engines: number,
): { readonly plan: MemoryLayout; readonly bytes: number; readonly write: (memory: ArrayBufferLike) => void } {
  let end = HEAP_START
  const writers: ((buffer: ArrayBufferLike) => void)[] = []
  const reserve = (bytes: number): number => {
    const at = end
    end += Math.ceil(bytes / 64) * 64
    return at
  }
  /** Reserves memory for the parts, one directly after the other, and plans to write them there. */
  const place = (...parts: readonly (Float32Array | Int32Array | Int8Array)[]): number => {
    const first = reserve(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
    let at = first
    for (const { buffer, byteOffset, byteLength } of parts) {
      const to = at
      writers.push((memory) => new Uint8Array(memory).set(new Uint8Array(buffer, byteOffset, byteLength), to))
      at += byteLength
    }
    return first
  }
  const matrix = (...names: readonly string[]): Matrix => {
    const parts = names.map((name) => model.matrix(name))
    const inputs = parts[0]?.inputs ?? 0
    const outputs = parts.reduce((sum, part) => sum + part.outputs, 0)
    const weights = reserve(inputs * outputs)
    let first = 0
    for (const part of parts) {
      const at = weights + first * inputs
      writers.push((memory) => packPanels(part.weights, inputs, part.outputs, new Int32Array(memory, at)))
      first += part.outputs
    }
    return {
      ...{ inputs, outputs, weights },
      offsets: place(...parts.map((part) => offsetsOf(part.weights, inputs))),
      scales: place(...names.map((name) => model.floats(`${name}.s`))),
      biases: place(...names.map((name) => model.floats(`${name}.b`))),
    }
  }
  const norm = (name: string): Norm => ({
    gains: place(model.floats(`${name}.g`)),
    biases: place(model.floats(`${name}.b`)),
  })
  const pieces = planPieces(model.pieces, reserve)
  writers.push(pieces.write)
  const plan: MemoryLayout = {
    ...{ pieces: pieces.packed, tokenCount: model.tokenCount },
    tokenRows: place(model.tokenRows),
    tokenScales: place(model.tokenScales),
    positions: place(model.floats('pos')),
    gelu: reserve(GELU_BYTES),
    projection: matrix('proj'),
    inputNorm: norm('eln'),
    layers: Array.from({ length: model.layerCount }, (_, i) => ({
      queriesKeysValues: matrix(`${i}.q`, `${i}.k`, `${i}.v`),
      attentionOutput: matrix(`${i}.o`),
      feedForwardIn: matrix(`${i}.i`),
      feedForwardOut: matrix(`${i}.d`),
      attentionNorm: norm(`${i}.aln`),
      outputNorm: norm(`${i}.oln`),
    })),
    workspaces: Array.from({ length: engines }, () => ({
      tokens: reserve(MAX_ROWS * TOKEN_WIDTH),
      tokenScales: reserve(MAX_ROWS * 4),
      state: reserve(MAX_ROWS * WIDTH * 4),
      activations: reserve(MAX_ROWS * INNER_WIDTH),
      rowScales: reserve(MAX_ROWS * 4),
      wide: reserve(MAX_ROWS * INNER_WIDTH * 4),
      attended: reserve(MAX_ROWS * WIDTH * 4),
      // Keys, values and two rows of weights.
      scratch: reserve((32 + 32 + 2) * MAX_ROWS * 4),
      vector: reserve(WIDTH * 4),
    })),
  }
  const write = (memory: ArrayBufferLike): void => {
    for (const writer of writers) writer(memory)
  }
  return { plan, bytes: end, write }
}

/** Correction that removes the zero point of activations from each product. */
function offsetsOf(rows: Int8Array, inputs: number): Int32Array {
  const offsets = new Int32Array(rows.length / inputs)
  for (let j = 0, at = 0; j < offsets.length; j++) {
    let sum = 0
    for (const end = at + inputs; at < end; at++) sum += rows[at] ?? 0
    offsets[j] = -ZERO_POINT * sum
  }
  return offsets
}

/** Writes rows of weights in the order in which the kernel reads them: for each 16 outputs, four inputs of each at a time. */
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
