import type { PageClass } from '../../core/model.ts'
import type { Addresses } from './addresses.ts'
import type { JobLog } from './job-log.ts'
import type { LibraryCopy } from './library-copy.ts'
import type { VectorStore } from './vectors.ts'
import type { Workers } from './workers.ts'

/** A store with the history of jobs and a view of the addresses of all sources. */
export interface LibraryStore extends VectorStore {
  readonly jobLog: JobLog
  readonly addresses: Addresses
  /** How far the store's clock is ahead of this machine's, in milliseconds, for stores shared by several machines. */
  readonly clockOffset?: () => number
  /** Workers that share the jobs; only in stores that several processes can use. */
  readonly workers?: Workers
}

/** What stores on disk keep besides. */
export interface DiskStore {
  /** Reads the class of a page; undefined before it is classified. */
  readClass(sourceId: string, key: string): Promise<PageClass | undefined>
  /** Lists the pages that the last crawl of a source changed or removed, with their texts before. */
  readEarlierPages(sourceId: string): Promise<EarlierPages>
  /** Reads the text that a page had before the last crawl of its source changed it; null if it did not, or the text was not kept. */
  readEarlierText(sourceId: string, key: string): Promise<string | null>
  /** Copies the library as a whole. */
  readonly libraryCopy: LibraryCopy
}

/** Pages that the last crawl of a source changed or removed. */
export interface EarlierPages {
  /** In the order of their keys. */
  readonly pages: readonly EarlierPage[]
  /** Whether `pages` are all that changed. Crawls that were copied, or that ran before a library kept earlier texts, are not known. */
  readonly isComplete: boolean
  /** Reads the text that a page had before; null if it was not kept. */
  readText(key: string): Promise<string | null>
}

/** A page that the last crawl changed or removed. */
export interface EarlierPage {
  readonly key: string
  /** Its address before. */
  readonly url: string
}
