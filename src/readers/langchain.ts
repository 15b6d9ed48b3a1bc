import { AsyncLocalStorage } from 'node:async_hooks'
import { BaseDocumentLoader } from '@langchain/core/document_loaders/base'
import { Document } from '@langchain/core/documents'
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers'
import { ensureConfig, type RunnableConfig } from '@langchain/core/runnables'
import { writeTime } from '../core/text/iso-time.ts'
import type { Library } from '../library/library.ts'
import { writeCitation } from '../library/search/display-text.ts'
import { searchLibrary } from '../library/search/search-library.ts'
import type { Passage, SearchInput } from '../library/search.ts'
import type { Crawl4AIReaderOptions } from './crawl4ai-options.ts'
import { openCrawl4AIReader } from './crawl4ai-reader.ts'
import type { PageMetadata, ReaderDocument, ReadFailure } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { openPharosReader, type PharosReaderOptions } from './pharos-reader.ts'

/** A page as a LangChain document. */
export type PageLangChainDocument = Document<PageMetadata>

/** Loads URLs with a reader that is opened for each load. */
abstract class PageLoader extends BaseDocumentLoader {
  readonly #urls: readonly string[]
  readonly #open: () => Promise<DocumentReader>
  #lastFailures: readonly ReadFailure[] = []

  constructor(urls: string | readonly string[], open: () => Promise<DocumentReader>) {
    super()
    this.#urls = typeof urls === 'string' ? [urls] : [...urls]
    this.#open = open
  }

  /** Failures of the last load, in the order of the URLs. */
  get lastFailures(): readonly ReadFailure[] {
    return this.#lastFailures
  }

  /** The documents of the URLs in order, without failed ones. */
  async load(signal?: AbortSignal): Promise<PageLangChainDocument[]> {
    const reader = await this.#open()
    try {
      return (await reader.loadData(this.#urls, signal)).map(toDocument)
    } finally {
      this.#lastFailures = reader.lastFailures
      await reader.close()
    }
  }
}

/** Loads web pages without any service: at a polite pace, and from public addresses only. */
export class PharosLoader extends PageLoader {
  constructor(urls: string | readonly string[], options: PharosReaderOptions = {}) {
    super(urls, () => openPharosReader(options))
  }
}

/** Loads web pages through a Crawl4AI service. */
export class Crawl4AILoader extends PageLoader {
  constructor(urls: string | readonly string[], options: Crawl4AIReaderOptions = {}) {
    super(urls, () => openCrawl4AIReader(options))
  }
}

/** Search options of a retriever, besides the question. */
export interface PharosRetrieverInput
  extends BaseRetrieverInput,
    Omit<SearchInput, 'query' | 'limit' | 'cursor' | 'explain'> {
  readonly library: Library
  /** Limit of documents, from 1 to 100; the token budget may allow fewer. @default 10 */
  readonly k?: number
}

/** Metadata of a passage. */
export interface PassageMetadata
  extends Pick<
    Passage,
    'url' | 'title' | 'startLine' | 'endLine' | 'source' | 'version' | 'score' | 'tokens' | 'chunk'
  > {
  readonly headingPath: string[]
  /** Origin and age in one line, to show beside the text. */
  readonly citation: string
  /** When the page was last checked, and when it last changed, in ISO 8601. */
  readonly checkedAt: string
  readonly changedAt: string
}

/** Finds passages of a library, as LangChain documents. */
export class PharosRetriever extends BaseRetriever<PassageMetadata> {
  static override lc_name(): string {
    return 'PharosRetriever'
  }

  lc_namespace: string[] = ['pharos', 'retrievers']
  readonly #library: Library
  readonly #searchOptions: Omit<SearchInput, 'query'>

  constructor({ library, k, callbacks, tags, metadata, verbose, ...searchOptions }: PharosRetrieverInput) {
    // Passes only LangChain's own fields, because the base class stores them and shows them in traces.
    const baseFields = { callbacks, tags, metadata, verbose }
    super(Object.fromEntries(Object.entries(baseFields).filter(([, value]) => value !== undefined)))
    this.#library = library
    this.#searchOptions = { ...searchOptions, ...(k === undefined ? {} : { limit: k }) }
  }

  /** Finds passages for a question, best first. The configuration's signal or timeout aborts the search. */
  override invoke(query: string, options?: RunnableConfig): Promise<Document<PassageMetadata>[]> {
    const config = ensureConfig(options)
    return searchSignal.run(config.signal, () => super.invoke(query, config))
  }

  override async _getRelevantDocuments(query: string): Promise<Document<PassageMetadata>[]> {
    const { passages } = await searchLibrary(this.#library, { ...this.#searchOptions, query }, searchSignal.getStore())
    return passages.slice(0, this.#searchOptions.limit).map(passageDocument)
  }
}

/** Carries the signal of a search to the method that searches, because the base class does not pass it on. */
const searchSignal = new AsyncLocalStorage<AbortSignal | undefined>()

function toDocument({ id, text, metadata }: ReaderDocument): PageLangChainDocument {
  return new Document({ id, pageContent: text, metadata })
}

function passageDocument(passage: Passage): Document<PassageMetadata> {
  const { url, title, headingPath, startLine, endLine, source, version, score, tokens, chunk } = passage
  const metadata: PassageMetadata = {
    url,
    title,
    headingPath: [...headingPath],
    startLine,
    endLine,
    source,
    version,
    score,
    tokens,
    citation: writeCitation({ ...passage, chunk: null }),
    chunk,
    checkedAt: writeTime(passage.checkedAt),
    changedAt: writeTime(passage.changedAt),
  }
  return new Document({ id: chunk, pageContent: passage.text, metadata })
}
