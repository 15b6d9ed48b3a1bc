import { PharosError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import { surveyOrigin } from '../crawl/survey-origin.ts'
import type { CopySession } from '../ports/library-copy.ts'
import { type CopyableLibrary, type CopyInput, type CopyProgress, createCopyRefusal } from './copy-input.ts'
import { copyTables, endCopy, verifySources, verifyTables } from './copy-tables.ts'
import { isEmptyLibrary, openCopySession } from './open-copy-session.ts'
import type { VerifiedTable } from './verify-copy.ts'

/** Result of a copy. */
export interface CopyResult {
  /** Whether the copy was already complete. */
  readonly wasComplete: boolean
  /** Whether an interrupted copy was resumed. */
  readonly isResumed: boolean
  readonly sources: number
  /** Number of rows written, without sources. */
  readonly written: number
  readonly verified: readonly VerifiedTable[]
  readonly skipped: CopySession['plan']['skipped']
  /** Number of crawls running in the origin: the target has them as they were when read. */
  readonly running: number
  /** Number of open jobs in the origin: the target has them as stopped or cancelled. */
  readonly openJobs: number
  /** Duration of each step in milliseconds. */
  readonly durationsMs: Readonly<Record<CopyProgress['step'], number>>
}

/**
 * Copies all data of a library into another. Rows are compared with those already there, so that an interrupted copy resumes with the
 * remaining ones. At the end both libraries are read and compared; only then the sources become visible.
 */
export async function copyLibrary(input: CopyInput): Promise<CopyResult> {
  const { from, to } = input
  const [origin, target] = await Promise.all([from, to].map(({ libraryCopy }) => libraryCopy.readLibraryId()))
  if (origin === undefined) throw new TypeError('expected a library to have an identity')
  if (origin === target) await refuseSameLibrary(input, origin)
  const durationsMs = { copying: 0, verifying: 0, indexing: 0 }
  const timed = createTimer(from, durationsMs)
  const { session, ...copied } = await from.libraryCopy.view(async (view) => {
    const survey = await surveyOrigin(view)
    const { session, isResumed } = await openCopySession({ ...input, origin, view, survey })
    const copy = { ...input, session, view, survey }
    const wasComplete = session.endedAt !== null
    const written = wasComplete ? 0 : await timed('copying', () => copyTables(copy))
    const verified = await timed('verifying', () => verifyTables(copy))
    refuseDifferences(input, session, verified)
    if (!wasComplete) await endCopy(copy)
    const endedAt = session.endedAt ?? to.clock.now()
    refuseDifferences(input, { endedAt }, [await verifySources(copy)])
    const { sources, running, openJobs } = survey
    return { session, wasComplete, isResumed, sources: sources.length, written, verified, running, openJobs }
  })
  await timed('indexing', () => buildIndexes(input))
  return { ...copied, skipped: session.plan.skipped, durationsMs }
}

/**
 * Throws if both are the same library, or if one was made from the other by copying its files. A copy into an empty target, and the
 * continuation of an earlier copy, are allowed.
 */
async function refuseSameLibrary(input: CopyInput, origin: string): Promise<void> {
  const { from, to } = input
  const isSame = from.store.location === to.store.location
  if (isSame) throw createCopyRefusal(input, 'both are the same library', 'give two different libraries')
  const isNew = await to.libraryCopy.view(isEmptyLibrary)
  if (isNew || (await to.libraryCopy.sessions.find(origin)) !== undefined) return
  const problem = 'both are the same library, or one was made from the other by other means, such as cp or pg_dump'
  throw createCopyRefusal(input, problem, 'copy to an empty library')
}

function createTimer({ clock }: CopyableLibrary, durationsMs: Record<CopyProgress['step'], number>) {
  return async <T>(step: CopyProgress['step'], work: () => Promise<T>): Promise<T> => {
    const began = clock.now()
    const result = await work()
    durationsMs[step] = clock.now() - began
    return result
  }
}

/** Builds the indexes of chunks and vectors. If interrupted, the next search builds them. */
async function buildIndexes({ to, signal, onProgress }: CopyInput): Promise<void> {
  onProgress?.({ step: 'indexing', label: 'chunk', done: 0, total: 0 })
  await to.store.indexMissingChunks(signal)
  await to.vectors?.buildNearestIndex?.()
}

function refuseDifferences(
  input: CopyInput,
  { endedAt }: Pick<CopySession, 'endedAt'>,
  verified: readonly VerifiedTable[],
): void {
  const differing = verified.filter(({ different }) => different > 0)
  if (differing.length === 0) return
  const differences = differing
    .map(({ table, different }) => `${countOf(different, 'difference')} in ${table.name}`)
    .join(', ')
  if (endedAt === null)
    throw new PharosError('COPY_DIFFERS', { origin: input.from.store.location, problem: differences })
  const copiedAt = new Date(endedAt).toISOString().replace(/\.\d+Z$/, 'Z')
  const problem = `it was copied there at ${copiedAt}, and one of the two has changed since: ${differences}`
  throw createCopyRefusal(input, problem, 'copy to an empty library, or remove its sources from the target first')
}
