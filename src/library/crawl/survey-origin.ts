import { resetRunningRows } from '../copy/copy-rows.ts'
import { COPY_TABLES, type CopyRow, type CopyTable, columnPositions, SOURCES_TABLE } from '../copy/table-columns.ts'
import type { LibraryView } from '../ports/library-copy.ts'

/** Facts about a library needed before it is copied. */
export interface OriginSurvey {
  readonly sources: readonly CopyRow[]
  /** Highest id of each table that has ids. */
  readonly highest: Readonly<Record<string, number>>
  /** Row with the highest id of each table that has ids, as the copy will contain it. */
  readonly last: ReadonlyMap<CopyTable, CopyRow>
  /** Number of rows to copy, without sources. */
  readonly total: number
  /** Number of crawls recorded as running, including interrupted ones that can be resumed. */
  readonly running: number
  /** Number of queued and running jobs. */
  readonly openJobs: number
}

/** Surveys a library before it is copied. */
export async function surveyOrigin(view: LibraryView): Promise<OriginSurvey> {
  const last = new Map<CopyTable, CopyRow>()
  const highest: Record<string, number> = {}
  let total = 0
  for (const table of COPY_TABLES) total += await view.count(table)
  for (const table of [SOURCES_TABLE, ...COPY_TABLES]) {
    if (table.idColumn === undefined) continue
    const row = await view.readLast(table)
    const [position = 0] = columnPositions(table, [table.idColumn])
    highest[table.name] = Number(row?.[position] ?? 0)
    for (const written of resetRunningRows(table, row === undefined ? [] : [row])) last.set(table, written)
  }
  const running = await countRows(view, 'crawls', 'state', ['running'])
  const openJobs = await countRows(view, 'crawl_jobs', 'status', ['queued', 'running'])
  return { sources: await readRows(view, SOURCES_TABLE), highest, last, total, running, openJobs }
}

/** Counts the rows of a table with one of the values in a column. */
async function countRows(view: LibraryView, name: string, column: string, values: readonly string[]): Promise<number> {
  const table = tableOf(name)
  const [position = 0] = columnPositions(table, [column])
  let count = 0
  for await (const rows of view.read(table)) {
    count += rows.filter((row) => values.includes(String(row[position]))).length
  }
  return count
}

/** Reads all rows of a small table as objects. */
export async function readAll(view: LibraryView, name: string): Promise<Record<string, unknown>[]> {
  const table = tableOf(name)
  const rows = await readRows(view, table)
  return rows.map((row) => Object.fromEntries(table.columns.map((column, position) => [column.name, row[position]])))
}

/** Returns a table by name. */
export function tableOf(name: string): CopyTable {
  const found = [SOURCES_TABLE, ...COPY_TABLES].find((table) => table.name === name)
  if (found === undefined) throw new TypeError(`expected a table of a library, got ${name}`)
  return found
}

async function readRows(view: LibraryView, table: CopyTable): Promise<CopyRow[]> {
  const rows: CopyRow[] = []
  for await (const batch of view.read(table)) rows.push(...batch)
  return rows
}
