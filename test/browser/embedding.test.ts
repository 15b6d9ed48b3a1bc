import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createEngine, loadModel } from '../../src/core/embedding/engine.ts'
import { bundleForBrowser } from '../bundle.ts'
import { listOddTexts, readKernelFiles, readModelFiles, readReference } from '../embed/built-in-model.ts'
import { openChromium } from './chromium.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const ORIGIN = 'https://docs.example/'

/** A worker that embeds the texts it receives, with either build of the kernel. */
const WORKER = `
import { createEngine, loadModel } from './engine.js'
const read = async (name) => new Uint8Array(await (await fetch('./' + name)).arrayBuffer())
onmessage = async ({ data: { texts, build } }) => {
  const files = {}
  for (const name of ['weights.bin', 'model.json', 'vocab.txt']) files[name] = await read(name)
  const kernel = await read(build)
  const engine = createEngine(await loadModel(files, { relaxed: kernel, plain: kernel }))
  postMessage(engine.embed(texts).map((vector) => [...new Uint8Array(vector.buffer)]))
}`

test('a Chromium worker computes the same bytes as Node', async () => {
  const { code, nodeImports, nodeGlobals } = await bundleForBrowser(join(root, 'src/core/embedding/engine.ts'))
  expect([...nodeImports, ...nodeGlobals]).toEqual([])
  const { relaxed, plain } = readKernelFiles()
  const bodies: Readonly<Record<string, string | Uint8Array>> = {
    ...{ ...readModelFiles(), relaxed, plain },
    ...{ '': '<title>page</title>', 'engine.js': code, 'worker.js': WORKER },
  }
  const browser = await openChromium()
  try {
    const page = await browser.newPage()
    await page.route('**/*', (route) => {
      const name = route.request().url().slice(ORIGIN.length)
      const contentType = name.endsWith('.js')
        ? 'text/javascript'
        : name === ''
          ? 'text/html'
          : 'application/octet-stream'
      return route.fulfill({ body: Buffer.from(bodies[name] ?? ''), contentType })
    })
    await page.goto(ORIGIN)
    const texts = [...readReference().map(({ text }) => text), ...listOddTexts()]
    const engine = createEngine(await loadModel(readModelFiles(), { relaxed, plain }))
    const inNode = engine.embed(texts).map(({ buffer }) => [...new Uint8Array(buffer)])
    for (const build of ['relaxed', 'plain']) {
      const inChromium = await page.evaluate(`new Promise((resolve, reject) => {
        const worker = new Worker('./worker.js', { type: 'module' })
        worker.onmessage = ({ data }) => resolve(data)
        worker.onerror = ({ message }) => reject(new Error(message))
        worker.postMessage(${JSON.stringify({ texts, build })})
      })`)
      expect(inChromium).toEqual(inNode)
    }
  } finally {
    await browser.close()
  }
})
