import { PharosError } from '../../core/errors.ts'
import { compareRows } from '../compare-rows.ts'
import type { BegunCopy, CopyProgress } from '../copy-input.ts'
import { atRest, shiftRows, withoutNul } from '../held-rows.ts'
import { HELD_TABLES, type HeldRow, type HeldTable, SOURCES, withoutNumber } from '../held-tables.ts'
import type { Arrival, ArrivalClaim, HeldView, NumberRange, RowChanges } from '../holdings.ts'
import { type VerifiedTable, verifyTable } from './verify-copy.ts'

/** Rows of a table, some at a time. */
type Batches = AsyncIterable<readonly HeldRow[]>

/** Writes what the other library lacks or has otherwise; gives how many rows. */
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
    // Nobody else writes what is read there.
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

/** Compares all that both libraries hold now. */
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

/** Lets everybody see what was copied. */
export async function endCopy(copy: BegunCopy): Promise<void> {
  const { arrival, to, survey } = copy
  const sources = shiftRows(SOURCES, survey.sources, arrival.plan.offsets)
  await mustHold(copy, to.holdings.arrivals.end(claimOf(copy), sources))
}

/** What is copied. Beside what is there, rows that have a number only to be sorted by get another. */
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

/** Rows that were copied, with the numbers they have in the origin. */
async function* readTarget({ arrival }: BegunCopy, there: HeldView, table: HeldTable): Batches {
  for await (const rows of there.read(table, rangeOf(table, arrival))) {
    yield shiftRows(table, rows, arrival.plan.offsets, -1)
  }
}

async function* readNothing(): Batches {
  // There is nothing to compare with.
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
 * What may be done to a library: of rows that only the copy has, everything. What two may know of stays what it is, unless there was
 * nothing when the copy began; and is never removed, because others may have found it since.
 */
function allowedChanges({ belonging }: HeldTable, changes: RowChanges, isAlone: boolean): RowChanges {
  if (belonging === 'own') return changes
  const { added, changed, removed } = changes
  if (belonging === 'shared') return { added, changed: isAlone ? changed : [], removed: [] }
  return { added, changed, removed: isAlone ? removed : [] }
}

/** The numbers that rows of a table were given in the other library; undefined where they have none. */
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

/** So often is there a sign of life at least while rows are read: others take over what has given none for a minute. */
const SIGN_MS = 5000

/** Makes what gives signs of life, also where nothing is to be written. */
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

/** Ends a copy that somebody else has taken over. */
async function mustHold({ to: { store } }: BegunCopy, done: Promise<boolean>): Promise<void> {
  if (!(await done)) throw new PharosError('COPY_RUNNING', { target: store.location })
}
