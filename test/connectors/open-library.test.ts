import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { modelPlace, runtimePlace, writeManifest } from '../../src/embed/model-files.ts'
import { openLibrary } from '../../src/open-library.ts'
import { TINY_RUNTIME, TINY_TOKENIZER } from '../embed/tiny-model.ts'

const root = mkdtempSync(join(tmpdir(), 'pharos-open-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Puts a model of a few lines into a folder. */
function installModel(folder: string): void {
  const runtime = join(runtimePlace(folder), 'node_modules', 'onnxruntime-node')
  mkdirSync(modelPlace(folder), { recursive: true })
  mkdirSync(runtime, { recursive: true })
  writeFileSync(join(runtime, 'index.js'), TINY_RUNTIME)
  writeFileSync(join(modelPlace(folder), 'tokenizer.json'), TINY_TOKENIZER)
  const files = { 'model_quantized.onnx': 'a', 'tokenizer.json': 'b', 'config.json': 'c' }
  const manifest = writeManifest({ model: 'numbers', dimensions: 2, files })
  writeFileSync(join(modelPlace(folder), manifest.name), manifest.text)
}

const open = (modelFolder: string) => openLibrary({ path: ':memory:', version: '0.0.0', modelFolder })

test('a model that is still being opened is closed with its library, and none is opened afterwards', async () => {
  const folder = join(root, 'model')
  installModel(folder)
  const library = await open(folder)
  const opening = library.openEmbedder?.()
  await library.close()
  await expect((await opening)?.embed(['nine'])).rejects.toThrow('it was closed')
  await expect(library.openEmbedder?.()).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('a model is opened once for all who ask at the same time, and looked for again while there is none', async () => {
  const folder = join(root, 'later')
  const library = await open(folder)
  expect(await library.openEmbedder?.()).toBeUndefined()
  installModel(folder)
  const [one, two] = await Promise.all([library.openEmbedder?.(), library.openEmbedder?.()])
  expect(one).toBeDefined()
  expect(two).toBe(one)
  expect(await library.openEmbedder?.()).toBe(one)
  await library.close()
})

test('nothing is fetched for a library that is closed', async () => {
  const library = await open(join(root, 'none'))
  await library.close()
  await expect(library.fetcher.fetch({ url: 'http://127.0.0.1/' })).rejects.toMatchObject({ code: 'INTERRUPTED' })
})
