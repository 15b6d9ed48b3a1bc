import { type BaseReader, Document } from '@llamaindex/core/schema'
import type { Crawl4AIReaderOptions } from './crawl4ai-options.ts'
import { openCrawl4AIReader, type Crawl4AIReader as ServiceReader } from './crawl4ai-reader.ts'
import type { PageMetadata, ReaderDocument, ReadFailure, VectorSink } from './document.ts'
import type { DocumentReader } from './document-reader.ts'
import { openPharosReader, type PharosReaderOptions } from './pharos-reader.ts'

/** A page as LlamaIndex knows documents. */
export type PageNode = Document<PageMetadata>

/** What no model needs to know of a page, and what would make the vectors of all pages alike. */
const UNREAD_KEYS: readonly (keyof PageMetadata)[] = [
  'source',
  'status_code',
  'crawl_timestamp',
  'internal_links_count',
  'external_links_count',
  'source_type',
]

/** A reader whose documents are those of LlamaIndex. */
class PageNodeReader<R extends DocumentReader> implements BaseReader<PageNode> {
  protected readonly reader: R

  constructor(reader: R) {
    this.reader = reader
  }

  get className(): string {
    return this.reader.className
  }

  /** It reads what is not on this machine. */
  get isRemote(): true {
    return true
  }

  /** Whether the first address that cannot be read rejects the whole. */
  get failOnError(): boolean {
    return this.reader.failOnError
  }

  get maxConcurrentRequests(): number {
    return this.reader.maxConcurrentRequests
  }

  /** What could not be read by the last call, in the order of the addresses. */
  get lastFailures(): readonly ReadFailure[] {
    return this.reader.lastFailures
  }

  /** A slot for each address, in their order: its document, or null where it could not be read. */
  async loadAll(urls: readonly string[], signal?: AbortSignal): Promise<(PageNode | null)[]> {
    return (await this.reader.loadAll(urls, signal)).map((document) => document && toNode(document))
  }

  /** The documents of the addresses, in their order, without those that could not be read. */
  async loadData(urls: readonly string[], signal?: AbortSignal): Promise<PageNode[]> {
    return (await this.reader.loadData(urls, signal)).map(toNode)
  }

  close(): Promise<void> {
    return this.reader.close()
  }
}

/** Reads pages of the web without any service: polite, and to public addresses only. */
export class PharosReader extends PageNodeReader<DocumentReader> {
  /** Opens a reader, which must be closed. */
  static async open(options: PharosReaderOptions = {}): Promise<PharosReader> {
    return new PharosReader(await openPharosReader(options))
  }
}

/** Reads pages of the web by a Crawl4AI service. */
export class Crawl4AIReader extends PageNodeReader<ServiceReader> {
  /** Checks the options and whether the service is well, then opens a reader, which must be closed. */
  static async open(options: Crawl4AIReaderOptions = {}): Promise<Crawl4AIReader> {
    return new Crawl4AIReader(await openCrawl4AIReader(options))
  }

  /** Whether `ingestUrls` replaces the vectors a page had. Reading removes nothing. */
  get enableDeduplication(): boolean {
    return this.reader.enableDeduplication
  }

  /** Where `ingestUrls` writes vectors. */
  get vectorStore(): VectorSink | undefined {
    return this.reader.vectorStore
  }
}

function toNode({ id, text, metadata }: ReaderDocument): PageNode {
  return new Document({
    id_: id,
    text,
    metadata,
    excludedEmbedMetadataKeys: [...UNREAD_KEYS, 'source_url'],
    excludedLlmMetadataKeys: [...UNREAD_KEYS],
  })
}
