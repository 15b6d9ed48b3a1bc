import { PharosError } from '../../core/errors.ts'
import { compareRows } from '../compare-rows.ts'
import type { BegunCopy, CopyProgress } from '../copy-input.ts'
import { atRest, shiftRows, withoutNul } from '../held-rows.ts'
import { HELD_TABLES, type HeldRow, type HeldTable, SOURCES, withoutNumber } from '../held-tables.ts'
import type { Arrival, ArrivalClaim, HeldView, NumberRange, RowChanges } from '../holdings.ts'
import { type VerifiedTable, verifyTable } from './verify-copy.ts'

/** Rows of a table in batches. */
type Batches = AsyncIterable<readonly HeldRow[]>

/** Writes rows that are missing or different in the target; returns their number. */
export async function copyTables(copy: BegunCopy): Promise<number> {
  const { arrival, to } = copy
  const giveSign = createSign(copy)
  let written = 0
  let done = 0
  for (const table of listTables(copy)) {
    const onRows = async (count: number) => {
      done += count
      tell(copy, 'copying', table, done)
      await giveSign()
    }
    // A moving view is safe, because no other process writes these rows.
    const compared = await to.holdings.view(
      async (there) => {
        const isThere = await there.has(table, rangeOf(table, arrival))
        return isThere ? copyTable(copy, table, readTarget(copy, there, table), onRows) : undefined
      },
      { isMoving: true },
    )
    written += compared ?? (await copyTable(copy, table, readNothing(), onRows))
  }
  return written
}

/** Compares all tables of both libraries. */
export function verifyTables(copy: BegunCopy): Promise<VerifiedTable[]> {
  const giveSign = createSign(copy)
  return copy.to.holdings.view(async (there) => {
    const verified: VerifiedTable[] = []
    let done = 0
    for (const table of listTables(copy)) {
      const onRows = async (count: number) => {
        done += count
        tell(copy, 'verifying', table, done)
        await giveSign()
      }
      verified.push(await verifyOne(copy, there, table, onRows))
    }
    return verified
  })
}

/** Compares the sources, which are written last. */
export function verifySources(copy: BegunCopy): Promise<VerifiedTable> {
  return copy.to.holdings.view((there) => verifyOne(copy, there, SOURCES, async () => undefined))
}

function verifyOne(
  copy: BegunCopy,
  there: HeldView,
  table: HeldTable,
  onRows: (count: number) => Promise<void>,
): Promise<VerifiedTable> {
  const both = [readOrigin(copy, table), readTarget(copy, there, table)] as const
  const { isAlone } = copy.arrival.plan
  return verifyTable(table, both, { isAlone, sha256: copy.from.sha256, onRows })
}

/** Makes the copied sources visible. */
export async function endCopy(copy: BegunCopy): Promise<void> {
  const { arrival, to, survey } = copy
  const sources = shiftRows(SOURCES, survey.sources, arrival.plan.offsets)
  await mustHold(copy, to.holdings.arrivals.end(claimOf(copy), sources))
}

/** Lists the tables to copy. In a library with data, rows get new sort ids, so these columns are left out. */
function listTables({ arrival }: BegunCopy): HeldTable[] {
  const { isAlone, skipped } = arrival.plan
  const tables = HELD_TABLES.filter(({ group }) => !skipped.some((one) => one.group === group))
  return isAlone ? tables : tables.map(withoutNumber)
}

async function copyTable(
  copy: BegunCopy,
  table: HeldTable,
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

async function* readOrigin({ view, to }: BegunCopy, table: HeldTable): Batches {
  for await (const found of view.read(table)) {
    const rows = atRest(table, found)
    yield to.holdings.keepsNul ? rows : withoutNul(rows)
  }
}

/** Reads copied rows of the target, with their ids in the origin. */
async function* readTarget({ arrival }: BegunCopy, there: HeldView, table: HeldTable): Batches {
  for await (const rows of there.read(table, rangeOf(table, arrival))) {
    yield shiftRows(table, rows, arrival.plan.offsets, -1)
  }
}

async function* readNothing(): Batches {
  // The target has no rows to compare with.
}

async function writeRows(copy: BegunCopy, table: HeldTable, changes: RowChanges): Promise<number> {
  const { offsets, isAlone } = copy.arrival.plan
  const { added, changed, removed } = allowedChanges(table, changes, isAlone)
  const count = added.length + changed.length + removed.length
  if (count === 0) return 0
  const shift = (rows: readonly HeldRow[]) => shiftRows(table, rows, offsets)
  const shifted = { added: shift(added), changed: shift(changed), removed: shift(removed) }
  await mustHold(copy, copy.to.holdings.arrivals.write(claimOf(copy), table, shifted))
  return count
}

/**
 * Limits changes by ownership. Own rows may change freely. Shared rows are overwritten only if the target was empty at the start, and never
 * removed, because another crawl may have added them since.
 */
function allowedChanges({ belonging }: HeldTable, changes: RowChanges, isAlone: boolean): RowChanges {
  if (belonging === 'own') return changes
  const { added, changed, removed } = changes
  if (belonging === 'shared') return { added, changed: isAlone ? changed : [], removed: [] }
  return { added, changed, removed: isAlone ? removed : [] }
}

/** Returns the ids reserved in the target for a table; undefined for tables without own ids. */
function rangeOf({ belonging, columns, key }: HeldTable, { plan }: Arrival): NumberRange | undefined {
  const of = columns.find(({ name }) => name === key[0])?.of
  if (belonging !== 'own' || of === undefined) return undefined
  const after = plan.offsets[of] ?? 0
  return { after, upTo: after + (plan.kept[of] ?? 0) }
}

function tell(copy: BegunCopy, step: CopyProgress['step'], { label }: HeldTable, done: number): void {
  copy.signal?.throwIfAborted()
  copy.onProgress?.({ step, label, done, total: copy.survey.total })
}

function claimOf({ to: { clock, runner }, arrival: { origin } }: BegunCopy): ArrivalClaim {
  return { origin, holder: runner.id, now: clock.now() }
}

/** Minimum heartbeat interval while reading; after a minute without one, another process may take over. */
const SIGN_MS = 5000

/** Creates a function that sends heartbeats even if there is nothing to write. */
function createSign(copy: BegunCopy): () => Promise<void> {
  const { arrival, to } = copy
  let last = to.clock.now()
  return async () => {
    const now = to.clock.now()
    if (arrival.endedAt !== null || now - last < SIGN_MS) return
    last = now
    await mustHold(copy, to.holdings.arrivals.touch(claimOf(copy)))
  }
}

/** Throws if another process has taken the copy over. */
async function mustHold({ to: { store } }: BegunCopy, done: Promise<boolean>): Promise<void> {
  if (!(await done)) throw new PharosError('COPY_RUNNING', { target: store.location })
}
