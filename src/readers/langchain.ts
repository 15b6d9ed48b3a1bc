import { AsyncLocalStorage } from 'node:async_hooks'
import { BaseDocumentLoader } from '@langchain/core/document_loaders/base'
import { Document } from '@langchain/core/documents'
import { BaseRetriever, type BaseRetrieverInput } from '@langchain/core/retrievers'
import { ensureConfig, type RunnableConfig } from '@langchain/core/runnables'
import type { Library } from '../library/library.ts'
import { searchLibrary } from '../library/operations/search-library.ts'
import type { Passage, SearchInput } from '../library/search.ts'
import { writeCitation, writeTime } from '../library/words.ts'
import type { Crawl4AIReaderOptions } from './crawl4ai-options.ts'
import { openCrawl4AIReader } from './crawl4ai-reader.ts'
import type { PageMetadata, ReaderDocument, ReadFailure } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { openPharosReader, type PharosReaderOptions } from './pharos-reader.ts'

/** A page as LangChain knows documents. */
export type PageLangChainDocument = Document<PageMetadata>

/** Loads addresses with a reader that is opened for each load. */
abstract class PageLoader extends BaseDocumentLoader {
  readonly #urls: readonly string[]
  readonly #open: () => Promise<DocumentReader>
  #lastFailures: readonly ReadFailure[] = []

  constructor(urls: string | readonly string[], open: () => Promise<DocumentReader>) {
    super()
    this.#urls = typeof urls === 'string' ? [urls] : [...urls]
    this.#open = open
  }

  /** What could not be read by the last load, in the order of the addresses. */
  get lastFailures(): readonly ReadFailure[] {
    return this.#lastFailures
  }

  /** The documents of the addresses, in their order, without those that could not be read. */
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

/** Loads pages of the web without any service: polite, and to public addresses only. */
export class PharosLoader extends PageLoader {
  constructor(urls: string | readonly string[], options: PharosReaderOptions = {}) {
    super(urls, () => openPharosReader(options))
  }
}

/** Loads pages of the web by a Crawl4AI service. */
export class Crawl4AILoader extends PageLoader {
  constructor(urls: string | readonly string[], options: Crawl4AIReaderOptions = {}) {
    super(urls, () => openCrawl4AIReader(options))
  }
}

/** What a retriever asks of a library, besides the question. */
export interface PharosRetrieverInput
  extends BaseRetrieverInput,
    Omit<SearchInput, 'query' | 'limit' | 'cursor' | 'explain'> {
  readonly library: Library
  /** Most documents, from 1 to 100; there may be fewer within the budget of tokens. @default 10 */
  readonly k?: number
}

/** What is known of a passage besides its text. */
export interface PassageMetadata {
  /** Address of the page with the anchor of the section. */
  readonly url: string
  readonly title: string
  readonly headingPath: string[]
  /** Lines of the stored page that the text is made of, from 1, inclusive. */
  readonly startLine: number
  readonly endLine: number
  /** Name of the source, with its version where it has one. */
  readonly source: string
  readonly version: string | null
  /** For sorting, not for comparing different questions. */
  readonly score: number
  /** About how many model tokens the text takes. */
  readonly tokens: number
  /** Where it comes from and how old it is, in one line, to stand beside the text. */
  readonly citation: string
  /** The chunk that matched best, as `findChunk` takes it. */
  readonly chunk: string
  /** When the page was last seen to be as it is, and when it last changed; ISO 8601. */
  readonly checkedAt: string
  readonly changedAt: string
}

/** Finds passages of a library, as documents of LangChain. */
export class PharosRetriever extends BaseRetriever<PassageMetadata> {
  static override lc_name(): string {
    return 'PharosRetriever'
  }

  lc_namespace: string[] = ['pharos', 'retrievers']
  readonly #library: Library
  readonly #asked: Omit<SearchInput, 'query'>

  constructor({ library, k, callbacks, tags, metadata, verbose, ...asked }: PharosRetrieverInput) {
    // Only what is LangChain's own: it keeps what it is given, and shows it to whoever traces.
    const own = { callbacks, tags, metadata, verbose }
    super(Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)))
    this.#library = library
    this.#asked = { ...asked, ...(k === undefined ? {} : { limit: k }) }
  }

  /** Finds what answers a question, best first. An aborted signal or a timeout of the configuration ends the search. */
  override invoke(query: string, options?: RunnableConfig): Promise<Document<PassageMetadata>[]> {
    const config = ensureConfig(options)
    return signals.run(config.signal, () => super.invoke(query, config))
  }

  override async _getRelevantDocuments(query: string): Promise<Document<PassageMetadata>[]> {
    const { passages } = await searchLibrary(this.#library, { ...this.#asked, query }, signals.getStore())
    return passages.slice(0, this.#asked.limit).map(passageDocument)
  }
}

/** The base class hands no signal on to where the search is made. */
const signals = new AsyncLocalStorage<AbortSignal | undefined>()

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
