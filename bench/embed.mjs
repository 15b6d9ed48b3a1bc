// Measures the speed of the built-in model (embed-engine.mjs), and the overhead of embedding through a service.
//
//   npm run bench embed [--rounds 9] [--prototype model/prototype]
//                       [--chunks 2048] [--dimensions 768] [--batch 32] [--delay 50]
//
// --prototype names the folder with the first kernel and forward pass of the model.
//
// The service is a separate process with the APIs of OpenAI and TEI that always returns the same vectors: at once, or after a delay per
// batch. Overhead is the wall time minus the time that the service measures for its requests, which is divided by the number of concurrent
// batches. `embedLibrary` reads the chunks from SQLite, checks, normalises, packs and writes the vectors; peers only return the response.
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { measureEngine } from './embed-engine.mjs'
import { cpuSeconds, option, printTable } from './measure.mjs'

const chunks = Number(option('chunks') ?? 2048)
const dimensions = Number(option('dimensions') ?? 768)
const batch = Number(option('batch') ?? 32)
const delay = Number(option('delay') ?? 50)
/** Maximum overhead in milliseconds per chunk. */
const TARGET_MS = 1
const MODEL = 'bench'
let libraryCount = 0

if (process.argv[2] === '--service') serve()
else {
  await measureEngine()
  await measureAll()
}

