import type { CopyPlan } from '../../../library/ports/library-copy.ts'
import { NUMBERED_TABLES } from '../../common/copy-plan.ts'
import type { Sql } from './database.ts'

/** Sequences that do not belong to a column. */
const SEQUENCES: Readonly<Record<string, string>> = { chunks: `'chunk_numbers'` }

const sequenceOf = ({ name, idColumn }: (typeof NUMBERED_TABLES)[number]) =>
  SEQUENCES[name] ?? `pg_get_serial_sequence('${name}', '${idColumn}')`

/** Blocks inserts into all numbered tables until the caller's transaction ends. */
export async function lockNumbers(sql: Sql): Promise<void> {
  await sql.run(`LOCK TABLE ${NUMBERED_TABLES.map(({ name }) => name).join(', ')} IN SHARE ROW EXCLUSIVE MODE`)
}

/** The highest number ever assigned in each table. */
export async function readHighestNumbers(sql: Sql): Promise<Readonly<Record<string, number>>> {
  const found = await sql.all<{ name: string; last: number }>(
    NUMBERED_TABLES.map(
      (table) =>
        `SELECT '${table.name}' AS name, coalesce(pg_sequence_last_value(${sequenceOf(table)}::regclass), 0) AS last`,
    ).join(' UNION ALL '),
  )
  return Object.fromEntries(found.map(({ name, last }) => [name, last]))
}

/** Reserves the numbers that a copy session needs. */
export async function reserveNumbers(sql: Sql, { offsets, kept }: CopyPlan): Promise<void> {
  const highest = await readHighestNumbers(sql)
  for (const table of NUMBERED_TABLES) {
    const last = (offsets[table.name] ?? 0) + (kept[table.name] ?? 0)
    if (last > (highest[table.name] ?? 0))
      await sql.run(`SELECT setval(${sequenceOf(table)}::regclass, $1::bigint)`, [last])
  }
}
