import { describe, expect, test } from 'vitest'
import { listOddTexts, readKernelFiles, readModelFiles, readReference } from '../../../test/embed/built-in-model.ts'
import { createRandom } from '../../../test/seeded.ts'
import { sha256 } from '../hash.ts'
import { createEngine, loadModel } from './engine.ts'
import { MAX_TOKENS } from './model.ts'
import { openPieces } from './packed-pieces.ts'
import { createVocabulary, tokenizeText } from './word-piece.ts'

const files = readModelFiles()
const kernels = readKernelFiles()
const model = await loadModel(files, kernels)
const engine = createEngine(model)
const plainModel = await loadModel(files, { ...kernels, relaxed: new Uint8Array() })
const plain = createEngine(plainModel)
const reference = readReference()
const RANDOM_INPUTS = process.env['TEST_LONG'] === undefined ? 300 : 10_000

/** Vectors as hexadecimal text, which shows every bit. */
const bytesOf = (vectors: readonly Float32Array[]): string[] =>
  vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString('hex'))

const lengthOf = (vector: Float32Array): number => Math.hypot(...vector)

describe('reference texts', () => {
  const vocabulary = createVocabulary(openPieces(model.plan.pieces, model.memory.buffer))

  test.each(reference)('$text has the published tokens and vector', ({ text, ids, vector }) => {
    expect(tokenizeText(text, vocabulary, MAX_TOKENS)).toEqual(ids)
    const [found = new Float32Array()] = engine.embed([text])
    expect(found).toHaveLength(vector.length)
    // The published vectors have six decimals.
    for (const [i, value] of vector.entries()) expect(Math.abs((found[i] ?? 0) - value)).toBeLessThan(1e-6)
  })

  test('a vector does not depend on the texts beside it', () => {
    const texts = reference.map(({ text }) => text)
    expect(bytesOf(engine.embed(texts))).toEqual(bytesOf(texts.flatMap((text) => engine.embed([text]))))
    expect(bytesOf(engine.embed(texts.toReversed()))).toEqual(bytesOf(engine.embed(texts)).toReversed())
  })
})

test('plain and relaxed SIMD give identical bytes', () => {
  expect([model.kernel, plainModel.kernel]).toEqual(['relaxed', 'plain'])
  const texts = [...reference.map(({ text }) => text), ...listOddTexts()]
  expect(bytesOf(plain.embed(texts))).toEqual(bytesOf(engine.embed(texts)))
})

test('the bytes are the same on every machine and version of Node', () => {
  const texts = [...reference.map(({ text }) => text), ...listOddTexts()]
  const digest = sha256(bytesOf(engine.embed(texts)).join('\n'))
  expect(digest).toBe('c8ad706c328c20350c38749bdf720bf3d1480645434bdc5369db8a47c210e9c9')
})

test.each(listOddTexts().map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
  '%s has a vector of length 1',
  (_shown, text) => {
    const [vector = new Float32Array()] = engine.embed([text])
    expect(lengthOf(vector)).toBeCloseTo(1, 5)
  },
)

test('random tokens and texts have vectors of length 1, equal in both kernels, and do not grow the memory', () => {
  const next = createRandom(7)
  const { byteLength } = model.memory.buffer
  for (let i = 0; i < RANDOM_INPUTS; i++) {
    const tokens = Array.from({ length: 1 + Math.floor(next() * (i % 8 === 0 ? MAX_TOKENS : 24)) }, () =>
      Math.floor(next() * 30_522),
    )
    const text = String.fromCharCode(...Array.from({ length: Math.floor(next() * 60) }, () => next() * 65_536))
    const vectors = [...engine.embedTokens([tokens]), ...engine.embed([text])]
    for (const vector of vectors) expect(lengthOf(vector)).toBeCloseTo(1, 5)
    if (i % 10 === 0)
      expect(bytesOf([...plain.embedTokens([tokens]), ...plain.embed([text])])).toEqual(bytesOf(vectors))
  }
  expect(model.memory.buffer.byteLength).toBe(byteLength)
  expect(() => model.memory.grow(1)).toThrow(RangeError)
  // With TEST_LONG this test takes minutes on a busy machine.
}, 1_200_000)

test('a batch larger than one pass returns its vectors in order', () => {
  const texts = Array.from({ length: 40 }, (_, i) => `${i} ${'harbour '.repeat((i * 7) % 90)}`)
  expect(bytesOf(engine.embed(texts))).toEqual(bytesOf(texts.flatMap((text) => engine.embed([text]))))
  expect(engine.embed([])).toEqual([])
})

test.each<[string, number[]]>([
  ['no token', []],
  ['more tokens than the model takes', Array.from({ length: MAX_TOKENS + 1 }, () => 5)],
  ['a token beyond the last', [30_522]],
  ['a negative token', [-1]],
  ['a fraction', [0.5]],
  ['NaN', [Number.NaN]],
])('%s is refused with a RangeError', (_what, tokens) => {
  expect(() => engine.embedTokens([[101, 102], tokens])).toThrow(RangeError)
})

test('engines of one model share its memory, and give the same bytes', async () => {
  const shared = await loadModel(files, kernels, { engines: 2 })
  expect(shared.memory.buffer).toBeInstanceOf(SharedArrayBuffer)
  const texts = reference.map(({ text }) => text)
  for (const i of [0, 1, 0]) expect(bytesOf(createEngine(shared, i).embed(texts))).toEqual(bytesOf(engine.embed(texts)))
  expect(() => createEngine(shared, 2)).toThrow(RangeError)
})

describe('files', () => {
  test.each(['weights.bin', 'model.json', 'vocab.txt'] as const)('a damaged %s is refused', async (name) => {
    const damaged = new Uint8Array(files[name])
    damaged[100] = (damaged[100] ?? 0) ^ 1
    await expect(loadModel({ ...files, [name]: damaged }, kernels)).rejects.toMatchObject({
      code: 'MODEL_UNUSABLE',
      message: expect.stringContaining(`${name} is damaged`),
    })
  })

  test('weights at an unaligned offset in their buffer are read', async () => {
    const shifted = new Uint8Array(files['weights.bin'].length + 1)
    shifted.set(files['weights.bin'], 1)
    const other = await loadModel({ ...files, 'weights.bin': shifted.subarray(1) }, kernels)
    expect(bytesOf(createEngine(other).embed(['harbour']))).toEqual(bytesOf(engine.embed(['harbour'])))
  })

  test('a runtime that supports neither kernel is refused', async () => {
    await expect(loadModel(files, { relaxed: new Uint8Array(), plain: new Uint8Array() })).rejects.toMatchObject({
      code: 'MODEL_UNUSABLE',
      message: expect.stringContaining('no SIMD'),
    })
  })
})
