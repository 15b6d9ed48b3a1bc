/*
 * The process that runs the model: beside the others, because native code may take one down, and because what it needs of memory is
 * free when it ends. Asked one text at a time.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseWordPiece, tokenizeText } from '../core/embedding/word-piece.ts'
import { MAX_TOKENS, modelPlace, runtimePlace } from './model-files.ts'

/** What the process is asked. */
export interface TextQuestion {
  readonly text: string
}

/** What it answers: once when it has begun, and once to each question. */
export type TextAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'vector'; readonly vector: Float32Array }
  | { readonly type: 'failed'; readonly problem: string }

/** What is used of the runtime. It is no dependency: whoever wants it has it installed. */
interface Runtime {
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => unknown
  readonly InferenceSession: {
    create(model: string, options: Readonly<Record<string, unknown>>): Promise<Session>
  }
}

interface Session {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(inputs: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, Output | undefined>>>
}

interface Output {
  readonly data: Float32Array
  readonly dims: readonly number[]
}

const [folder = '', threads = '1'] = process.argv.slice(2)

/** Loads the model and answers what embeds one text. */
async function load(): Promise<(text: string) => Promise<Float32Array>> {
  const vocabulary = parseWordPiece(readFileSync(join(modelPlace(folder), 'tokenizer.json'), 'utf8'))
  const runtime: Runtime = createRequire(join(runtimePlace(folder), 'index.js'))('onnxruntime-node')
  const session = await runtime.InferenceSession.create(join(modelPlace(folder), 'model_quantized.onnx'), {
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  })
  return async (text) => {
    const tokens = tokenizeText(text, vocabulary, MAX_TOKENS)
    const tensorOf = (value: (i: number) => number): unknown =>
      new runtime.Tensor(
        'int64',
        BigInt64Array.from(tokens, (_, i) => BigInt(value(i))),
        [1, tokens.length],
      )
    const inputs: Readonly<Record<string, unknown>> = {
      input_ids: tensorOf((i) => tokens[i] ?? 0),
      attention_mask: tensorOf(() => 1),
      token_type_ids: tensorOf(() => 0),
    }
    const given = Object.fromEntries(session.inputNames.map((name) => [name, inputs[name]]))
    const output = (await session.run(given))[session.outputNames[0] ?? '']
    if (output === undefined) throw new Error('the model gives nothing')
    return toUnitLength(poolTokens(output))
  }
}

/** The mean over the tokens. A text is run alone, so that none of them is padding. */
function poolTokens({ data, dims }: Output): Float32Array {
  const [, tokens = 0, dimensions = 0] = dims
  const pooled = new Float32Array(dimensions)
  for (let at = 0, token = 0; token < tokens; token++) {
    for (let i = 0; i < dimensions; i++, at++) pooled[i] = (pooled[i] ?? 0) + (data[at] ?? 0) / tokens
  }
  return pooled
}

function toUnitLength(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map((value) => value / length)
}

function answer(message: TextAnswer): void {
  process.send?.(message)
}

function answerFailure(error: unknown): void {
  answer({ type: 'failed', problem: error instanceof Error ? error.message : String(error) })
}

// Whoever asked is gone.
process.on('disconnect', () => process.exit())
// Ctrl-C reaches every process of a terminal; the one that asks decides what becomes of this one.
process.on('SIGINT', () => undefined)

load().then((embed) => {
  process.on('message', ({ text }: TextQuestion) => {
    embed(text).then((vector) => answer({ type: 'vector', vector }), answerFailure)
  })
  answer({ type: 'ready' })
}, answerFailure)
