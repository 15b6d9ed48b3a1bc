import type { BaseDocumentLoader } from '@langchain/core/document_loaders/base'
import type { BaseRetriever } from '@langchain/core/retrievers'
import type { BaseReader, Document } from '@llamaindex/core/schema'
import type { Crawl4AILoader, PassageMetadata, PharosLoader, PharosRetriever } from 'pharos/langchain'
import type { Crawl4AIReader, PharosReader } from 'pharos/llamaindex'
import type { DocumentReader, openCrawl4AIReader, openPharosReader, PageMetadata } from 'pharos/node'
import { expectTypeOf, test } from 'vitest'

// The type checker verifies this test, which imports the entry points by package name, as programs do.
test('the entry points give readers, loaders and retrievers the types of their frameworks', () => {
  expectTypeOf<Awaited<ReturnType<typeof openPharosReader>>>().toExtend<DocumentReader>()
  expectTypeOf<Awaited<ReturnType<typeof openCrawl4AIReader>>>().toExtend<DocumentReader>()
  expectTypeOf<PharosReader>().toExtend<BaseReader>()
  expectTypeOf<Crawl4AIReader>().toExtend<BaseReader>()
  expectTypeOf<PharosReader['loadData']>().returns.resolves.toEqualTypeOf<Document<PageMetadata>[]>()
  expectTypeOf<PharosLoader>().toExtend<BaseDocumentLoader>()
  expectTypeOf<Crawl4AILoader>().toExtend<BaseDocumentLoader>()
  expectTypeOf<PharosRetriever>().toExtend<BaseRetriever>()
  expectTypeOf<PharosRetriever>().toExtend<BaseRetriever<PassageMetadata>>()
})
