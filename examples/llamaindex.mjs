// Reads pages as LlamaIndex documents, with Pharos itself and with a Crawl4AI service, splits them, and finds a passage again.
//
// CRAWL4AI_URL names your service. Without it, the strict test double is started on this machine.
import { strict as assert } from 'node:assert'
import { BaseEmbedding, getTopKEmbeddings } from '@llamaindex/core/embeddings'
import { MarkdownNodeParser, SentenceSplitter } from '@llamaindex/core/node-parser'
import { Document, MetadataMode } from '@llamaindex/core/schema'
import { Crawl4AIReader, PharosReader } from 'pharos/llamaindex'
import { documentId } from 'pharos/node'
import { openDemoSite } from '../dist/cli/demo-site.js'
import { openCrawl4AIServer } from '../test/connectors/servers/crawl4ai.ts'

/** A fake embedding model that counts words, so that nothing has to be downloaded: replace it with a real one. */
class WordCounts extends BaseEmbedding {
  async getTextEmbedding(text) {
    const counts = new Array(1024).fill(0)
    for (const word of text.toLowerCase().match(/[a-z]{3,}/g) ?? []) {
      const index = [...word.slice(0, 6)].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % counts.length, 7)
      counts[index] += 1
    }
    return counts
  }
}

const { CRAWL4AI_URL } = process.env
const demo = await openDemoSite()
const service = CRAWL4AI_URL === undefined ? await openCrawl4AIServer() : undefined
const site = demo.origin
const endpointUrl = CRAWL4AI_URL ?? service.origin

try {
  // Reads with Pharos itself, in this process. The sample site is on this machine, so its address must be allowed.
  const reader = await PharosReader.open({ allowPrivate: ['127.0.0.1'], maxConcurrentRequests: 5 })
  const urls = [`${site}/guide/install`, `${site}/guide/retries`, `${site}/guide/nothing`]
  const documents = await reader.loadData(urls)
  for (const { url, error } of reader.lastFailures) console.log(`not read: ${url}, ${error.message}`)
  await reader.close()

  assert.deepEqual(
    documents.map(({ id_ }) => id_),
    urls.slice(0, 2).map(documentId),
  )
  assert(documents.every((document) => document instanceof Document))
  assert.equal(documents[1].metadata.title, 'Retries and dead letters')

  // Splits the documents by headings, then by length; every node keeps the metadata of its page.
  const sections = new MarkdownNodeParser().getNodesFromDocuments(documents)
  const nodes = new SentenceSplitter({ chunkSize: 256, chunkOverlap: 20 }).getNodesFromDocuments(sections)
  assert(nodes.length >= sections.length && sections.length > 8)

  // Finds a passage by its embedding, in memory.
  const model = new WordCounts()
  await model(nodes)
  const question = await model.getQueryEmbedding({ type: 'text', text: 'how long is the pause between attempts' })
  const [scores, ids] = getTopKEmbeddings(
    question,
    nodes.map((node) => node.getEmbedding()),
    3,
    nodes.map((node) => node.id_),
  )
  const best = nodes.find((node) => node.id_ === ids[0])
  console.log(scores[0].toFixed(2), best.metadata.source_url, best.getContent(MetadataMode.NONE).split('\n')[0])
  assert.equal(best.metadata.source_url, urls[1])
  assert.match(best.getText(), /pause doubles with every attempt/)

  // Reads with a Crawl4AI service: Pharos checks each address, then the service fetches it.
  const crawl4ai = await Crawl4AIReader.open({ endpointUrl, allowPrivate: ['127.0.0.1'] })
  const slots = await crawl4ai.loadAll([urls[0], 'http://169.254.169.254/latest/meta-data'])
  const [refused] = crawl4ai.lastFailures
  await crawl4ai.close()

  assert.equal(slots[0].id_, documents[0].id_)
  assert.equal(slots[1], null)
  assert.equal(refused.error.code, 'READ_FAILED')
  console.log(refused.error.message)
} finally {
  await service?.close()
  await demo.close()
}
