import { HELD_TABLES, type HeldRow, type HeldTable, placesOf, SOURCES } from '../held-tables.ts'
import type { HeldView } from '../holdings.ts'

/** What has to be known of a library before it is copied. */
export interface OriginSurvey {
  readonly sources: readonly HeldRow[]
  /** The highest number of each table that gives some. */
  readonly highest: Readonly<Record<string, number>>
  /** The rows that have them. */
  readonly last: ReadonlyMap<HeldTable, HeldRow>
  /** How many rows there are to copy, without sources. */
  readonly total: number
  /** Crawls that run, or were broken off and can go on. */
  readonly running: number
}

/** Looks a library over that is to be copied. */
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
    if (row !== undefined) last.set(table, row)
  }
  const crawls = await readAll(view, 'crawls')
  const running = crawls.filter((crawl) => crawl['state'] === 'running').length
  return { sources: await readRows(view, SOURCES), highest, last, total, running }
}

/** All rows of a small table, by the names of their columns. */
export async function readAll(view: HeldView, name: string): Promise<Record<string, unknown>[]> {
  const table = [SOURCES, ...HELD_TABLES].find((one) => one.name === name)
  if (table === undefined) throw new TypeError(`expected a table of a library, got ${name}`)
  const rows = await readRows(view, table)
  return rows.map((row) => Object.fromEntries(table.columns.map((column, place) => [column.name, row[place]])))
}

async function readRows(view: HeldView, table: HeldTable): Promise<HeldRow[]> {
  const rows: HeldRow[] = []
  for await (const some of view.read(table)) rows.push(...some)
  return rows
}
