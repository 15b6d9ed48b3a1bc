import { createKeyOrder, isSameRow } from './copy-rows.ts'
import type { CopyRow, CopyTable } from './copy-tables.ts'
import type { RowChanges } from './library-copy.ts'

/** Differences between rows of two libraries: changes to apply to the target, and rows that are equal. */
export interface ComparedRows extends RowChanges {
  readonly same: readonly CopyRow[]
}

type Batches = AsyncIterable<readonly CopyRow[]>

/** Batch size for rows after the end of the origin, which exist only in the target. */
const REMOVED_AT_ONCE = 500

/** Compares a table of two libraries row by row, in key order. */
export async function* compareRows(table: CopyTable, origin: Batches, target: Batches): AsyncGenerator<ComparedRows> {
  const order = createKeyOrder(table)
  const ahead = createLookahead(target)
  for await (const rows of origin) {
    const compared = {
      added: [] as CopyRow[],
      changed: [] as CopyRow[],
      removed: [] as CopyRow[],
      same: [] as CopyRow[],
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
  next(): CopyRow | undefined
  read(): Promise<CopyRow | undefined>
  pass(): void
}

function createLookahead(batches: Batches): Lookahead {
  const iterator = batches[Symbol.asyncIterator]()
  let rows: readonly CopyRow[] = []
  let place = 0
  let isOver = false
  return {
    isRead: () => isOver || place < rows.length,
    next: () => rows[place],
    read: async () => {
      while (!isOver && place >= rows.length) {
        const { done = false, value } = await iterator.next()
        isOver = done
        rows = done ? [] : (value as readonly CopyRow[])
        place = 0
      }
      return rows[place]
    },
    pass: () => {
      place++
    },
  }
}

async function takeSome(ahead: Lookahead): Promise<CopyRow[]> {
  const some: CopyRow[] = []
  while (some.length < REMOVED_AT_ONCE) {
    const row = await ahead.read()
    if (row === undefined) break
    some.push(row)
    ahead.pass()
  }
  return some
}
