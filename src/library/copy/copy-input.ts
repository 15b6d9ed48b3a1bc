import { PharosError } from '../../core/errors.ts'
import type { OriginSurvey } from '../crawl/survey-origin.ts'
import type { Library } from '../library.ts'
import type { CopySession, LibraryCopy, LibraryView } from '../ports/library-copy.ts'

/** A library that can be copied as a whole. */
export type CopyableLibrary = Pick<Library, 'store' | 'clock' | 'runner' | 'sha256' | 'vectors'> & {
  readonly libraryCopy: LibraryCopy
}

/** Input of a library copy. */
export interface CopyInput {
  readonly from: CopyableLibrary
  readonly to: CopyableLibrary
  /** Adds to the content of a library that is not empty. @default false */
  readonly add?: boolean
  readonly onProgress?: (progress: CopyProgress) => void
  readonly signal?: AbortSignal
}

/** Progress of a copy. */
export interface CopyProgress {
  readonly step: 'copying' | 'verifying' | 'indexing'
  /** Label of the table in progress. */
  readonly label: string
  /** Rows done, and rows in total. */
  readonly done: number
  readonly total: number
}

/** A copy that has begun. */
export interface RunningCopy extends CopyInput {
  /** Consistent view of the origin that all reads use. */
  readonly view: LibraryView
  readonly survey: OriginSurvey
  readonly session: CopySession
}

/** Creates the error for a copy that cannot be made, with advice. */
export function createCopyRefusal({ from, to }: CopyInput, problem: string, advice: string): PharosError {
  return new PharosError('COPY_REFUSED', { origin: from.store.location, target: to.store.location, problem, advice })
}
