import { PharosError } from '../../core/errors.ts'
import type { CopySession, CopySessionClaim, IdRange, LibraryView, RowChanges } from '../ports/library-copy.ts'
import { compareRows } from './compare-rows.ts'
import type { CopyProgress, RunningCopy } from './copy-input.ts'
import { replaceNul, resetRunningRows, shiftRows } from './copy-rows.ts'
import { COPY_TABLES, type CopyRow, type CopyTable, SOURCES_TABLE, withoutIdColumn } from './table-columns.ts'
import { type VerifiedTable, verifyTable } from './verify-copy.ts'

/** Rows of a table in batches. */
type Batches = AsyncIterable<readonly CopyRow[]>

/** Writes rows that are missing or different in the target; returns their number. */
export async function copyTables(copy: RunningCopy): Promise<number> {
  const { session, to } = copy
  const sendHeartbeat = createHeartbeat(copy)
  let written = 0
  let done = 0
  for (const table of listTables(copy)) {
    const onRows = async (count: number) => {
      done += count
      reportProgress(copy, 'copying', table, done)
      await sendHeartbeat()
    }
    // A view without a snapshot is safe, because no other process writes these rows.
    const compared = await to.libraryCopy.view(
      async (targetView) => {
        const hasRows = await targetView.has(table, rangeOf(table, session))
        return hasRows ? copyTable(copy, table, readTarget(copy, targetView, table), onRows) : undefined
      },
      { isMoving: true },
    )
    written += compared ?? (await copyTable(copy, table, readNothing(), onRows))
  }
  return written
}

/** Compares all tables of both libraries. */
export function verifyTables(copy: RunningCopy): Promise<VerifiedTable[]> {
  const sendHeartbeat = createHeartbeat(copy)
  return copy.to.libraryCopy.view(async (targetView) => {
    const verified: VerifiedTable[] = []
    let done = 0
    for (const table of listTables(copy)) {
      const onRows = async (count: number) => {
        done += count
        reportProgress(copy, 'verifying', table, done)
        await sendHeartbeat()
      }
      verified.push(await verifyOne(copy, targetView, table, onRows))
    }
    return verified
  })
}

/** Compares the sources, which become visible only when the copy ends. */
export function verifySources(copy: RunningCopy): Promise<VerifiedTable> {
  return copy.to.libraryCopy.view((targetView) => verifyOne(copy, targetView, SOURCES_TABLE, async () => undefined))
}

function verifyOne(
  copy: RunningCopy,
  targetView: LibraryView,
  table: CopyTable,
  onRows: (count: number) => Promise<void>,
): Promise<VerifiedTable> {
  const originAndTarget = [readOrigin(copy, table), readTarget(copy, targetView, table)] as const
  const { isAlone: wasTargetEmpty } = copy.session.plan
  return verifyTable(table, originAndTarget, { wasTargetEmpty, sha256: copy.from.sha256, onRows })
}

/** Makes the copied sources visible. */
export async function endCopy(copy: RunningCopy): Promise<void> {
  const { session, to, survey } = copy
  const sources = shiftRows(SOURCES_TABLE, survey.sources, session.plan.offsets)
  await requireClaim(copy, to.libraryCopy.sessions.end(claimOf(copy), sources))
}

/** Lists the tables to copy. In a library with data, rows get new sort ids, so these columns are left out. */
function listTables({ session }: RunningCopy): CopyTable[] {
  const { isAlone: wasTargetEmpty, skipped } = session.plan
  const tables = COPY_TABLES.filter(({ group }) => !skipped.some((one) => one.group === group))
  return wasTargetEmpty ? tables : tables.map(withoutIdColumn)
}

async function copyTable(
  copy: RunningCopy,
  table: CopyTable,
  target: Batches,
  onRows: (count: number) => Promise<void>,
): Promise<number> {
  let written = 0
  for await (const compared of compareRows(table, readOrigin(copy, table), target)) {
    written += await writeRows(copy, table, compared)
    await onRows(compared.added.length + compared.changed.length + compared.same.length)
  }
  return written
}

async function* readOrigin({ view, to }: RunningCopy, table: CopyTable): Batches {
  for await (const found of view.read(table)) {
    const rows = resetRunningRows(table, found)
    yield to.libraryCopy.canStoreNul ? rows : replaceNul(rows)
  }
}

/** Reads copied rows of the target, with their ids in the origin. */
async function* readTarget({ session }: RunningCopy, targetView: LibraryView, table: CopyTable): Batches {
  for await (const rows of targetView.read(table, rangeOf(table, session))) {
    yield shiftRows(table, rows, session.plan.offsets, -1)
  }
}

async function* readNothing(): Batches {
  // The target has no rows to compare with.
}

async function writeRows(copy: RunningCopy, table: CopyTable, changes: RowChanges): Promise<number> {
  const { offsets, isAlone: wasTargetEmpty } = copy.session.plan
  const { added, changed, removed } = allowedChanges(table, changes, wasTargetEmpty)
  const count = added.length + changed.length + removed.length
  if (count === 0) return 0
  const shift = (rows: readonly CopyRow[]) => shiftRows(table, rows, offsets)
  const shifted = { added: shift(added), changed: shift(changed), removed: shift(removed) }
  await requireClaim(copy, copy.to.libraryCopy.sessions.write(claimOf(copy), table, shifted))
  return count
}

/**
 * Limits changes by the ownership of rows. `own` rows may change freely. `shared` rows are overwritten only if the target was empty at the
 * start, and never removed, because another crawl may have added them since. `whole` rows are removed only if the target was empty at the
 * start.
 */
function allowedChanges({ ownership }: CopyTable, changes: RowChanges, wasTargetEmpty: boolean): RowChanges {
  if (ownership === 'own') return changes
  const { added, changed, removed } = changes
  if (ownership === 'shared') return { added, changed: wasTargetEmpty ? changed : [], removed: [] }
  return { added, changed, removed: wasTargetEmpty ? removed : [] }
}

/** Returns the ids reserved in the target for a table; undefined for tables without own ids. */
function rangeOf({ ownership, columns, key }: CopyTable, { plan }: CopySession): IdRange | undefined {
  const of = columns.find(({ name }) => name === key[0])?.references
  if (ownership !== 'own' || of === undefined) return undefined
  const after = plan.offsets[of] ?? 0
  return { after, upTo: after + (plan.kept[of] ?? 0) }
}

function reportProgress(copy: RunningCopy, step: CopyProgress['step'], { label }: CopyTable, done: number): void {
  copy.signal?.throwIfAborted()
  copy.onProgress?.({ step, label, done, total: copy.survey.total })
}

function claimOf({ to: { clock, runner }, session: { origin } }: RunningCopy): CopySessionClaim {
  return { origin, holder: runner.id, now: clock.now() }
}

/** Minimum heartbeat interval while reading; after a minute without one, another process may take over. */
const HEARTBEAT_INTERVAL_MS = 5000

/** Creates a function that sends heartbeats even if there is nothing to write. */
function createHeartbeat(copy: RunningCopy): () => Promise<void> {
  const { session, to } = copy
  let last = to.clock.now()
  return async () => {
    const now = to.clock.now()
    if (session.endedAt !== null || now - last < HEARTBEAT_INTERVAL_MS) return
    last = now
    await requireClaim(copy, to.libraryCopy.sessions.touch(claimOf(copy)))
  }
}

/** Throws if another process has taken the copy over. */
async function requireClaim({ to: { store } }: RunningCopy, done: Promise<boolean>): Promise<void> {
  if (!(await done)) throw new PharosError('COPY_RUNNING', { target: store.location })
}
