import { shiftRows } from '../../library/held-rows.ts'
import { HELD_TABLES, SOURCES } from '../../library/held-tables.ts'
import type { Arrival, ArrivalClaim, ArrivalPlan, ArrivalRequest, Arrivals } from '../../library/holdings.ts'
import {
  type ArrivalColumns,
  bringsPlaces,
  CLEAR_SPACE,
  extendPlan,
  OWN_HISTORY,
  PLACE_TABLES,
  planNumbers,
  refuseBegun,
  toArrival,
} from '../common/arrival-plan.ts'
import { writeRows } from './arriving-rows.ts'
import { dropArriving, hideArriving, showArrived } from './arriving-sources.ts'
import type { Database, Sql } from './database.ts'
import { tableName } from './held-rows.ts'
import { keepNumbers, lockNumbers, readTaken } from './row-numbers.ts'

/** Creates the port that receives a copy of another library; `clear` deletes the data of hidden sources. */
export function createArrivals(db: Database, clear: () => Promise<void>): Arrivals {
  return {
    find: (origin) => findArrival(db, origin),
    listOpen: async () =>
      (await db.all<ArrivalColumns>(`${ARRIVALS} WHERE ended_at IS NULL ORDER BY began_at`)).map(toArrival),
    begin: (arrival) =>
      db.transaction(async (sql) => {
        await lockNumbers(sql)
        refuseBegun(await findArrival(sql, arrival.origin), db.location)
        const plan = planNumbers(arrival, await readTaken(sql))
        await insertArrival(sql, arrival, plan)
        await settleIn(sql, arrival, plan)
        return mustFind(sql, arrival.origin)
      }),
    takeUp: async (request) => {
      const taken = await db.transaction((sql) => takeUp(sql, request))
      await clear()
      return taken
    },
    forget: async (origin) => {
      await db.transaction(async (sql) => {
        const { plan } = await mustFind(sql, origin)
        await dropArriving(sql, plan, [])
        await clearBrought(sql, plan)
        await sql.run('DELETE FROM arrivals WHERE origin = $1', [origin])
      })
      await clear()
      await db.run(CLEAR_SPACE)
    },
    write: (claim, table, changes) => whileHeld(db, claim, (sql) => writeRows(sql, table, changes)),
    touch: (claim) => whileHeld(db, claim, async () => undefined),
    end: async (claim, sources) => {
      const isHeld = await whileHeld(db, claim, async (sql) => {
        await showArrived(sql, sources)
        await sql.run('UPDATE arrivals SET ended_at = $1 WHERE origin = $2', [claim.now, claim.origin])
      })
      // After a bulk insert the planner still takes the tables for empty and would scan them, so statistics are updated.
      if (isHeld) await db.run(`ANALYZE ${[...new Set(HELD_TABLES.map(tableName))].join(', ')}`)
      return isHeld
    },
  }
}

async function takeUp(sql: Sql, request: ArrivalRequest): Promise<Arrival | undefined> {
  const { origin, place, highest, holder, now, sources } = request
  await lockNumbers(sql)
  const before = (await mustFind(sql, origin)).plan
  const plan = extendPlan({ ...before, place }, highest, await readTaken(sql))
  if (plan === undefined) return undefined
  await sql.run('UPDATE arrivals SET plan = $1, holder = $2, touched_at = $3 WHERE origin = $4', [
    JSON.stringify(plan),
    holder,
    now,
    origin,
  ])
  await dropArriving(sql, before, shiftRows(SOURCES, sources, plan.offsets))
  await settleIn(sql, request, plan)
  return mustFind(sql, origin)
}

async function settleIn(sql: Sql, { sources }: ArrivalRequest, plan: ArrivalPlan): Promise<void> {
  await keepNumbers(sql, plan)
  await hideArriving(sql, shiftRows(SOURCES, sources, plan.offsets))
}

/** Runs work that requires the lease of an arrival; false when another process holds it by now. */
function whileHeld(
  db: Database,
  { origin, holder, now }: ArrivalClaim,
  work: (sql: Sql) => Promise<void>,
): Promise<boolean> {
  return db.transaction(async (sql) => {
    const held = await sql.run(
      'UPDATE arrivals SET touched_at = $1 WHERE origin = $2 AND holder = $3 AND ended_at IS NULL',
      [now, origin, holder],
    )
    if (held === 0) return false
    await work(sql)
    return true
  })
}

const ARRIVALS = `SELECT origin, plan, began_at AS "beganAt", ended_at AS "endedAt", holder, touched_at AS "touchedAt" FROM arrivals`

async function findArrival(sql: Sql, origin: string): Promise<Arrival | undefined> {
  const found = await sql.get<ArrivalColumns>(`${ARRIVALS} WHERE origin = $1`, [origin])
  return found && toArrival(found)
}

async function mustFind(sql: Sql, origin: string): Promise<Arrival> {
  const found = await findArrival(sql, origin)
  if (found === undefined) throw new TypeError(`expected an arrival from ${origin}, got none`)
  return found
}

async function insertArrival(sql: Sql, { origin, holder, now }: ArrivalRequest, plan: ArrivalPlan): Promise<void> {
  await sql.run(
    `INSERT INTO arrivals (origin, plan, holder, began_at, touched_at) VALUES ($1, $2, $3, $4, $4) ON CONFLICT (origin) DO UPDATE SET
       plan = excluded.plan, holder = excluded.holder, began_at = excluded.began_at, touched_at = excluded.touched_at, ended_at = NULL`,
    [origin, JSON.stringify(plan), holder, now],
  )
}

/** Deletes rows of an arrival that belong to no source: job events, and incomplete places. */
async function clearBrought(sql: Sql, plan: ArrivalPlan): Promise<void> {
  for (const { name, number } of OWN_HISTORY) {
    const after = plan.offsets[name] ?? 0
    const upTo = after + (plan.kept[name] ?? 0)
    await sql.run(`DELETE FROM ${name} WHERE ${number} > $1 AND ${number} <= $2`, [after, upTo])
  }
  const isUnfinished = (await sql.get(`SELECT 1 FROM gazetteer_state WHERE revision = ''`)) !== undefined
  if (!bringsPlaces(plan) || !isUnfinished) return
  for (const table of PLACE_TABLES) await sql.run(`DELETE FROM ${table}`)
}
