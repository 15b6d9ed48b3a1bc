import { BaseDocumentLoader } from '@langchain/core/document_loaders/base'
import { Document, type DocumentInterface } from '@langchain/core/documents'
import { StringOutputParser } from '@langchain/core/output_parsers'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { BaseRetriever } from '@langchain/core/retrievers'
import { RunnablePassthrough, RunnableSequence } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { findChunk } from '../../src/library/search/find-chunk.ts'
import type { OpenLibrary } from '../../src/open-library.ts'
import { documentId } from '../../src/readers/document.ts'
import { Crawl4AILoader, PharosLoader, PharosRetriever } from '../../src/readers/langchain.ts'
import { createCrawlFixture, openTestSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { listAll } from './list-all.ts'
import { openCrawl4AIServer } from './servers/crawl4ai.ts'

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

describe('PharosLoader', () => {
  test('loads documents of LangChain in the order of the addresses, and reports failures', async () => {
    const site = await openTestSite({ '/a': page('A'), '/b': page('B') })
    const urls = ['/b', '/missing', '/a'].map((path) => site.origin + path)
    const loader = new PharosLoader(urls, { allowPrivate: ['127.0.0.1'] })
    expect(loader).toBeInstanceOf(BaseDocumentLoader)
    const documents = await loader.load()
    expect(documents.map(({ id, metadata: { title } }) => [id, title])).toEqual([
      [documentId(`${site.origin}/b`), 'B'],
      [documentId(`${site.origin}/a`), 'A'],
    ])
    for (const document of documents) expect(document).toBeInstanceOf(Document)
    expect(documents[0]?.pageContent).toContain('This page is about B')
    expect(loader.lastFailures.map(({ url }) => url)).toEqual([urls[1]])
  })

  test('loads a single address repeatedly', async () => {
    const site = await openTestSite({ '/a': page('A') })
    const loader = new PharosLoader(`${site.origin}/a`, { allowPrivate: ['127.0.0.1'] })
    expect(await loader.load()).toHaveLength(1)
    expect(await loader.load()).toHaveLength(1)
  })

  test('connects to no private address unless that is allowed', async () => {
    const site = await openTestSite({ '/a': page('A') })
    const loader = new PharosLoader(`${site.origin}/a`)
    expect(await loader.load()).toEqual([])
    expect(loader.lastFailures[0]?.error).toMatchObject({ code: 'READ_FAILED' })
    expect(site.requests).toEqual([])
  })

  test('rejects with the first failure with failOnError, and when it is aborted', async () => {
    const site = await openTestSite({})
    const loader = new PharosLoader(`${site.origin}/a`, { allowPrivate: ['127.0.0.1'], failOnError: true })
    await expect(loader.load()).rejects.toMatchObject({ code: 'READ_FAILED' })
    await expect(loader.load(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })
})

describe('Crawl4AILoader', () => {
  test('loads the pages that the service reads', async () => {
    const server = await openCrawl4AIServer()
    closers.push(() => server.close())
    const resolve = async () => ['93.184.215.14']
    const loader = new Crawl4AILoader(['https://docs.example/a'], { endpointUrl: server.origin, resolve })
    const [document] = await loader.load()
    expect(document?.pageContent).toContain('what stands at https://docs.example/a')
    expect(document?.metadata.source_url).toBe('https://docs.example/a')
    expect(loader.lastFailures).toEqual([])
  })

  test('rejects if the service is not running', async () => {
    const server = await openCrawl4AIServer()
    await server.close()
    const loader = new Crawl4AILoader('https://docs.example/a', { endpointUrl: server.origin })
    await expect(loader.load()).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  })
})

const OIL = `<h1>Oil</h1><p>Colza oil burns cleaner than whale oil and freezes less easily.</p>
<h2 id="store">Storing oil</h2><p>Keep the oil in copper tanks, away from frost and from rats.</p>`
const LENS = '<h1>Lens</h1><p>A lens of the first order is taller than a keeper and weighs five tons.</p>'

describe('PharosRetriever', () => {
  async function stageLamps(): Promise<{ library: OpenLibrary; origin: string }> {
    const { library, crawl, site } = await createCrawlFixture(
      { '/': page('Lamps', ['/oil', '/lens']), '/oil': OIL, '/lens': LENS },
      { name: 'lamps', version: '2.0' },
    )
    await crawl()
    return { library, origin: site.origin }
  }

  test('finds passages as documents, with all that is needed to cite them', async () => {
    const { library, origin } = await stageLamps()
    const retriever = new PharosRetriever({ library })
    expect(retriever).toBeInstanceOf(BaseRetriever)
    const [best] = await retriever.invoke('where is oil kept from frost')
    expect(best).toBeInstanceOf(Document)
    expect(best?.pageContent).toContain('Keep the oil in copper tanks')
    expect(best?.metadata).toEqual({
      url: expect.stringContaining(`${origin}/oil`),
      title: 'Oil',
      headingPath: expect.arrayContaining(['Oil']),
      startLine: expect.any(Number),
      endLine: expect.any(Number),
      source: 'lamps@2.0',
      version: '2.0',
      score: expect.any(Number),
      tokens: expect.any(Number),
      citation: expect.stringMatching(/^"Oil".* — http\S+ \(lamps@2\.0, lines \d+-\d+\)$/),
      chunk: best?.id,
      checkedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      changedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
    const { chunk } = await findChunk(library, best?.metadata.chunk ?? '')
    expect(best?.pageContent).toContain(chunk.content.trim().split('\n')[0])
  })

  test('obeys k, the sources, the filters and the budget', async () => {
    const { library } = await stageLamps()
    const ask = async (options: Partial<ConstructorParameters<typeof PharosRetriever>[0]>) => {
      const found = await new PharosRetriever({ library, ...options }).invoke('oil lens keeper lamps')
      return found.map(({ metadata: { title } }) => title)
    }
    expect((await ask({})).length).toBeGreaterThan(1)
    expect(await ask({ k: 1 })).toHaveLength(1)
    expect(new Set(await ask({ path: '/lens' }))).toEqual(new Set(['Lens']))
    expect(new Set(await ask({ sources: ['lamps@2.0'], heading: 'storing' }))).toEqual(new Set(['Oil']))
    expect((await ask({ tokens: 30 })).length).toBeLessThan((await ask({})).length)
    await expect(ask({ sources: ['lighthouses'] })).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN' })
    await expect(ask({ k: 0 })).rejects.toMatchObject({ code: 'USAGE' })
  })

  test('answers concurrent queries, and as a stream', async () => {
    const { library } = await stageLamps()
    const retriever = new PharosRetriever({ library, k: 1 })
    const answers = await retriever.batch(['which oil freezes', 'weight of the lens'])
    expect(answers.map(([first]) => first?.metadata.title)).toEqual(['Oil', 'Lens'])
    const parts = await listAll(await retriever.stream('which oil freezes'))
    expect(parts.flat().map(({ metadata: { title } }) => title)).toEqual(['Oil'])
    expect(await retriever.invoke('zeppelin')).toEqual([])
  })

  test('works in a chain', async () => {
    const { library } = await stageLamps()
    const prompts: string[] = []
    const model = new FakeListChatModel({ responses: ['Copper tanks.'] })
    const write = (documents: DocumentInterface[]) => documents.map(({ pageContent }) => pageContent).join('\n\n')
    const chain = RunnableSequence.from([
      {
        context: new PharosRetriever({ library, k: 2 }).pipe(write),
        question: new RunnablePassthrough<string>(),
      },
      ChatPromptTemplate.fromTemplate('Answer from this:\n{context}\n\n{question}'),
      (prompt: { toString(): string }) => {
        prompts.push(prompt.toString())
        return prompt
      },
      model,
      new StringOutputParser(),
    ])
    expect(await chain.invoke('where is oil kept')).toBe('Copper tanks.')
    expect(prompts[0]).toContain('Keep the oil in copper tanks')
    expect((await listAll(await chain.stream('where is oil kept'))).join('')).toBe('Copper tanks.')
  })

  test('stops when it is aborted, by itself and in a chain', async () => {
    const { library } = await stageLamps()
    const retriever = new PharosRetriever({ library })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(retriever.invoke('oil', { signal })).rejects.toThrow('enough')
    await expect(retriever.pipe((found) => found.length).invoke('oil', { signal })).rejects.toThrow()
    await expect(retriever.batch(['oil'], { signal })).rejects.toThrow()
  })

  test('passes the signal of each call to its own search', async () => {
    const { library } = await stageLamps()
    const controller = new AbortController()
    let isAborted = false
    const store = new Proxy(library.store, {
      get: (target, name) => {
        if (name === 'listSources' && !isAborted) {
          isAborted = true
          controller.abort(new Error('in the middle'))
        }
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const retriever = new PharosRetriever({ library: { ...library, store } })
    const stopped = retriever.invoke('oil', { signal: controller.signal })
    const other = retriever.invoke('oil')
    await expect(stopped).rejects.toThrow('in the middle')
    expect((await other).length).toBeGreaterThan(0)
  })

  test('callbacks get the query and the number of results, and nothing about the library', async () => {
    const { library } = await stageLamps()
    const calls: unknown[] = []
    const callbacks = [
      {
        handleRetrieverStart: (serialized: unknown, query: string) => void calls.push(serialized, query),
        handleRetrieverEnd: (documents: DocumentInterface[]) => void calls.push(documents.length),
        handleRetrieverError: (error: Error) => void calls.push(error.message),
      },
    ]
    const retriever = new PharosRetriever({ library, k: 1, callbacks, tags: ['docs'], metadata: { team: 'light' } })
    await retriever.invoke('oil')
    const serialized = { lc: 1, type: 'not_implemented', id: ['pharos', 'retrievers', 'PharosRetriever'] }
    expect(calls).toEqual([serialized, 'oil', 1])
    await expect(retriever.invoke(' ')).rejects.toMatchObject({ code: 'USAGE' })
    expect(calls.at(-1)).toContain('expected words')
    expect(retriever.lc_kwargs).not.toHaveProperty('library')
  })
})
