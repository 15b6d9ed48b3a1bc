import { shiftRows } from '../../../library/copy/copy-rows.ts'
import { COPY_TABLES, SOURCES_TABLE } from '../../../library/copy/table-columns.ts'
import type {
  CopyPlan,
  CopySession,
  CopySessionClaim,
  CopySessionRequest,
  CopySessions,
} from '../../../library/ports/library-copy.ts'
import * as plans from '../../common/copy-plan.ts'
import type { Database, Sql } from '../database/database.ts'
import { lockNumbers, readHighestNumbers, reserveNumbers } from '../database/row-numbers.ts'
import { writeRows } from './copied-rows.ts'
import { dropCopiedSources, insertHiddenSources, showCopiedSources } from './copied-sources.ts'

/** Creates the port that receives a copy of another library; `clear` deletes the data of hidden sources. */
export function createCopySessions(db: Database, clear: () => Promise<void>): CopySessions {
  return {
    find: (origin) => findCopySession(db, origin),
    listOpen: async () =>
      (
        await db.all<plans.CopySessionColumns>(`${plans.SELECT_COPY_SESSIONS} WHERE ended_at IS NULL ORDER BY began_at`)
      ).map(plans.toCopySession),
    begin: (request) =>
      db.transaction(async (sql) => {
        await lockNumbers(sql)
        plans.refuseUnfinishedCopy(await findCopySession(sql, request.origin), db.location)
        const plan = plans.planNumbers(request, await readHighestNumbers(sql))
        await insertCopySession(sql, request, plan)
        await reserveForCopy(sql, request, plan)
        return requireCopySession(sql, request.origin)
      }),
    resume: async (request) => {
      const resumed = await db.transaction((sql) => resumeCopySession(sql, request))
      await clear()
      return resumed
    },
    discard: async (origin) => {
      await db.transaction(async (sql) => {
        const { plan } = await requireCopySession(sql, origin)
        await dropCopiedSources(sql, plan, [])
        await deleteCopiedRows(sql, plan)
        await sql.run('DELETE FROM arrivals WHERE origin = $1', [origin])
      })
      await clear()
      await db.run(plans.DELETE_EMPTY_VECTOR_SPACE)
    },
    write: (claim, table, changes) => withCopyLease(db, claim, (sql) => writeRows(sql, table, changes)),
    touch: (claim) => withCopyLease(db, claim, async () => undefined),
    end: async (claim, sources) => {
      const isHeld = await withCopyLease(db, claim, async (sql) => {
        await showCopiedSources(sql, sources)
        await sql.run('UPDATE arrivals SET ended_at = $1 WHERE origin = $2', [claim.now, claim.origin])
      })
      // After a bulk insert the planner still takes the tables for empty and would scan them, so statistics are updated.
      if (isHeld) await db.run(`ANALYZE ${[...new Set(COPY_TABLES.map(plans.tableName))].join(', ')}`)
      return isHeld
    },
  }
}

async function resumeCopySession(sql: Sql, request: CopySessionRequest): Promise<CopySession | undefined> {
  const { origin, location, highest, holder, now, sources } = request
  await lockNumbers(sql)
  const before = (await requireCopySession(sql, origin)).plan
  const plan = plans.extendPlan({ ...before, place: location }, highest, await readHighestNumbers(sql))
  if (plan === undefined) return undefined
  await sql.run('UPDATE arrivals SET plan = $1, holder = $2, touched_at = $3 WHERE origin = $4', [
    JSON.stringify(plan),
    holder,
    now,
    origin,
  ])
  await dropCopiedSources(sql, before, shiftRows(SOURCES_TABLE, sources, plan.offsets))
  await reserveForCopy(sql, request, plan)
  return requireCopySession(sql, origin)
}

async function reserveForCopy(sql: Sql, { sources }: CopySessionRequest, plan: CopyPlan): Promise<void> {
  await reserveNumbers(sql, plan)
  await insertHiddenSources(sql, shiftRows(SOURCES_TABLE, sources, plan.offsets))
}

/** Runs work that requires the lease of a copy session; false when another process holds it by now. */
function withCopyLease(
  db: Database,
  { origin, holder, now }: CopySessionClaim,
  work: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  return db.transaction(async (sql) => {
    const touchedRows = await sql.run(
      'UPDATE arrivals SET touched_at = $1 WHERE origin = $2 AND holder = $3 AND ended_at IS NULL',
      [now, origin, holder],
    )
    if (touchedRows === 0) return false
    await work(sql)
    return true
  })
}

async function findCopySession(sql: Sql, origin: string): Promise<CopySession | undefined> {
  const found = await sql.get<plans.CopySessionColumns>(`${plans.SELECT_COPY_SESSIONS} WHERE origin = $1`, [origin])
  return found && plans.toCopySession(found)
}

async function requireCopySession(sql: Sql, origin: string): Promise<CopySession> {
  const found = await findCopySession(sql, origin)
  if (found === undefined) throw new TypeError(`expected a copy session from ${origin}, got none`)
  return found
}

async function insertCopySession(sql: Sql, { origin, holder, now }: CopySessionRequest, plan: CopyPlan): Promise<void> {
  await sql.run(
    `INSERT INTO arrivals (origin, plan, holder, began_at, touched_at) VALUES ($1, $2, $3, $4, $4) ON CONFLICT (origin) DO UPDATE SET
       plan = excluded.plan, holder = excluded.holder, began_at = excluded.began_at, touched_at = excluded.touched_at, ended_at = NULL`,
    [origin, JSON.stringify(plan), holder, now],
  )
}

/** Deletes the rows of a copy session that belong to no source: job events, and incomplete places. */
async function deleteCopiedRows(sql: Sql, plan: CopyPlan): Promise<void> {
  for (const { name, idColumn } of plans.OWN_HISTORY_TABLES) {
    const after = plan.offsets[name] ?? 0
    const upTo = after + (plan.kept[name] ?? 0)
    await sql.run(`DELETE FROM ${name} WHERE ${idColumn} > $1 AND ${idColumn} <= $2`, [after, upTo])
  }
  const isUnfinished = (await sql.get(`SELECT 1 FROM gazetteer_state WHERE revision = ''`)) !== undefined
  if (!plans.includesPlaces(plan) || !isUnfinished) return
  for (const table of plans.PLACE_TABLES) await sql.run(`DELETE FROM ${table}`)
}
