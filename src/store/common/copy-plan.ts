import { PharosError } from '../../core/errors.ts'
import {
  COPY_TABLES,
  type CopyRow,
  type CopyTable,
  columnPositions,
  SOURCES_TABLE,
} from '../../library/copy/table-columns.ts'
import type { CopyPlan, CopySession, NewCopySession } from '../../library/ports/library-copy.ts'
import { selectColumns } from './columns.ts'
import { parseStored } from './damage.ts'

/** A copy session as it is stored. */
export interface CopySessionColumns extends Omit<CopySession, 'plan'> {
  /** As JSON. */
  readonly plan: string
}

export function toCopySession({ plan, ...rest }: CopySessionColumns): CopySession {
  // The JSON was written by a store.
  return { ...rest, plan: parseStored<CopyPlan>(plan) }
}

/** SQL that selects copy sessions. */
export const SELECT_COPY_SESSIONS: string = `SELECT ${selectColumns('origin, plan, began_at, ended_at, holder, touched_at')} FROM arrivals`

/** The tables with numbered rows. */
export const NUMBERED_TABLES: readonly (CopyTable & { readonly number: string })[] = [
  SOURCES_TABLE,
  ...COPY_TABLES,
].flatMap((table) => (table.idColumn === undefined ? [] : [{ ...table, number: table.idColumn }]))

/** History tables that belong to the library itself and not to a source. */
export const OWN_HISTORY_TABLES: readonly CopyTable[] = COPY_TABLES.filter(
  ({ ownership, group }) => ownership === 'own' && group === 'history',
)

/** The tables of places, ordered so that referring tables come first. */
export const PLACE_TABLES: readonly string[] = COPY_TABLES.filter(
  ({ name, group }) => group === 'places' && name !== 'canonical_names' && name !== 'gazetteer_state',
)
  .map(({ name }) => name)
  .reverse()

/** Whether a copy session includes places. */
export function includesPlaces({ skipped }: CopyPlan): boolean {
  return !skipped.some(({ group }) => group === 'places')
}

/** Deletes the vector space once it is empty, so that vectors of another model can be stored. */
export const DELETE_EMPTY_VECTOR_SPACE =
  'DELETE FROM vector_space WHERE NOT EXISTS (SELECT 1 FROM vectors) AND NOT EXISTS (SELECT 1 FROM refused_chunks)'

/** Throws if a copy session is unfinished. Two processes may both find none and start one; the second fails here. */
export function refuseUnfinishedCopy(found: CopySession | undefined, library: string): void {
  if (found?.endedAt === null) throw new PharosError('COPY_RUNNING', { target: library })
}

/** Creates the plan of a new copy session: its row numbers follow those that are in use. */
export function planNumbers(
  { location, highest, wasTargetEmpty, skipped }: NewCopySession,
  taken: Readonly<Record<string, number>>,
): CopyPlan {
  return { place: location, offsets: taken, kept: highest, isAlone: wasTargetEmpty, skipped }
}

/** The plan with more reserved numbers; undefined when another writer has taken the next numbers. */
export function extendPlan(
  plan: CopyPlan,
  highest: Readonly<Record<string, number>>,
  taken: Readonly<Record<string, number>>,
): CopyPlan | undefined {
  const kept = { ...plan.kept }
  for (const [table, highestNumber] of Object.entries(highest)) {
    const before = kept[table] ?? 0
    if (highestNumber <= before) continue
    if ((taken[table] ?? 0) > (plan.offsets[table] ?? 0) + before) return undefined
    kept[table] = highestNumber
  }
  return { ...plan, kept }
}

/** A range of consecutive chunk numbers, both ends included. */
export interface ChunkRun {
  readonly first: number
  readonly last: number
}

/** Groups ascending numbers into ranges. */
export function groupRuns(numbers: readonly number[]): ChunkRun[] {
  const runs: { first: number; last: number }[] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run?.last === number - 1) run.last = number
    else runs.push({ first: number, last: number })
  }
  return runs
}

/** Hides a source that is still being copied: its name and id stay free for other sources until it is shown. */
export function hideSourceName(row: CopyRow): CopyRow {
  const [id = 0, uuid = 0, name = 0, version = 0] = columnPositions(SOURCES_TABLE, ['id', 'uuid', 'name', 'version'])
  const hidden = `arriving ${row[id]}`
  return row.with(uuid, hidden).with(name, hidden).with(version, null)
}

/** The stored name of a table. */
export function tableName({ name }: CopyTable): string {
  return name === 'canonical_names' ? 'places' : name
}
