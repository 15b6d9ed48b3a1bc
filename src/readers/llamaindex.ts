import { type BaseReader, Document } from '@llamaindex/core/schema'
import type { Crawl4AIReaderOptions } from './crawl4ai-options.ts'
import { openCrawl4AIReader, type Crawl4AIReader as ServiceReader } from './crawl4ai-reader.ts'
import type { PageMetadata, ReaderDocument, ReadFailure, VectorSink } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { openPharosReader, type PharosReaderOptions } from './pharos-reader.ts'

/** A page as a LlamaIndex document. */
export type PageNode = Document<PageMetadata>

/** Metadata that models do not need, and that would make the vectors of all pages similar. */
const EXCLUDED_KEYS: readonly (keyof PageMetadata)[] = [
  'source',
  'status_code',
  'crawl_timestamp',
  'internal_links_count',
  'external_links_count',
  'source_type',
]

/** A reader that returns LlamaIndex documents. */
class PageNodeReader<R extends DocumentReader> implements BaseReader<PageNode> {
  protected readonly reader: R

  constructor(reader: R) {
    this.reader = reader
  }

  get className(): string {
    return this.reader.className
  }

  /** Always true: a reader reads from the network. */
  get isRemote(): true {
    return true
  }

  /** Whether the first failed URL rejects the whole call. */
  get failOnError(): boolean {
    return this.reader.failOnError
  }

  get maxConcurrentRequests(): number {
    return this.reader.maxConcurrentRequests
  }

  /** Failures of the last call, in the order of the URLs. */
  get lastFailures(): readonly ReadFailure[] {
    return this.reader.lastFailures
  }

  /** One slot per URL in order: its document, or null when it could not be read. */
  async loadAll(urls: readonly string[], signal?: AbortSignal): Promise<(PageNode | null)[]> {
    return (await this.reader.loadAll(urls, signal)).map((document) => document && toNode(document))
  }

  /** The documents of the URLs in order, without failed ones. */
  async loadData(urls: readonly string[], signal?: AbortSignal): Promise<PageNode[]> {
    return (await this.reader.loadData(urls, signal)).map(toNode)
  }

  close(): Promise<void> {
    return this.reader.close()
  }
}

/** Reads web pages without any service: at a polite pace, and from public addresses only. */
export class PharosReader extends PageNodeReader<DocumentReader> {
  /** Opens a reader, which must be closed. */
  static async open(options: PharosReaderOptions = {}): Promise<PharosReader> {
    return new PharosReader(await openPharosReader(options))
  }
}

/** Reads web pages through a Crawl4AI service. */
export class Crawl4AIReader extends PageNodeReader<ServiceReader> {
  /** Checks the options and the health of the service, then opens a reader, which must be closed. */
  static async open(options: Crawl4AIReaderOptions = {}): Promise<Crawl4AIReader> {
    return new Crawl4AIReader(await openCrawl4AIReader(options))
  }

  /** Whether `ingestUrls` replaces the old vectors of a page. Reading removes nothing. */
  get enableDeduplication(): boolean {
    return this.reader.enableDeduplication
  }

  /** Destination of the vectors of `ingestUrls`. */
  get vectorStore(): VectorSink | undefined {
    return this.reader.vectorStore
  }
}

function toNode({ id, text, metadata }: ReaderDocument): PageNode {
  return new Document({
    id_: id,
    text,
    metadata,
    excludedEmbedMetadataKeys: [...EXCLUDED_KEYS, 'source_url'],
    excludedLlmMetadataKeys: [...EXCLUDED_KEYS],
  })
}
