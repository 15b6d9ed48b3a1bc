import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { BUILT_IN_FOLDER, listOddTexts, readReference } from '../../test/embed/built-in-model.ts'
import { openBuiltInEmbedder } from './built-in-embedder.ts'
import { EmbedThreads } from './embed-threads.ts'
import { loadBuiltInModel } from './load-built-in-model.ts'

const root = mkdtempSync(join(tmpdir(), 'pharos-built-in-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const reference = readReference()

test('embeds a batch in several threads, and returns the vectors in the order of the texts', async () => {
  const embedder = openBuiltInEmbedder({ folder: BUILT_IN_FOLDER, threads: 2 })
  const texts = Array.from({ length: 40 }, (_, i) => reference[i % reference.length]?.text ?? '')
  const vectors = await embedder.embed(texts)
  expect(vectors).toHaveLength(texts.length)
  for (const [i, vector] of vectors.entries()) {
    const wanted = reference[i % reference.length]?.vector ?? []
    expect(Math.max(...wanted.map((value, at) => Math.abs(value - (vector[at] ?? 0))))).toBeLessThan(1e-6)
  }
  const [question] = await embedder.embed([texts[0] ?? ''], undefined, 'query')
  expect(question).toEqual(vectors[0])
  expect(await embedder.embed([])).toEqual([])
  for (const vector of await embedder.embed(listOddTexts())) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  await embedder.close()
  await expect(embedder.embed(['late'])).rejects.toMatchObject({ code: 'MODEL_UNUSABLE' })
})

test('the vector space has a model name, a fingerprint and the number of dimensions', () => {
  const { space } = openBuiltInEmbedder({ folder: BUILT_IN_FOLDER })
  expect(space).toEqual({
    model: 'pharos-embed-1',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    dimensions: 384,
  })
})

test('embeds a question before a batch in progress is done', async () => {
  const embedder = openBuiltInEmbedder({ folder: BUILT_IN_FOLDER, threads: 1 })
  const done: string[] = []
  await embedder.embed(['ready'], undefined, 'query')
  const batch = embedder.embed(Array.from({ length: 60 }, (_, i) => `${i} ${'harbour '.repeat(200)}`))
  await Promise.all([
    batch.then(() => done.push('batch')),
    embedder.embed(['Where is the harbour?'], undefined, 'query').then(() => done.push('question')),
  ])
  expect(done).toEqual(['question', 'batch'])
  await embedder.close()
})

test('an abort drops texts that no thread has started', async () => {
  const embedder = openBuiltInEmbedder({ folder: BUILT_IN_FOLDER, threads: 1 })
  const stop = new AbortController()
  const batch = embedder.embed(
    Array.from({ length: 4000 }, () => 'harbour '.repeat(200)),
    stop.signal,
  )
  stop.abort(new Error('enough'))
  await expect(batch).rejects.toThrow('enough')
  await expect(embedder.embed(['more'], stop.signal)).rejects.toThrow('enough')
  expect(await embedder.embed(['next'])).toHaveLength(1)
  await embedder.close()
})

test('names the problem with a damaged or missing model', async () => {
  const folder = join(root, 'damaged')
  cpSync(fileURLToPath(BUILT_IN_FOLDER), folder, { recursive: true })
  writeFileSync(join(folder, 'weights.bin'), 'half')
  const embedder = openBuiltInEmbedder({ folder: pathToFileURL(`${folder}/`), threads: 2 })
  await expect(embedder.embed(Array.from({ length: 60 }, () => 'text'))).rejects.toMatchObject({
    code: 'MODEL_UNUSABLE',
    message: expect.stringContaining('weights.bin is damaged'),
  })
  const missing = openBuiltInEmbedder({ folder: pathToFileURL(`${join(root, 'missing')}/`) })
  await expect(missing.embed(['text'], undefined, 'query')).rejects.toMatchObject({
    code: 'MODEL_UNUSABLE',
    message: expect.stringContaining('ENOENT'),
  })
  await Promise.all([embedder.close(), missing.close()])
})

test('an open embedder does not keep its process running', () => {
  const script = `
    const { openBuiltInEmbedder } = await import(${JSON.stringify(new URL('./built-in-embedder.ts', import.meta.url).href)})
    const embedder = openBuiltInEmbedder({ folder: new URL(${JSON.stringify(BUILT_IN_FOLDER.href)}), threads: 1 })
    console.log((await embedder.embed(['harbour'])).length, (await embedder.embed(['harbour'], undefined, 'query')).length)`
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })).toBe('1 1\n')
})

describe('embedding threads', () => {
  const program = join(root, 'worker.mjs')
  writeFileSync(
    program,
    `import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ texts }) => {
      if (texts.includes('die')) process.exit(3)
      if (texts.includes('throw')) throw new Error('out of order')
      parentPort.postMessage({ type: 'vectors', vectors: new Float32Array(384 * texts.length) })
    })
    parentPort.postMessage({ type: 'ready' })`,
  )
  const model = loadBuiltInModel(BUILT_IN_FOLDER, 2)
  const open = (idleMs = 60_000): EmbedThreads =>
    new EmbedThreads({ load: () => model, count: 1, idleMs, program: pathToFileURL(program) })

  test('a thread that dies rejects only its own task, and is replaced', async () => {
    const threads = open()
    const jobs = ['one', 'die', 'two', 'throw', 'three'].map((text) => threads.embed([text]))
    const ends = await Promise.allSettled(jobs)
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    await expect(jobs[1]).rejects.toMatchObject({
      code: 'MODEL_UNUSABLE',
      message: expect.stringContaining('exit code 3'),
    })
    await expect(jobs[3]).rejects.toMatchObject({ message: expect.stringContaining('out of order') })
    await threads.close()
  })

  test('a thread that exited when idle is started again', async () => {
    const threads = open(1)
    expect(await threads.embed(['one'])).toHaveLength(1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await threads.embed(['two', 'three'])).toHaveLength(2)
    await threads.close()
  })

  test('close rejects tasks that are not done', async () => {
    const threads = open()
    const jobs = Promise.allSettled([threads.embed(['one']), threads.embed(['two'])])
    await threads.close()
    for (const end of await jobs) expect(end).toMatchObject({ reason: { code: 'MODEL_UNUSABLE' } })
  })
})
