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
  /** Reads the texts that pages of a source had before its last crawl changed or removed them. */
  readEarlierPages(sourceId: string): Promise<EarlierPages>
  /** Reads the text that a page had before the last crawl of its source changed it; undefined if it did not. */
  readEarlierText(sourceId: string, key: string): Promise<string | undefined>
  /** Copies the library as a whole. */
  readonly libraryCopy: LibraryCopy
}

/** Texts that pages had before the last crawl of their source changed or removed them. */
export interface EarlierPages {
  readonly pages: readonly EarlierPage[]
  /** Whether texts may be missing, because the limit of the source is nearly reached. */
  readonly mayBeIncomplete: boolean
}

/** A page as it was before the last crawl. */
export interface EarlierPage {
  readonly key: string
  readonly url: string
  readonly markdown: string
}
