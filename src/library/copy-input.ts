import { PharosError } from '../core/errors.ts'
import type { Arrival, HeldView, Holdings } from './holdings.ts'
import type { Library } from './library.ts'
import type { OriginSurvey } from './operations/survey-origin.ts'

/** A library that can be copied as a whole. */
export type CopiedLibrary = Pick<Library, 'store' | 'clock' | 'runner' | 'sha256' | 'vectors'> & {
  readonly holdings: Holdings
}

/** What is to be copied where. */
export interface CopyInput {
  readonly from: CopiedLibrary
  readonly to: CopiedLibrary
  /** Puts it beside what the other library has. @default false */
  readonly add?: boolean
  readonly onProgress?: (progress: CopyProgress) => void
  readonly signal?: AbortSignal
}

/** How far a copy is. */
export interface CopyProgress {
  readonly step: 'copying' | 'verifying' | 'indexing'
  /** What its rows are called that are at hand. */
  readonly label: string
  /** Rows that are done, of so many. */
  readonly done: number
  readonly total: number
}

/** A copy that has begun. */
export interface BegunCopy extends CopyInput {
  /** The origin as it is read. */
  readonly view: HeldView
  readonly survey: OriginSurvey
  readonly arrival: Arrival
}

/** What cannot be copied, and what to do about it. */
export function refuseCopy({ from, to }: CopyInput, problem: string, advice: string): PharosError {
  return new PharosError('COPY_REFUSED', { origin: from.store.location, target: to.store.location, problem, advice })
}
