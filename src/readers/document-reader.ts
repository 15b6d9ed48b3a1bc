import type { ReaderDocument, ReadFailure } from './document.ts'

/** Turns addresses into documents, in the shape that frameworks for retrieval know. */
export interface DocumentReader {
  readonly className: string
  /** It reads what is not on this machine. */
  readonly isRemote: true
  /** Whether the first address that cannot be read rejects the whole. */
  readonly failOnError: boolean
  readonly maxConcurrentRequests: number
  /** What could not be read by the last call, in the order of the addresses. */
  readonly lastFailures: readonly ReadFailure[]
  /** A slot for each address, in their order: its document, or null where it could not be read. */
  loadAll(urls: readonly string[], signal?: AbortSignal): Promise<(ReaderDocument | null)[]>
  /** The documents of the addresses, in their order, without those that could not be read. */
  loadData(urls: readonly string[], signal?: AbortSignal): Promise<ReaderDocument[]>
  close(): Promise<void>
}
