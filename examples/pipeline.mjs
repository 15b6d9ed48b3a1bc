// A retrieval pipeline: crawl a site, split its pages, embed them (Text Embeddings Inference), store them in Qdrant, ask.
//
// TEI_URL and QDRANT_URL name your services. Without them, strict test doubles are started on this machine. They follow the published
// interfaces, but the vectors of the TEI double only count letters, so its results depend on spelling.
import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import {
  addSource,
  crawlSource,
  embedLibrary,
  ingestDocuments,
  loadSource,
  openLibrary,
  openQdrantStore,
} from 'pharos/node'
import { openDemoSite } from '../dist/cli/demo-site.js'

const closing = []
const closeAtEnd = (opened) => {
  closing.push(() => opened.close())
  return opened
}
const { TEI_URL, QDRANT_URL } = process.env
const startTei = async () => {
  const { openTeiServer } = await import('../test/connectors/servers/tei.ts')
  return closeAtEnd(await openTeiServer({ dimensions: 26 })).origin
}
const startQdrant = async () => {
  const { openQdrantServer } = await import('../test/connectors/servers/qdrant.ts')
  return closeAtEnd(await openQdrantServer()).origin
}
const tei = TEI_URL ?? (await startTei())
const qdrant = QDRANT_URL ?? (await startQdrant())

try {
  const site = closeAtEnd(await openDemoSite())
  // Separate collections, so that existing ones are not touched. They are dropped at the end.
  const run = randomUUID().slice(0, 8)
  const [pages, copy] = [`example-pages-${run}`, `example-library-${run}`]
  const drop = (collection) => fetch(`${qdrant}/collections/${collection}`, { method: 'DELETE' })
  closing.push(() => Promise.all([drop(pages), drop(copy)]))
  const library = closeAtEnd(
    await openLibrary({
      path: ':memory:',
      version: '0.1.0',
      allowPrivate: ['127.0.0.1'],
      embedding: { type: 'tei', endpoint: tei },
      qdrant: { url: qdrant, collection: copy },
    }),
  )

  // Crawl: every page of the site becomes a page of the library.
  const source = await addSource(library, { url: `${site.origin}/`, name: 'demo' })
  for await (const event of crawlSource(library, source, { kind: 'add' }, AbortSignal.timeout(30_000))) {
    if (event.type === 'settled') console.log(event.state, event.url)
  }

  // Split, embed and write: the documents of the library go to a separate collection, like those of any other reader.
  const embedder = await library.openEmbedder()
  const { dimensions } = embedder.space
  const vectorStore = closeAtEnd(await openQdrantStore({ url: qdrant, collection: pages, dimensions }))
  const documents = await Array.fromAsync(loadSource(library, 'demo'))
  const results = await ingestDocuments(documents, { embedder, vectorStore, chunks: 'tokens' })
  assert(results.length > 10 && results.every(({ type }) => type === 'written'))
  const chunks = results.reduce((sum, result) => sum + result.chunks, 0)
  assert.equal(await vectorStore.count(), chunks)
  console.log(`${results.length} documents, ${chunks} points in ${pages}`)

  // Ask: the text of a chunk finds that chunk, and a question finds the nearest chunks.
  const ask = async (question, use) => {
    const [vector] = await embedder.embed([question], undefined, use)
    return vectorStore.search(vector, { limit: 3, payload: ['source_url', 'section_path', 'chunk_text', 'title'] })
  }
  const page = `${site.origin}/guide/retries`
  const filter = { must: [{ key: 'source_url', match: { value: page } }] }
  const [{ payload: stored }] = await Array.fromAsync(vectorStore.scroll({ filter }))
  const [same] = await ask(`${stored.title}\n${stored.chunk_text}`, 'text')
  assert.equal(same.payload.source_url, page)
  for (const { score, payload } of await ask('How often is a failed delivery tried again?', 'query')) {
    console.log(score.toFixed(3), payload.source_url, payload.section_path)
  }

  // Writing again changes nothing, because points keep their ids. Removing a page removes its points.
  await ingestDocuments(documents, { embedder, vectorStore })
  assert.equal(await vectorStore.count(), chunks)
  const removed = await vectorStore.deleteByUrl(page)
  assert.equal(await vectorStore.count(), chunks - removed)

  // The library keeps its own vectors, and a copy of them in Qdrant.
  let progress
  for await (progress of embedLibrary(library));
  assert.equal(progress.embedded, progress.chunks)
  const [vector] = await embedder.embed(['How often is a failed delivery tried again?'], undefined, 'query')
  const nearest = await library.vectors.nearest(vector, 3)
  assert.equal(nearest.length, 3)
  assert.equal(library.vectorCopy.problem, null)
  console.log(`${progress.embedded} vectors of the library, copied to ${library.vectorCopy.location}`)
} finally {
  for (const close of closing.reverse()) await close()
}