/** Responds to embedding requests, and reports its busy time on request. */
function serve() {
  const vector = Array.from({ length: dimensions }, (_, i) => Math.fround(Math.sin(i + 1)))
  const vectorJson = JSON.stringify(vector)
  let busy = 0
  let requests = 0
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1')
    const parts = []
    for await (const part of request) parts.push(part)
    const began = performance.now()
    response.setHeader('content-type', 'application/json')
    if (pathname === '/used') {
      response.end(JSON.stringify({ busy, requests, cpu: cpuSeconds() }))
      if (searchParams.has('forget')) busy = requests = 0
      return
    }
    if (pathname.endsWith('/info')) {
      response.end(
        JSON.stringify({
          model_id: MODEL,
          model_sha: null,
          model_type: { embedding: {} },
          max_client_batch_size: 4096,
        }),
      )
      return
    }
    const delayMs = Number(pathname.split('/')[1])
    if (delayMs > 0) await sleep(delayMs)
    const { inputs, input = inputs } = JSON.parse(Buffer.concat(parts).toString())
    const texts = [input].flat()
    const body =
      inputs === undefined
        ? `{"object":"list","data":[${texts.map((_, i) => `{"object":"embedding","index":${i},"embedding":${vectorJson}}`)}],"model":"${MODEL}","usage":{"prompt_tokens":1,"total_tokens":1}}`
        : `[${texts.map(() => vectorJson)}]`
    response.on('finish', () => {
      busy += performance.now() - began
      requests++
    })
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

async function measureAll() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const service = fork(fileURLToPath(import.meta.url), ['--service', '--dimensions', String(dimensions)])
  try {
    const port = await new Promise((resolve) => service.once('message', resolve))
    const texts = Array.from(
      { length: chunks },
      (_, i) => `Chunk ${i} of a page. ${'Some words to fill the page. '.repeat(20)}`,
    )
    const contenders = [...(await listOurs(folder, texts)), ...(await listPeers())]
    const rows = []
    const overheads = []
    for (const delayMs of [0, delay]) {
      for (const { name, open } of contenders) {
        const origin = `http://127.0.0.1:${port}/${delayMs}`
        const contender = await open(origin)
        // Warms up once.
        await contender.run(texts.slice(0, 4 * batch))
        const measured = await measure(`http://127.0.0.1:${port}`, () => contender.run(texts))
        await contender.close?.()
        const { wall, cpu, busy, requests } = measured
        const overhead = (wall - busy / contender.concurrency) / chunks
        if (contender.isOurs) overheads.push(overhead)
        const figures = [wall / 1000, overhead, (1000 * cpu) / chunks].map((figure) => figure.toFixed(3))
        rows.push([name, delayMs, requests, (chunks / (wall / 1000)).toFixed(0), ...figures])
      }
    }
    printTable(['', 'service ms', 'requests', 'chunks/s', 'wall s', 'overhead ms/chunk', 'CPU ms/chunk'], rows)
    const worst = Math.max(...overheads)
    console.log()
    printTable(
      ['target', 'wanted', 'measured', 'met'],
      [['overhead of ours, ms/chunk', `< ${TARGET_MS}`, worst.toFixed(3), worst < TARGET_MS ? 'yes' : 'no']],
    )
  } finally {
    service.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(origin, work) {
  await (await fetch(`${origin}/used?forget`)).json()
  const since = process.cpuUsage()
  const began = performance.now()
  await work()
  const wall = performance.now() - began
  const cpu = cpuSeconds(since)
  const { busy, requests } = await (await fetch(`${origin}/used`)).json()
  return { wall, cpu, busy, requests }
}

/** Our embedders alone, and the embedding of a whole library. */
async function listOurs(folder) {
  const [{ openTeiEmbedder }, { openOpenAiEmbedder }, { openServiceClient }, { systemClock }] = await Promise.all([
    import('../dist/embed/tei-embedder.js'),
    import('../dist/embed/openai-embedder.js'),
    import('../dist/fetch/service-client.js'),
    import('../dist/fetch/clock.js'),
  ])
  const open = async (kind, origin) => {
    const client = openServiceClient({ origins: [origin], userAgent: 'bench' })
    const options = {
      ...{ endpoint: kind === 'tei' ? origin : `${origin}/v1`, model: MODEL, client, clock: systemClock },
      ...{ batch, batchBytes: 2 ** 20, timeoutMs: 30_000, textPrefix: '', queryPrefix: '' },
    }
    const embedder = await (kind === 'tei' ? openTeiEmbedder(options) : openOpenAiEmbedder(options))
    return { embedder, close: () => client.close(), concurrency: 2, isOurs: true }
  }
  const openAlone = (kind) => async (origin) => {
    const opened = await open(kind, origin)
    const { embedder, batchSize = embedder.batchSize } = opened
    const run = async (texts) => {
      for (let i = 0; i < texts.length; i += batchSize) await embedder.embed(texts.slice(i, i + batchSize))
    }
    return { ...opened, run }
  }
  return [
    { name: 'pharos, embedder alone (TEI)', open: openAlone('tei') },
    { name: 'pharos, embedder alone (OpenAI)', open: openAlone('openai') },
    {
      name: 'pharos, embedLibrary into SQLite (TEI)',
      open: (origin) => openFilledLibrary(folder, () => open('tei', origin), systemClock),
    },
  ]
}

/** Opens a library with one chunk per text, to measure `embedLibrary`. */
async function openFilledLibrary(folder, openEmbedding, clock) {
  const [{ embedLibrary }, { openSqliteStore }, { addSourceTo, writePage }] = await Promise.all([
    import('../dist/library/embed/embed-library.js'),
    import('../dist/store/sqlite/store.js'),
    import('../test/embed/filled-store.ts'),
  ])
  const opened = await openEmbedding()
  const stores = []
  const fill = async (texts) => {
    const store = await openSqliteStore(join(folder, `${libraryCount++}.db`))
    stores.push(store)
    await addSourceTo(store, 'docs')
    const perPage = 32
    for (let i = 0; i < texts.length; i += perPage) {
      await writePage(store, 'docs', `/${i}`, texts.slice(i, i + perPage).join('\n---\n'))
    }
    return {
      store,
      vectors: store.vectors,
      clock,
      newId: () => createHash('sha256').digest('hex'),
      openEmbedder: async () => opened.embedder,
    }
  }
  const fullLibrary = await fill(
    Array.from({ length: chunks }, (_, i) => `Chunk ${i} of a page. ${'Some words to fill the page. '.repeat(20)}`),
  )
  return {
    ...opened,
    run: async (texts) => {
      const library = texts.length === chunks ? fullLibrary : await fill(texts)
      for await (const _ of embedLibrary(library));
      const { embedded } = await library.vectors.count()
      if (embedded !== texts.length) throw new Error(`${embedded} of ${texts.length} chunks were embedded`)
    },
    close: async () => {
      for (const store of stores) await store.close()
      await opened.close()
    },
  }
}

/** Peers: a loop with fetch, and other installed libraries. */
async function listPeers() {
  const requestVectors = async (origin, input) => {
    const response = await fetch(`${origin}/v1/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, input, encoding_format: 'float' }),
    })
    const { data } = await response.json()
    return data.map(({ embedding }) => embedding)
  }
  const openLoop = async (origin) => ({
    concurrency: 1,
    run: async (texts) => {
      for (let i = 0; i < texts.length; i += batch) await requestVectors(origin, texts.slice(i, i + batch))
    },
  })
  const openPairs = async (origin) => ({
    concurrency: 2,
    run: async (texts) => {
      for (let i = 0; i < texts.length; i += 2 * batch) {
        const batches = [texts.slice(i, i + batch), texts.slice(i + batch, i + 2 * batch)].filter(
          ({ length }) => length > 0,
        )
        await Promise.all(batches.map((batchTexts) => requestVectors(origin, batchTexts)))
      }
    },
  })
  const peers = [
    { name: 'a loop with fetch (OpenAI)', open: openLoop },
    { name: 'two concurrent requests with fetch (OpenAI)', open: openPairs },
  ]
  const langchain = await import('@langchain/openai').catch(() => undefined)
  if (langchain === undefined) console.log('@langchain/openai is not installed and not measured')
  else peers.push({ name: '@langchain/openai', open: (origin) => openLangChain(langchain, origin) })
  return peers
}

/** LangChain sends batches concurrently, up to `maxConcurrency`: two here. */
async function openLangChain({ OpenAIEmbeddings }, origin) {
  const embeddings = new OpenAIEmbeddings({
    ...{ apiKey: 'bench', model: MODEL, batchSize: batch, maxConcurrency: 2, encodingFormat: 'float' },
    configuration: { baseURL: `${origin}/v1` },
  })
  return { concurrency: 2, run: (texts) => embeddings.embedDocuments([...texts]) }
}
