import { createKeyOrder, isSameRow } from './held-rows.ts'
import type { HeldRow, HeldTable } from './held-tables.ts'
import type { RowChanges } from './holdings.ts'

/** Differences between rows of two libraries: changes to apply to the target, and rows that are equal. */
export interface ComparedRows extends RowChanges {
  readonly same: readonly HeldRow[]
}

type Batches = AsyncIterable<readonly HeldRow[]>

/** Batch size for rows after the end of the origin, which exist only in the target. */
const REMOVED_AT_ONCE = 500

/** Compares a table of two libraries row by row, in key order. */
export async function* compareRows(table: HeldTable, origin: Batches, target: Batches): AsyncGenerator<ComparedRows> {
  const order = createKeyOrder(table)
  const ahead = createLookahead(target)
  for await (const rows of origin) {
    const compared = {
      added: [] as HeldRow[],
      changed: [] as HeldRow[],
      removed: [] as HeldRow[],
      same: [] as HeldRow[],
    }
    for (const row of rows) {
      let there = ahead.isRead() ? ahead.next() : await ahead.read()
      while (there !== undefined && order(there, row) < 0) {
        compared.removed.push(there)
        ahead.pass()
        there = ahead.isRead() ? ahead.next() : await ahead.read()
      }
      if (there === undefined || order(there, row) > 0) {
        compared.added.push(row)
        continue
      }
      compared[isSameRow(row, there) ? 'same' : 'changed'].push(row)
      ahead.pass()
    }
    yield compared
  }
  for (let removed = await takeSome(ahead); removed.length > 0; removed = await takeSome(ahead)) {
    yield { added: [], changed: [], removed, same: [] }
  }
}

/** Iterates over rows without one promise per row. */
interface Lookahead {
  /** Whether `next` can answer without reading another batch. */
  isRead(): boolean
  next(): HeldRow | undefined
  read(): Promise<HeldRow | undefined>
  pass(): void
}

function createLookahead(batches: Batches): Lookahead {
  const iterator = batches[Symbol.asyncIterator]()
  let rows: readonly HeldRow[] = []
  let place = 0
  let isOver = false
  return {
    isRead: () => isOver || place < rows.length,
    next: () => rows[place],
    read: async () => {
      while (!isOver && place >= rows.length) {
        const { done = false, value } = await iterator.next()
        isOver = done
        rows = done ? [] : (value as readonly HeldRow[])
        place = 0
      }
      return rows[place]
    },
    pass: () => {
      place++
    },
  }
}

async function takeSome(ahead: Lookahead): Promise<HeldRow[]> {
  const some: HeldRow[] = []
  while (some.length < REMOVED_AT_ONCE) {
    const row = await ahead.read()
    if (row === undefined) break
    some.push(row)
    ahead.pass()
  }
  return some
}
