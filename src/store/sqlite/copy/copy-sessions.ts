import { shiftRows } from '../../../library/copy/copy-rows.ts'
import { type CopyTable, SOURCES_TABLE } from '../../../library/copy/table-columns.ts'
import type {
  CopyPlan,
  CopySessionClaim,
  CopySessionRequest,
  CopySessions,
} from '../../../library/ports/library-copy.ts'
import * as plans from '../../common/copy-plan.ts'
import type { Database, Write } from '../database/database.ts'
import { createRowNumbers } from '../database/row-numbers.ts'
import { type CopiedRowWriter, createCopiedRowWriter, type IndexUpdater } from './copied-rows.ts'
import { createCopiedSourceWriter } from './copied-sources.ts'

/** The parts of the store that a copy session needs. */
export interface CopySessionParts {
  readonly db: Database
  readonly write: Write
  readonly index: IndexUpdater
  /** Deletes the data of hidden sources. */
  readonly clear: () => Promise<void>
}

/** Page cache of a copy session, in KiB: its index writes are spread over the file, and the normal cache is too small for them. */
const COPY_CACHE_KIB = 128 * 1024

/** Creates the port that receives a copy of another library. */
export function createCopySessions({ db, write, index, clear }: CopySessionParts): CopySessions {
  const sql = prepareSessions(db)
  const find = (origin: string) => {
    const found = sql.select.get(origin)
    return found && plans.toCopySession(found)
  }
  const mustFind = (origin: string) => {
    const found = find(origin)
    if (found === undefined) throw new TypeError(`expected a copy session from ${origin}, got none`)
    return found
  }
  const sources = createCopiedSourceWriter(db)
  const numbers = createRowNumbers(db)
  const rows = createCopiedRowWriter(db, index)
  const touchIfHeld = ({ now, origin, holder }: CopySessionClaim): boolean =>
    sql.touch.run(now, origin, holder).changes > 0
  const cacheBefore = Number(db.pragma('cache_size', { simple: true }))
  /** Reserves the row numbers of a copy. Writes the sources first, because the rows with the highest numbers refer to them. */
  const reserveRows = (request: CopySessionRequest, plan: CopyPlan): void => {
    db.pragma(`cache_size = -${COPY_CACHE_KIB}`)
    sources.insertHidden(shiftRows(SOURCES_TABLE, request.sources, plan.offsets))
    numbers.reserve(plan)
    writeHighestRows(rows, request, plan)
  }

  return {
    find: async (origin) => find(origin),
    listOpen: async () => sql.selectOpen.all().map(plans.toCopySession),
    begin: (request) =>
      write(() => {
        plans.refuseUnfinishedCopy(find(request.origin), db.name)
        const plan = plans.planNumbers(request, numbers.readHighest())
        sql.upsert.run(request.origin, JSON.stringify(plan), request.holder, request.now, request.now)
        reserveRows(request, plan)
        return mustFind(request.origin)
      }),
    resume: async (request) => {
      const { origin, location, highest, holder, now } = request
      const resumed = await write(() => {
        const before = mustFind(origin).plan
        const plan = plans.extendPlan({ ...before, place: location }, highest, numbers.readHighest())
        if (plan === undefined) return undefined
        sql.takeOver.run(JSON.stringify(plan), holder, now, origin)
        sources.drop(before, shiftRows(SOURCES_TABLE, request.sources, plan.offsets))
        reserveRows(request, plan)
        return mustFind(origin)
      })
      await clear()
      return resumed
    },
    discard: async (origin) => {
      await write(() => {
        const { plan } = mustFind(origin)
        sources.drop(plan, [])
        deleteCopiedRows(db, plan)
        sql.forgetOne.run(origin)
      })
      await clear()
      await write(() => db.prepare(plans.DELETE_EMPTY_VECTOR_SPACE).run())
    },
    write: (claim, table, changes) =>
      write(() => {
        if (!touchIfHeld(claim)) return false
        rows.write(table, changes)
        return true
      }),
    touch: (claim) => write(() => touchIfHeld(claim)),
    end: (claim, copiedSources) =>
      write(() => {
        if (!touchIfHeld(claim)) return false
        sources.show(copiedSources)
        sql.endOne.run(claim.now, claim.origin)
        db.pragma(`cache_size = ${cacheBefore}`)
        return true
      }),
  }
}

/** The statements for copy sessions. */
function prepareSessions(db: Database) {
  return {
    select: db.prepare<[string], plans.CopySessionColumns>(`${plans.SELECT_COPY_SESSIONS} WHERE origin = ?`),
    selectOpen: db.prepare<[], plans.CopySessionColumns>(
      `${plans.SELECT_COPY_SESSIONS} WHERE ended_at IS NULL ORDER BY began_at`,
    ),
    upsert: db.prepare<[string, string, string, number, number]>(
      `INSERT INTO arrivals (origin, plan, holder, began_at, touched_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
         plan = excluded.plan, holder = excluded.holder, began_at = excluded.began_at, touched_at = excluded.touched_at, ended_at = NULL`,
    ),
    takeOver: db.prepare<[string, string, number, string]>(
      'UPDATE arrivals SET plan = ?, holder = ?, touched_at = ? WHERE origin = ?',
    ),
    touch: db.prepare<[number, string, string]>(
      'UPDATE arrivals SET touched_at = ? WHERE origin = ? AND holder = ? AND ended_at IS NULL',
    ),
    endOne: db.prepare<[number, string]>('UPDATE arrivals SET ended_at = ? WHERE origin = ?'),
    forgetOne: db.prepare<[string]>('DELETE FROM arrivals WHERE origin = ?'),
  }
}

/** Tables whose next row gets the highest number plus one. */
const NUMBERED_BY_HIGHEST: ReadonlySet<string> = new Set([
  'ledger',
  'crawl_jobs',
  'analysis_runs',
  'place_hubs',
  'place_sources',
])

/** Writes the rows with the highest numbers first, which reserves all numbers below them. */
function writeHighestRows(rows: CopiedRowWriter, { last }: CopySessionRequest, { isAlone, offsets }: CopyPlan): void {
  const mustWrite = ({ name }: CopyTable) => NUMBERED_BY_HIGHEST.has(name) && (isAlone || name === 'ledger')
  for (const [table, row] of last) {
    if (mustWrite(table)) rows.writeMissing(table, shiftRows(table, [row], offsets))
  }
}

/** Deletes the rows of a copy session that belong to no source: job events, and incomplete places. */
function deleteCopiedRows(db: Database, plan: CopyPlan): void {
  for (const { name, idColumn } of plans.OWN_HISTORY_TABLES) {
    const after = plan.offsets[name] ?? 0
    const remove = db.prepare<[number, number]>(`DELETE FROM ${name} WHERE ${idColumn} > ? AND ${idColumn} <= ?`)
    remove.run(after, after + (plan.kept[name] ?? 0))
  }
  const isUnfinished = db.prepare(`SELECT 1 FROM gazetteer_state WHERE revision = ''`).get() !== undefined
  if (!plans.includesPlaces(plan) || !isUnfinished) return
  for (const table of plans.PLACE_TABLES) db.prepare(`DELETE FROM ${table}`).run()
}
