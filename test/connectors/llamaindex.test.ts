import { MarkdownNodeParser, SentenceSplitter } from '@llamaindex/core/node-parser'
import { type BaseReader, Document, MetadataMode, NodeRelationship } from '@llamaindex/core/schema'
import { afterEach, describe, expect, test } from 'vitest'
import { documentId } from '../../src/readers/document.ts'
import { Crawl4AIReader, type PageNode, PharosReader } from '../../src/readers/llamaindex.ts'
import { openTestSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { type Crawl4AIServerOptions, openCrawl4AIServer } from './servers/crawl4ai.ts'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function stagePharos() {
  const site = await openTestSite({
    '/tides': page('Tides', ['/moon'], '<meta name="description" content="Of water.">'),
  })
  const reader = await PharosReader.open({ allowPrivate: ['127.0.0.1'] })
  closers.push(() => reader.close())
  return { reader, url: `${site.origin}/tides`, missing: `${site.origin}/missing` }
}

async function stageCrawl4AI(options: Crawl4AIServerOptions = {}) {
  const server = await openCrawl4AIServer(options)
  const resolve = async () => ['93.184.215.14']
  const reader = await Crawl4AIReader.open({ endpointUrl: server.origin, resolve, maxRetries: 0 })
  closers.push(
    () => reader.close(),
    () => server.close(),
  )
  return { server, reader, url: 'https://docs.example/tides', missing: 'https://docs.example/missing' }
}

const FAILING: Crawl4AIServerOptions = {
  find: (url) => (url.endsWith('/missing') ? { success: false, error_message: 'nothing there' } : {}),
}

describe.each([
  ['PharosReader', stagePharos],
  ['Crawl4AIReader', () => stageCrawl4AI(FAILING)],
])('%s', (name, stageReader) => {
  test('returns LlamaIndex documents', async () => {
    const { reader, url } = await stageReader()
    const shape: BaseReader<PageNode> = reader
    const [document] = await shape.loadData([url])
    expect(document).toBeInstanceOf(Document)
    expect(document?.id_).toBe(documentId(url))
    expect(document?.metadata).toMatchObject({ source_url: url, status_code: 200, source_type: 'web_crawl' })
    expect([reader.className, reader.isRemote]).toEqual([name, true])
  })

  test('loadData leaves out failed pages, loadAll returns null for them, and lastFailures names them', async () => {
    const { reader, url, missing } = await stageReader()
    expect((await reader.loadData([missing, url])).map(({ id_ }) => id_)).toEqual([documentId(url)])
    expect(reader.lastFailures.map((failure) => failure.url)).toEqual([missing])
    const slots = await reader.loadAll([url, missing])
    expect(slots.map((slot) => slot?.id_ ?? null)).toEqual([documentId(url), null])
  })

  test('returns no documents for an empty list, and rejects if its signal was aborted', async () => {
    const { reader, url } = await stageReader()
    expect(await reader.loadData([])).toEqual([])
    await expect(reader.loadData([url], AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})

describe('a document', () => {
  test('shows its title, description and address to language models, and omits the address for embeddings', async () => {
    const { reader, url } = await stagePharos()
    const [document] = await reader.loadData([url])
    expect(document?.getMetadataStr(MetadataMode.LLM).split('\n')).toEqual([
      'description: Of water.',
      `source_url: ${url}`,
      'title: Tides',
    ])
    expect(document?.getMetadataStr(MetadataMode.EMBED).split('\n')).toEqual(['description: Of water.', 'title: Tides'])
    expect(Object.keys(document?.metadata ?? {})).toHaveLength(9)
  })

  test.each([new SentenceSplitter({ chunkSize: 256, chunkOverlap: 16 }), new MarkdownNodeParser()])(
    'is split by the parsers of LlamaIndex into nodes that refer to it (%#)',
    async (parser) => {
      const { reader, url } = await stagePharos()
      const nodes = parser.getNodesFromDocuments(await reader.loadData([url]))
      expect(nodes.length).toBeGreaterThan(0)
      for (const node of nodes) {
        expect(node.relationships[NodeRelationship.SOURCE]).toMatchObject({ nodeId: documentId(url) })
        expect(node.metadata).toMatchObject({ source_url: url, title: 'Tides' })
      }
      expect(nodes.map((node) => node.getText()).join(' ')).toContain('This page is about Tides')
    },
  )
})

test('opening a reader fails if the service is not running', async () => {
  const { server } = await stageCrawl4AI()
  await server.stopListening()
  await expect(Crawl4AIReader.open({ endpointUrl: server.origin })).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  await server.resumeListening()
})
