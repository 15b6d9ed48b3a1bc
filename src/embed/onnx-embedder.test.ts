import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { TINY_RUNTIME, TINY_TOKENIZER } from '../../test/embed/tiny-model.ts'
import type { Embedder } from '../library/vectors.ts'
import { modelPlace, runtimePlace, writeManifest } from './model-files.ts'
import { openOnnxEmbedder } from './onnx-embedder.ts'

/*
 * A real process with a runtime of a few lines. The real runtime is tested in test/embed.
 */
const root = mkdtempSync(join(tmpdir(), 'pharos-onnx-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const folder = join(root, 'embedding')
const packageFolder = join(runtimePlace(folder), 'node_modules', 'onnxruntime-node')
mkdirSync(modelPlace(folder), { recursive: true })
mkdirSync(packageFolder, { recursive: true })
writeFileSync(join(packageFolder, 'index.js'), TINY_RUNTIME)
const manifest = writeManifest({
  model: 'numbers',
  dimensions: 2,
  files: { 'model_quantized.onnx': 'a', 'tokenizer.json': 'b', 'config.json': 'c' },
})
writeFileSync(join(modelPlace(folder), manifest.name), manifest.text)
writeFileSync(join(modelPlace(folder), 'tokenizer.json'), TINY_TOKENIZER)

let embedder: Embedder

beforeEach(async () => {
  const opened = await openOnnxEmbedder({ folder })
  if (opened === undefined) throw new Error('it is not there')
  embedder = opened
})
afterEach(() => embedder.close())

test('there is none where no model, or no runtime, is installed', async () => {
  expect(await openOnnxEmbedder({ folder: join(root, 'nowhere') })).toBeUndefined()
  const half = join(root, 'half')
  mkdirSync(modelPlace(half), { recursive: true })
  writeFileSync(join(modelPlace(half), manifest.name), manifest.text)
  expect(await openOnnxEmbedder({ folder: half })).toBeUndefined()
})

test('a vector is the mean over the tokens, made as long as 1', async () => {
  // Start, the word and end: 2, 4 and 3.
  const [vector] = await embedder.embed(['Nine'])
  expect(vector?.[0]).toBeCloseTo(3 / Math.hypot(3, 1), 6)
  expect(vector?.[1]).toBeCloseTo(1 / Math.hypot(3, 1), 6)
})

test('vectors come in the order of their texts, and nothing comes of nothing', async () => {
  const [one, two] = await embedder.embed(['nine', 'else'])
  expect(one).not.toEqual(two)
  expect(await embedder.embed(['else', 'nine'])).toEqual([two, one])
  expect(await embedder.embed([])).toEqual([])
})

test('a text that fails is told, and the others are embedded', async () => {
  await expect(embedder.embed(['fail'])).rejects.toMatchObject({
    code: 'EMBEDDER_UNUSABLE',
    message: expect.stringContaining('this text is too much'),
  })
  expect(await embedder.embed(['nine'])).toHaveLength(1)
})

test('a process that is brought down is told to all who wait for it, and another one goes on', async () => {
  const settled = await Promise.allSettled([embedder.embed(['crash']), embedder.embed(['nine', 'nine'])])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(settled[0]).toMatchObject({ reason: { message: expect.stringContaining('its process ended (SIGKILL)') } })
  expect(await embedder.embed(['nine'])).toHaveLength(1)
})

test('a runtime that cannot be loaded is told in one line, each time anew', async () => {
  const broken = join(packageFolder, 'broken')
  writeFileSync(broken, '')
  try {
    await expect(embedder.embed(['nine'])).rejects.toMatchObject({
      message: `the embedding model in ${folder} cannot be used: no such symbol`,
    })
  } finally {
    rmSync(broken)
  }
  expect(await embedder.embed(['nine'])).toHaveLength(1)
})

test('whoever gave up before it began is not waited for', async () => {
  await expect(embedder.embed(['nine'], AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
})

test('spaces differ when anything does that decides what a text becomes', async () => {
  const { model, dimensions, fingerprint } = embedder.space
  expect({ model, dimensions }).toEqual({ model: 'numbers', dimensions: 2 })
  const other = join(root, 'other')
  mkdirSync(modelPlace(other), { recursive: true })
  mkdirSync(runtimePlace(other))
  writeFileSync(join(modelPlace(other), manifest.name), manifest.text.replace('"b"', '"other"'))
  expect((await openOnnxEmbedder({ folder: other }))?.space.fingerprint).not.toBe(fingerprint)
})
