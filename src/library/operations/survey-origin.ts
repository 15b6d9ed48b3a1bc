import { atRest } from '../held-rows.ts'
import { HELD_TABLES, type HeldRow, type HeldTable, placesOf, SOURCES } from '../held-tables.ts'
import type { HeldView } from '../holdings.ts'

/** Facts about a library needed before it is copied. */
export interface OriginSurvey {
  readonly sources: readonly HeldRow[]
  /** Highest id of each table that has ids. */
  readonly highest: Readonly<Record<string, number>>
  /** Rows with the highest ids. */
  readonly last: ReadonlyMap<HeldTable, HeldRow>
  /** Number of rows to copy, without sources. */
  readonly total: number
  /** Number of crawls that are running or can be resumed. */
  readonly running: number
  /** Number of queued and running jobs. */
  readonly openJobs: number
}

/** Surveys a library before it is copied. */
export async function surveyOrigin(view: HeldView): Promise<OriginSurvey> {
  const last = new Map<HeldTable, HeldRow>()
  const highest: Record<string, number> = {}
  let total = 0
  for (const table of HELD_TABLES) total += await view.count(table)
  for (const table of [SOURCES, ...HELD_TABLES]) {
    if (table.number === undefined) continue
    const row = await view.readLast(table)
    const [place = 0] = placesOf(table, [table.number])
    highest[table.name] = Number(row?.[place] ?? 0)
    for (const written of atRest(table, row === undefined ? [] : [row])) last.set(table, written)
  }
  const running = await countRows(view, 'crawls', 'state', ['running'])
  const openJobs = await countRows(view, 'crawl_jobs', 'status', ['queued', 'running'])
  return { sources: await readRows(view, SOURCES), highest, last, total, running, openJobs }
}

/** Counts the rows of a table with one of the values in a column. */
async function countRows(view: HeldView, name: string, column: string, values: readonly string[]): Promise<number> {
  const table = tableOf(name)
  const [place = 0] = placesOf(table, [column])
  let count = 0
  for await (const rows of view.read(table)) count += rows.filter((row) => values.includes(String(row[place]))).length
  return count
}

/** Reads all rows of a small table as objects. */
export async function readAll(view: HeldView, name: string): Promise<Record<string, unknown>[]> {
  const table = tableOf(name)
  const rows = await readRows(view, table)
  return rows.map((row) => Object.fromEntries(table.columns.map((column, place) => [column.name, row[place]])))
}

/** Returns a table by name. */
export function tableOf(name: string): HeldTable {
  const found = [SOURCES, ...HELD_TABLES].find((table) => table.name === name)
  if (found === undefined) throw new TypeError(`expected a table of a library, got ${name}`)
  return found
}

async function readRows(view: HeldView, table: HeldTable): Promise<HeldRow[]> {
  const rows: HeldRow[] = []
  for await (const some of view.read(table)) rows.push(...some)
  return rows
}
