import { PharosError } from '../../core/errors.ts'
import { HELD_TABLES, type HeldRow, type HeldTable, placesOf, SOURCES } from '../../library/held-tables.ts'
import type { Arrival, ArrivalPlan, NewArrival } from '../../library/holdings.ts'
import { parseStored } from './damage.ts'

/** An arrival as stores keep it. */
export interface ArrivalColumns extends Omit<Arrival, 'plan'> {
  /** As JSON. */
  readonly plan: string
}

export function toArrival({ plan, ...rest }: ArrivalColumns): Arrival {
  // Written by a store.
  return { ...rest, plan: parseStored<ArrivalPlan>(plan) }
}

/** The tables whose rows are numbered. */
export const NUMBERED_TABLES: readonly (HeldTable & { readonly number: string })[] = [SOURCES, ...HELD_TABLES].flatMap(
  (table) => (table.number === undefined ? [] : [{ ...table, number: table.number }]),
)

/** Tables that a library has for itself, and that do not go with a source. */
export const OWN_HISTORY: readonly HeldTable[] = HELD_TABLES.filter(
  ({ belonging, group }) => belonging === 'own' && group === 'history',
)

/** The tables of places, what refers to others before those. */
export const PLACE_TABLES: readonly string[] = HELD_TABLES.filter(
  ({ name, group }) => group === 'places' && name !== 'canonical_names' && name !== 'gazetteer_state',
)
  .map(({ name }) => name)
  .reverse()

/** Whether places may have come with an arrival. */
export function bringsPlaces({ skipped }: ArrivalPlan): boolean {
  return !skipped.some(({ group }) => group === 'places')
}

/** A space that nothing is in any more is nobody's: other vectors may come. */
export const CLEAR_SPACE =
  'DELETE FROM vector_space WHERE NOT EXISTS (SELECT 1 FROM vectors) AND NOT EXISTS (SELECT 1 FROM refused_chunks)'

/** Two may have found nothing, and want to begin at once: one of them is told to wait. */
export function refuseBegun(found: Arrival | undefined, library: string): void {
  if (found?.endedAt === null) throw new PharosError('COPY_RUNNING', { target: library })
}

/** The numbers after those that are taken. */
export function planNumbers(
  { place, highest, isAlone, skipped }: NewArrival,
  taken: Readonly<Record<string, number>>,
): ArrivalPlan {
  return { place, offsets: taken, kept: highest, isAlone, skipped }
}

/** The same plan with room for more; undefined where others have taken what comes next. */
export function extendPlan(
  plan: ArrivalPlan,
  highest: Readonly<Record<string, number>>,
  taken: Readonly<Record<string, number>>,
): ArrivalPlan | undefined {
  const kept = { ...plan.kept }
  for (const [table, most] of Object.entries(highest)) {
    const before = kept[table] ?? 0
    if (most <= before) continue
    if ((taken[table] ?? 0) > (plan.offsets[table] ?? 0) + before) return undefined
    kept[table] = most
  }
  return { ...plan, kept }
}

/** Chunks with consecutive numbers, both ends included. */
export interface ChunkRun {
  readonly first: number
  readonly last: number
}

/** Numbers in runs; they come in their order. */
export function runsOf(numbers: readonly number[]): ChunkRun[] {
  const runs: { first: number; last: number }[] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run?.last === number - 1) run.last = number
    else runs.push({ first: number, last: number })
  }
  return runs
}

/** A source that nobody sees yet: its name and id are free for others until it is shown. */
export function nameArriving(row: HeldRow): HeldRow {
  const [id = 0, uuid = 0, name = 0, version = 0] = placesOf(SOURCES, ['id', 'uuid', 'name', 'version'])
  const hidden = `arriving ${row[id]}`
  return row.with(uuid, hidden).with(name, hidden).with(version, null)
}
