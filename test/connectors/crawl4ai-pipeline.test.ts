import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chunkPage } from '../../src/core/chunk/chunk-page.ts'
import { sizesOf } from '../../src/core/chunk/profiles.ts'
import { ingestUrls } from '../../src/readers/ingest.ts'
import { openQdrantStore } from '../../src/readers/qdrant-store.ts'
import { type Crawl4AIFixture, openCrawl4AIFixture } from './crawl4ai-fixture.ts'
import { createEmbedFixture } from './embed-fixture.ts'
import { openQdrantServer } from './servers/qdrant.ts'
import { openTeiServer } from './servers/tei.ts'

const URL_1 = 'https://example.com/1'
const DIMENSIONS = 16
const SECTIONS = ['Wick', 'Lens', 'Oil'].map((name) => `## ${name}\n\n${`The ${name} needs care. `.repeat(120)}`)
const TEXT = `# Lamps\n\n${SECTIONS.join('\n\n')}\n`

describe('a document of a Crawl4AI reader', () => {
  let crawl4ai: Crawl4AIFixture
  let services: ReturnType<typeof createEmbedFixture>

  beforeEach(async () => {
    const found = {
      markdown: { raw_markdown: `${TEXT}\nfooter`, fit_markdown: TEXT },
      metadata: { title: 'Lamps', description: 'How they are kept' },
      links: { internal: [{ href: '/2' }], external: [] },
      crawl_timestamp: '2026-01-15T00:00:00Z',
    }
    crawl4ai = await openCrawl4AIFixture({ find: () => found })
    services = createEmbedFixture()
  })
  afterEach(async () => {
    await services.end()
    await crawl4ai.close()
  })

  async function readChunks() {
    const [document] = await (await crawl4ai.openReader()).loadData([URL_1])
    if (document === undefined) throw new Error('the page was not read')
    return chunkPage({ markdown: document.text }, document.metadata.source_url, { sizes: sizesOf('tokens') })
  }

  test('is split into chunks', async () => {
    const chunks = await readChunks()
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.at(-1)?.headingPath).toEqual(['Lamps', 'Oil'])
    expect(chunks.map(({ chunkIndex }) => chunkIndex)).toEqual(chunks.map((_, index) => index))
  })

  test('is embedded, each chunk as a vector of length 1 of the right dimension', async () => {
    const embedder = await services.open('tei', services.later(await openTeiServer({ dimensions: DIMENSIONS })))
    const chunks = await readChunks()
    const vectors = await embedder.embed(chunks.map(({ content }) => content))
    expect(vectors.map(({ length }) => length)).toEqual(chunks.map(() => DIMENSIONS))
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  })

  test('is stored in Qdrant with nine fields of its page and five of each chunk', async () => {
    const embedder = await services.open('tei', services.later(await openTeiServer({ dimensions: DIMENSIONS })))
    const qdrant = services.later(await openQdrantServer())
    const options = { url: qdrant.origin, collection: 'pages', dimensions: DIMENSIONS, timeoutMs: 2000 }
    const vectorStore = services.later(await openQdrantStore(options))
    const reader = await crawl4ai.openReader({ vectorStore })
    const chunks = await readChunks()
    expect(await ingestUrls(reader, [URL_1], { embedder })).toEqual([
      { type: 'written', url: URL_1, chunks: chunks.length },
    ])
    const payloads = [...(qdrant.pointsOf('pages')?.values() ?? [])].map(({ payload }) => payload)
    expect(payloads).toHaveLength(chunks.length)
    for (const payload of payloads) {
      expect(payload).toEqual({
        source: URL_1,
        source_url: URL_1,
        title: 'Lamps',
        description: 'How they are kept',
        status_code: 200,
        crawl_timestamp: '2026-01-15T00:00:00Z',
        internal_links_count: 1,
        external_links_count: 0,
        source_type: 'web_crawl',
        chunk_index: expect.any(Number),
        chunk_text: expect.any(String),
        section_path: expect.stringMatching(/^Lamps/),
        heading_level: expect.any(Number),
        content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
    }
  })
})
