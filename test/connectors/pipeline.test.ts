import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Embedder } from '../../src/library/ports/vectors.ts'
import { openCrawl4AIReader } from '../../src/readers/crawl4ai-reader.ts'
import type { ReaderDocument } from '../../src/readers/document.ts'
import { documentId } from '../../src/readers/document.ts'
import { ingestDocuments, ingestUrls } from '../../src/readers/ingest.ts'
import { Crawl4AIReader as LlamaIndexReader } from '../../src/readers/llamaindex.ts'
import { openQdrantStore, type QdrantStore } from '../../src/readers/qdrant-store.ts'
import { createEmbedFixture } from './embed-fixture.ts'
import { openCrawl4AIServer } from './servers/crawl4ai.ts'
import type { FaultyServer } from './servers/faults.ts'
import { openQdrantServer, type QdrantServer } from './servers/qdrant.ts'
import { openTeiServer, type TeiServer } from './servers/tei.ts'

const DIMENSIONS = 8
const PUT_POINTS = 'PUT /collections/:name/points'
const DELETE_POINTS = 'POST /collections/:name/points/delete'
const URL_A = 'http://127.0.0.1/lamps'
const URL_B = 'http://127.0.0.1/oil'

let stage: ReturnType<typeof createEmbedFixture>
let qdrant: QdrantServer
let tei: TeiServer
let embedder: Embedder
let vectorStore: QdrantStore

beforeEach(async () => {
  stage = createEmbedFixture()
  qdrant = stage.later(await openQdrantServer())
  tei = stage.later(await openTeiServer({ dimensions: DIMENSIONS, isPoison: (text) => text.includes('poison') }))
  embedder = await stage.open('tei', tei)
  const options = { url: qdrant.origin, collection: 'pages', dimensions: DIMENSIONS }
  vectorStore = stage.later(await openQdrantStore(options))
})
afterEach(() => stage.end())

function documentOf(url: string, text: string): ReaderDocument {
  return {
    id: documentId(url),
    text,
    metadata: {
      ...{ source: url, source_url: url, title: 'Lamps', description: '', status_code: 200 },
      ...{ crawl_timestamp: '2026-01-01T00:00:00Z', internal_links_count: 2, external_links_count: 1 },
      source_type: 'web_crawl',
    },
  }
}

function textsOf(url: string): string[] {
  const points = [...(qdrant.pointsOf('pages')?.values() ?? [])]
  return points
    .filter(({ payload }) => payload['source_url'] === url)
    .sort((a, b) => Number(a.payload['chunk_index']) - Number(b.payload['chunk_index']))
    .map(({ payload }) => String(payload['chunk_text']))
}

/** Three sections, each long enough to be a chunk of its own. */
const SECTIONS = ['Wick', 'Lens', 'Oil'].map((name) => `## ${name}\n\n${`${name} needs care. `.repeat(120)}`)
const LONG = `# Lamps\n\n${SECTIONS.join('\n\n')}`

