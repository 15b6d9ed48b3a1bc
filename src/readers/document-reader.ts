import type { ReaderDocument, ReadFailure } from './document.ts'

/** Turns URLs into documents, in the form that retrieval frameworks use. */
export interface DocumentReader {
  readonly className: string
  /** Always true: a reader reads from the network. */
  readonly isRemote: true
  /** Whether the first failed URL rejects the whole call. */
  readonly failOnError: boolean
  readonly maxConcurrentRequests: number
  /** Failures of the last call, in the order of the URLs. */
  readonly lastFailures: readonly ReadFailure[]
  /** One slot per URL in order: its document, or null when it could not be read. */
  loadAll(urls: readonly string[], signal?: AbortSignal): Promise<(ReaderDocument | null)[]>
  /** The documents of the URLs in order, without failed ones. */
  loadData(urls: readonly string[], signal?: AbortSignal): Promise<ReaderDocument[]>
  close(): Promise<void>
}
