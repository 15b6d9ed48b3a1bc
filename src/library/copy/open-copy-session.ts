import { PharosError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import { type OriginSurvey, readAll, tableOf } from '../crawl/survey-origin.ts'
import type { CopySession, CopySessionRequest, LibraryView, SkippedGroup } from '../ports/library-copy.ts'
import { labelOf } from '../source.ts'
import { type CopyableLibrary, type CopyInput, createCopyRefusal } from './copy-input.ts'
import { COPY_TABLES, SOURCES_TABLE } from './table-columns.ts'

interface CopySessionInput extends CopyInput {
  /** Id of the origin library. */
  readonly origin: string
  readonly view: LibraryView
  readonly survey: OriginSurvey
}

/** A copy without a heartbeat for this long counts as abandoned. */
const HEARTBEAT_TIMEOUT_MS = 60_000

/** Tables that have rows even in an unused library. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['crawl_types', 'gazetteer_state', 'canonical_names'])

/** Starts or resumes a copy, or finds that it has already completed. */
export async function openCopySession(input: CopySessionInput): Promise<{ session: CopySession; isResumed: boolean }> {
  const { from, to, origin, survey } = input
  const { sessions } = to.libraryCopy
  const found = await sessions.find(origin)
  const { highest, last, sources } = survey
  const { location } = from.store
  const request = { origin, location, holder: to.runner.id, now: to.clock.now(), highest, last, sources }
  if (found?.endedAt === null) {
    refuseRunning(input, found, request.now)
    const session = await sessions.resume(request)
    if (session !== undefined) return { session, isResumed: true }
    await sessions.discard(origin)
    return { session: await begin(input, request, true), isResumed: false }
  }
  const isComplete = found !== undefined && (await to.libraryCopy.view((target) => holdsSources(target, input)))
  if (found !== undefined && isComplete) return { session: found, isResumed: false }
  return { session: await begin(input, request, input.add === true), isResumed: false }
}

/**
 * Discards an interrupted copy, found by the origin's id or, if the origin no longer exists, by its location. If there is none, returns the
 * locations of other interrupted copies. Keeps rows of hosts and jobs that both libraries share.
 */
export async function discardCopy(
  to: CopyableLibrary,
  from: { location: string; id?: string | undefined },
): Promise<DiscardedCopy> {
  const { sessions } = to.libraryCopy
  const open = await sessions.listOpen()
  const found = open.find(({ origin }) => origin === from.id) ?? open.find(({ plan }) => plan.place === from.location)
  if (found === undefined) return { isDiscarded: false, others: open.map(({ plan }) => plan.place) }
  refuseRunning({ to }, found, to.clock.now())
  await sessions.discard(found.origin)
  return { isDiscarded: true, others: [] }
}

/** Result of discarding a copy. */
export interface DiscardedCopy {
  readonly isDiscarded: boolean
  /** Origin locations of other interrupted copies; empty if a copy was discarded. */
  readonly others: readonly string[]
}

function refuseRunning({ to }: Pick<CopyInput, 'to'>, { holder, touchedAt }: CopySession, now: number): void {
  const isMine = holder === to.runner.id
  if (isMine || to.runner.isGone(holder) || now - touchedAt >= HEARTBEAT_TIMEOUT_MS) return
  throw new PharosError('COPY_RUNNING', { target: to.store.location })
}

/** Whether a library has all sources of the origin. */
async function holdsSources(target: LibraryView, { view }: CopySessionInput): Promise<boolean> {
  const ids = new Set((await readAll(target, SOURCES_TABLE.name)).map(({ uuid }) => uuid))
  return (await readAll(view, SOURCES_TABLE.name)).every(({ uuid }) => ids.has(uuid))
}

async function begin(input: CopySessionInput, request: CopySessionRequest, canAdd: boolean): Promise<CopySession> {
  const { to, view } = input
  const { wasTargetEmpty, skipped } = await to.libraryCopy.view(async (target) => {
    const isEmpty = await isEmptyLibrary(target)
    if (!isEmpty) await refuseConflicts(input, target, canAdd)
    return { wasTargetEmpty: isEmpty, skipped: isEmpty ? [] : await listUnmergeable(view, target) }
  })
  return to.libraryCopy.sessions.begin({ ...request, wasTargetEmpty, skipped })
}

/** Whether a library has no rows other than those of every new library. */
export async function isEmptyLibrary(target: LibraryView): Promise<boolean> {
  for (const table of [SOURCES_TABLE, ...COPY_TABLES]) {
    if (!NEVER_EMPTY.has(table.name) && (await target.has(table))) return false
  }
  return true
}

/** Throws if the target has data and `add` was not given, or if a source name would become ambiguous. */
async function refuseConflicts(input: CopySessionInput, target: LibraryView, canAdd: boolean): Promise<void> {
  const existing = (await readAll(target, SOURCES_TABLE.name)) as unknown as SourceName[]
  if (!canAdd) {
    const [begun] = existing.length === 0 ? await input.to.libraryCopy.sessions.listOpen() : []
    if (begun !== undefined) throw createOpenCopyError(input, begun)
    const problem = existing.length === 0 ? 'it is not empty' : `it already has ${countOf(existing.length, 'source')}`
    throw createCopyRefusal(
      input,
      problem,
      'use an empty library, or give --add to add the sources to the existing ones',
    )
  }
  const names = new Set(existing.flatMap((source) => [labelOf(source), source.uuid]))
  const given = (await readAll(input.view, SOURCES_TABLE.name)) as unknown as SourceName[]
  const duplicate = given.find((source) => names.has(labelOf(source)) || names.has(source.uuid))
  if (duplicate === undefined) return
  throw createCopyRefusal(
    input,
    `it also has a source ${labelOf(duplicate)}`,
    'remove one of the two, then run the same command again',
  )
}

function createOpenCopyError(input: CopySessionInput, { beganAt, plan }: CopySession): PharosError {
  const began = new Date(beganAt).toISOString().replace(/\.\d+Z$/, 'Z')
  return createCopyRefusal(
    input,
    `a copy of ${plan.place} to it, started at ${began}, has not finished`,
    'wait for it, run it again to resume it, or drop it with --discard',
  )
}

interface SourceName {
  readonly uuid: string
  readonly name: string
  readonly version: string | null
}

/** Lists the table groups to skip because the target has its own data for them; `problem` is null if the origin has nothing to copy. */
async function listUnmergeable(view: LibraryView, target: LibraryView): Promise<SkippedGroup[]> {
  const skipped: SkippedGroup[] = []
  const [revision, targetRevision] = await Promise.all([view, target].map(readRevision))
  if (await target.has(tableOf('places'))) {
    const hasPlaces = await view.has(tableOf('places'))
    skipped.push({ group: 'places', problem: hasPlaces ? 'the target has its own places' : null })
    if (hasPlaces && revision !== targetRevision) {
      const problem = 'the places of the target have other ids; `pharos analyze` adds what is missing'
      skipped.push({ group: 'placed', problem })
    }
  }
  const [space, targetSpace] = await Promise.all([view, target].map(readSpace))
  if (space !== undefined && targetSpace !== undefined && space !== targetSpace) {
    const problem = 'the target has vectors of another model; `pharos embed run` embeds what is missing'
    skipped.push({ group: 'vectors', problem })
  }
  return skipped
}

async function readRevision(view: LibraryView): Promise<unknown> {
  return (await readAll(view, 'gazetteer_state'))[0]?.['revision']
}

async function readSpace(view: LibraryView): Promise<unknown> {
  return (await readAll(view, 'vector_space'))[0]?.['fingerprint']
}