describe('ingesting documents', () => {
  test('splits, embeds and writes them with the fields of page and chunk', async () => {
    const options = { embedder, vectorStore }
    const results = await ingestDocuments([documentOf(URL_A, LONG), documentOf(URL_B, '# Oil\n\nColza.')], options)
    const pieces = textsOf(URL_A)
    expect(pieces.length).toBeGreaterThan(2)
    expect(results).toEqual([
      { type: 'written', url: URL_A, chunks: pieces.length },
      { type: 'written', url: URL_B, chunks: 1 },
    ])
    const point = [...(qdrant.pointsOf('pages')?.values() ?? [])].find(({ payload }) => payload['source_url'] === URL_B)
    expect(point?.payload).toEqual({
      ...documentOf(URL_B, '').metadata,
      chunk_index: 0,
      chunk_text: '# Oil\n\nColza.',
      section_path: 'Oil',
      heading_level: 1,
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(qdrant.pointsOf('pages')?.get(point?.id ?? 0)).toBeDefined()
    const [vector = new Float32Array(DIMENSIONS)] = await embedder.embed(['Lamps\nOil\n# Oil\n\nColza.'])
    const [best] = await vectorStore.search(vector, { limit: 1 })
    expect(best?.payload['source_url']).toBe(URL_B)
    expect(best?.score).toBeCloseTo(1, 5)
  })

  test('replaces the old points of an address, and changes nothing for the same text', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, LONG)], options)
    const ids = [...(qdrant.pointsOf('pages')?.keys() ?? [])]
    await ingestDocuments([documentOf(URL_A, LONG)], options)
    expect([...(qdrant.pointsOf('pages')?.keys() ?? [])]).toEqual(ids)
    await ingestDocuments([documentOf(URL_A, '# Lamps\n\nShort now.')], options)
    expect(textsOf(URL_A)).toEqual(['# Lamps\n\nShort now.'])
  })

  test('removes nothing without deduplication', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, LONG)], options)
    const before = textsOf(URL_A).length
    await ingestDocuments([documentOf(URL_A, 'Short.')], { ...options, enableDeduplication: false })
    expect(textsOf(URL_A)).toHaveLength(before)
    expect(textsOf(URL_A)[0]).toBe('Short.')
    expect(qdrant.count(DELETE_POINTS)).toBe(0)
  })

  test('splits documents by the requested profile', async () => {
    const paragraphs = Array.from({ length: 40 }, (_, i) => `Paragraph ${i}. ${'The lamp burns. '.repeat(20)}`)
    const document = documentOf(URL_A, paragraphs.join('\n\n'))
    await ingestDocuments([document], { embedder, vectorStore, chunks: 'library' })
    const libraryChunkCount = textsOf(URL_A).length
    await ingestDocuments([document], { embedder, vectorStore, chunks: 'pack' })
    expect(textsOf(URL_A).length).toBeLessThan(libraryChunkCount)
  })

  test('skips a chunk that cannot be embedded, names it, and replaces the old points by the others', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, 'Old.')], options)
    const paragraphs = Array.from({ length: 60 }, (_, i) => `## Part ${i}\n\n${`Part ${i} needs care. `.repeat(90)}`)
    const poisoned = paragraphs.with(40, `## Part 40\n\n${'poison '.repeat(260)}`)
    const results = await ingestDocuments([documentOf(URL_A, poisoned.join('\n\n'))], options)
    expect(results).toEqual([
      {
        type: 'written',
        url: URL_A,
        chunks: 59,
        refused: [
          { chunkIndex: 40, headingPath: ['Part 40'], error: expect.objectContaining({ code: 'EMBED_REFUSED' }) },
        ],
      },
    ])
    const texts = textsOf(URL_A)
    expect(texts).toHaveLength(59)
    expect(texts.join('\n')).not.toMatch(/Old|poison/)
  })

  test('keeps the old points if the service fails after some chunks were embedded', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, 'Old.')], options)
    tei.setFault('POST /embed', ({ text }) =>
      text.includes('Oil needs care') ? { type: 'answer', status: 429 } : { type: 'none' },
    )
    const text = `## First\n\n${'poison '.repeat(260)}\n\n${LONG}`
    expect(await ingestDocuments([documentOf(URL_A, text)], options)).toMatchObject([
      { type: 'failed', error: { code: 'SERVICE_UNUSABLE' } },
    ])
    expect(textsOf(URL_A)).toEqual(['Old.'])
  })

  test('keeps the old points if the service cannot embed anything any more', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, 'Old.')], options)
    let isSpent = false
    tei.setFault('POST /embed', ({ text }) => {
      isSpent ||= text.includes('Oil needs care')
      return isSpent
        ? { type: 'answer', status: 422, json: { error: 'spent', error_type: 'Validation' } }
        : { type: 'none' }
    })
    const paragraphs = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n${`Part ${i} needs care. `.repeat(90)}`)
    expect(await ingestDocuments([documentOf(URL_A, `${paragraphs.join('\n\n')}\n\n${LONG}`)], options)).toMatchObject([
      { type: 'failed', error: { code: 'EMBED_REFUSED' } },
    ])
    expect(textsOf(URL_A)).toEqual(['Old.'])
  })

  test('keeps the old points of a document that cannot be embedded, and goes on with the others', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, LONG)], options)
    const before = textsOf(URL_A)
    const results = await ingestDocuments(
      [documentOf(URL_A, 'poison '.repeat(900)), documentOf(URL_B, 'Colza oil.')],
      options,
    )
    expect(results).toMatchObject([
      { type: 'failed', url: URL_A, error: { code: 'EMBED_REFUSED' } },
      { type: 'written', url: URL_B },
    ])
    expect(textsOf(URL_A)).toEqual(before)
  })

  test('keeps the old points if the embedding service or the vector store fails, or there is no text', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, LONG)], options)
    const before = textsOf(URL_A)
    tei.setFault('POST /embed', { type: 'answer', status: 500, text: '' })
    expect(await ingestDocuments([documentOf(URL_A, 'New.')], options)).toMatchObject([{ type: 'failed' }])
    tei.clearFaults()
    qdrant.setFault(PUT_POINTS, { type: 'answer', status: 400, json: { status: { error: 'no' }, time: 0 } })
    expect(await ingestDocuments([documentOf(URL_A, 'New.')], options)).toMatchObject([
      { type: 'failed', error: { code: 'SERVICE_UNUSABLE' } },
    ])
    qdrant.clearFaults()
    expect(await ingestDocuments([documentOf(URL_A, ' \n ')], options)).toMatchObject([
      { type: 'failed', error: { code: 'READ_FAILED' } },
    ])
    expect(textsOf(URL_A)).toEqual(before)
  })

  test('hides user name and password of an address in error messages', async () => {
    const [result] = await ingestDocuments([documentOf('http://me:secret@127.0.0.1/', '')], { embedder, vectorStore })
    const message = result?.type === 'failed' ? result.error.message : ''
    expect(message).toBe('http://…@127.0.0.1/ could not be read: there is no text')
  })

  test('refuses missing and zero vectors, and turns a rejection that is no Error into one', async () => {
    const zeros: Pick<Embedder, 'space' | 'embed'> = {
      space: embedder.space,
      embed: async (texts) => texts.map(() => new Float32Array(DIMENSIONS)),
    }
    const none = { ...zeros, embed: async () => [] }
    for (const bad of [zeros, none]) {
      expect(await ingestDocuments([documentOf(URL_A, 'New.')], { embedder: bad, vectorStore })).toMatchObject([
        { type: 'failed', error: { code: 'VECTOR_INVALID' } },
      ])
    }
    const odd = { ...zeros, embed: () => Promise.reject('no error at all') }
    expect(await ingestDocuments([documentOf(URL_A, 'New.')], { embedder: odd, vectorStore })).toMatchObject([
      { type: 'failed', error: { message: 'no error at all' } },
    ])
  })

  test('keeps the new points if deleting the old ones fails, and the next run deletes those', async () => {
    const options = { embedder, vectorStore }
    await ingestDocuments([documentOf(URL_A, LONG)], options)
    const before = textsOf(URL_A).length
    qdrant.setFault(DELETE_POINTS, { type: 'answer', status: 400, json: { status: { error: 'gone' }, time: 0 } })
    expect(await ingestDocuments([documentOf(URL_A, 'New.')], options)).toMatchObject([{ type: 'failed' }])
    expect(textsOf(URL_A)).toHaveLength(before)
    expect(textsOf(URL_A)[0]).toBe('New.')
    qdrant.clearFaults()
    await ingestDocuments([documentOf(URL_A, 'New.')], options)
    expect(textsOf(URL_A)).toEqual(['New.'])
  })

  test('stops when it is aborted', async () => {
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    const options = { embedder, vectorStore, signal: stop.signal }
    await expect(ingestDocuments([documentOf(URL_A, LONG)], options)).rejects.toThrow('enough')
  })
})

describe('ingesting addresses', () => {
  let crawl4ai: FaultyServer

  beforeEach(async () => {
    const find = (url: string) =>
      url.endsWith('/broken') ? { success: false, error_message: 'no such page', markdown: null } : {}
    crawl4ai = stage.later(await openCrawl4AIServer({ find }))
  })

  test('reads them, writes their points, and names those that could not be read', async () => {
    const reader = stage.later(
      await openCrawl4AIReader({ endpointUrl: crawl4ai.origin, allowPrivate: ['127.0.0.1'], vectorStore }),
    )
    const broken = 'http://127.0.0.1/broken'
    const results = await ingestUrls(reader, [URL_A, broken, URL_B], { embedder })
    expect(results).toMatchObject([
      { type: 'written', url: URL_A, chunks: 1 },
      { type: 'failed', url: broken, error: { code: 'READ_FAILED' } },
      { type: 'written', url: URL_B, chunks: 1 },
    ])
    expect(textsOf(URL_A)[0]).toContain(`what stands at ${URL_A}`)
  })

  test('follows the deduplication setting of the reader, unless the call overrides it', async () => {
    const options = { endpointUrl: crawl4ai.origin, allowPrivate: ['127.0.0.1'], enableDeduplication: false }
    const reader = stage.later(await openCrawl4AIReader(options))
    await ingestDocuments([documentOf(URL_A, LONG)], { embedder, vectorStore })
    const before = textsOf(URL_A).length
    await ingestUrls(reader, [URL_A], { embedder, vectorStore })
    expect(textsOf(URL_A)).toHaveLength(before)
    await ingestUrls(reader, [URL_A], { embedder, vectorStore, enableDeduplication: true })
    expect(textsOf(URL_A)).toHaveLength(1)
  })

  test('accepts a reader of LlamaIndex, with its vector store and its deduplication', async () => {
    const options = { endpointUrl: crawl4ai.origin, allowPrivate: ['127.0.0.1'], vectorStore }
    const keeping = stage.later(await LlamaIndexReader.open({ ...options, enableDeduplication: false }))
    const replacing = stage.later(
      await LlamaIndexReader.open({ ...options, failOnError: true, maxConcurrentRequests: 2 }),
    )
    expect([keeping.vectorStore, keeping.enableDeduplication]).toEqual([vectorStore, false])
    expect([replacing.enableDeduplication, replacing.failOnError, replacing.maxConcurrentRequests]).toEqual([
      true,
      true,
      2,
    ])
    await ingestDocuments([documentOf(URL_A, LONG)], { embedder, vectorStore })
    const before = textsOf(URL_A).length
    await ingestUrls(keeping, [URL_A], { embedder })
    expect(textsOf(URL_A)).toHaveLength(before)
    expect(await ingestUrls(replacing, [URL_A], { embedder })).toEqual([{ type: 'written', url: URL_A, chunks: 1 }])
    expect(textsOf(URL_A)).toHaveLength(1)
  })

  test('requires a vector store', async () => {
    const reader = { loadAll: async () => [null], lastFailures: [] }
    await expect(ingestUrls(reader, [URL_A], { embedder })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    expect(await ingestUrls(reader, [URL_A], { embedder, vectorStore })).toMatchObject([
      { type: 'failed', error: { code: 'READ_FAILED' } },
    ])
  })
})

describe('the vector store', () => {
  test('rejects a collection with other dimensions', async () => {
    qdrant.addCollection('other', { size: 3, distance: 'Cosine' })
    const options = { url: qdrant.origin, collection: 'other', dimensions: DIMENSIONS }
    await expect(openQdrantStore(options)).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  })
})
