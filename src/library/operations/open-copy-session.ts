import { PharosError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import { type CopyableLibrary, type CopyInput, createCopyRefusal } from '../copy-input.ts'
import { COPY_TABLES, SOURCES_TABLE } from '../copy-tables.ts'
import type { CopySession, CopySessionRequest, LibraryView, SkippedGroup } from '../library-copy.ts'
import { labelOf } from '../source.ts'
import { type OriginSurvey, readAll, tableOf } from './survey-origin.ts'

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
  const place = from.store.location
  const request = { origin, place, holder: to.runner.id, now: to.clock.now(), highest, last, sources }
  if (found?.endedAt === null) {
    refuseRunning(input, found, request.now)
    const session = await sessions.resume(request)
    if (session !== undefined) return { session, isResumed: true }
    await sessions.discard(origin)
    return { session: await begin(input, request, true), isResumed: false }
  }
  const isThere = found !== undefined && (await to.libraryCopy.view((there) => holdsSources(there, input)))
  if (found !== undefined && isThere) return { session: found, isResumed: false }
  return { session: await begin(input, request, input.add === true), isResumed: false }
}

/**
 * Discards an interrupted copy, found by the origin's id or, if the origin no longer exists, by its location. If there is none, returns the
 * locations of other interrupted copies. Rows of hosts and jobs that both libraries share stay.
 */
export async function discardCopy(
  to: CopyableLibrary,
  of: { place: string; id?: string | undefined },
): Promise<DiscardedCopy> {
  const { sessions } = to.libraryCopy
  const open = await sessions.listOpen()
  const found = open.find(({ origin }) => origin === of.id) ?? open.find(({ plan }) => plan.place === of.place)
  if (found === undefined) return { isDiscarded: false, others: open.map(({ plan }) => plan.place) }
  refuseRunning({ to }, found, to.clock.now())
  await sessions.discard(found.origin)
  return { isDiscarded: true, others: [] }
}

/** Result of discarding a copy. */
export interface DiscardedCopy {
  readonly isDiscarded: boolean
  /** Locations of other interrupted copies, if none came from the given one. */
  readonly others: readonly string[]
}

function refuseRunning({ to }: Pick<CopyInput, 'to'>, { holder, touchedAt }: CopySession, now: number): void {
  const isMine = holder === to.runner.id
  if (isMine || to.runner.isGone(holder) || now - touchedAt >= HEARTBEAT_TIMEOUT_MS) return
  throw new PharosError('COPY_RUNNING', { target: to.store.location })
}

/** Whether a library has all sources of the origin. */
async function holdsSources(there: LibraryView, { view }: CopySessionInput): Promise<boolean> {
  const ids = new Set((await readAll(there, SOURCES_TABLE.name)).map(({ uuid }) => uuid))
  return (await readAll(view, SOURCES_TABLE.name)).every(({ uuid }) => ids.has(uuid))
}

async function begin(input: CopySessionInput, request: CopySessionRequest, isWelcome: boolean): Promise<CopySession> {
  const { to, view } = input
  const { isAlone, skipped } = await to.libraryCopy.view(async (there) => {
    const isEmpty = await isEmptyLibrary(there)
    if (!isEmpty) await refuseUnasked(input, there, isWelcome)
    return { isAlone: isEmpty, skipped: isEmpty ? [] : await findUnfit(view, there) }
  })
  return to.libraryCopy.sessions.begin({ ...request, isAlone, skipped })
}

/** Whether a library has no rows other than those of every new library. */
export async function isEmptyLibrary(there: LibraryView): Promise<boolean> {
  for (const table of [SOURCES_TABLE, ...COPY_TABLES]) {
    if (!NEVER_EMPTY.has(table.name) && (await there.has(table))) return false
  }
  return true
}

/** Throws if the target has data and `add` was not given, or if a source name would become ambiguous. */
async function refuseUnasked(input: CopySessionInput, there: LibraryView, isWelcome: boolean): Promise<void> {
  const held = (await readAll(there, SOURCES_TABLE.name)) as unknown as SourceName[]
  if (!isWelcome) {
    const [begun] = held.length === 0 ? await input.to.libraryCopy.sessions.listOpen() : []
    if (begun !== undefined) throw createOpenCopyError(input, begun)
    const problem = held.length === 0 ? 'it is not empty' : `it has ${countOf(held.length, 'source')} already`
    throw createCopyRefusal(
      input,
      problem,
      'name an empty one, or give --add to put the sources beside those that are there',
    )
  }
  const names = new Set(held.flatMap((source) => [labelOf(source), source.uuid]))
  const given = (await readAll(input.view, SOURCES_TABLE.name)) as unknown as SourceName[]
  const twice = given.find((source) => names.has(labelOf(source)) || names.has(source.uuid))
  if (twice === undefined) return
  throw createCopyRefusal(
    input,
    `it has a source ${labelOf(twice)} too`,
    'remove one of both, then run the same command again',
  )
}

function createOpenCopyError(input: CopySessionInput, { beganAt, plan }: CopySession): PharosError {
  const began = new Date(beganAt).toISOString().replace(/\.\d+Z$/, 'Z')
  return createCopyRefusal(
    input,
    `a copy of ${plan.place} into it, begun at ${began}, has not ended`,
    'wait for it, run it again where it was broken off, or give it up with --discard',
  )
}

interface SourceName {
  readonly uuid: string
  readonly name: string
  readonly version: string | null
}

/** Lists groups that cannot be merged with the data of the target. */
async function findUnfit(view: LibraryView, there: LibraryView): Promise<SkippedGroup[]> {
  const skipped: SkippedGroup[] = []
  const [revision, itsRevision] = await Promise.all([view, there].map(readRevision))
  if (await there.has(tableOf('places'))) {
    const hasPlaces = await view.has(tableOf('places'))
    skipped.push({ group: 'places', problem: hasPlaces ? 'it has places of its own' : null })
    if (hasPlaces && revision !== itsRevision) {
      const problem = 'its places have other numbers; `pharos analyze` finds what is missing'
      skipped.push({ group: 'placed', problem })
    }
  }
  const [space, itsSpace] = await Promise.all([view, there].map(readSpace))
  if (space !== undefined && itsSpace !== undefined && space !== itsSpace) {
    const problem = 'it has vectors of another model; `pharos embed run` makes what is missing'
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
