import type { RowChanges } from '../ports/library-copy.ts'
import { createKeyOrder, isSameRow } from './copy-rows.ts'
import type { CopyRow, CopyTable } from './table-columns.ts'

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
  const targetRows = createLookahead(target)
  for await (const rows of origin) {
    const compared = {
      added: [] as CopyRow[],
      changed: [] as CopyRow[],
      removed: [] as CopyRow[],
      same: [] as CopyRow[],
    }
    for (const row of rows) {
      let targetRow = targetRows.isBuffered() ? targetRows.peekBuffered() : await targetRows.peek()
      while (targetRow !== undefined && order(targetRow, row) < 0) {
        compared.removed.push(targetRow)
        targetRows.advance()
        targetRow = targetRows.isBuffered() ? targetRows.peekBuffered() : await targetRows.peek()
      }
      if (targetRow === undefined || order(targetRow, row) > 0) {
        compared.added.push(row)
        continue
      }
      compared[isSameRow(row, targetRow) ? 'same' : 'changed'].push(row)
      targetRows.advance()
    }
    yield compared
  }
  for (let removed = await takeBatch(targetRows); removed.length > 0; removed = await takeBatch(targetRows)) {
    yield { added: [], changed: [], removed, same: [] }
  }
}

/** Iterates over rows without one promise per row. */
interface Lookahead {
  /** Whether `peekBuffered` can return the current row without reading another batch. */
  isBuffered(): boolean
  peekBuffered(): CopyRow | undefined
  /** Returns the current row, after reading another batch if needed; undefined at the end. */
  peek(): Promise<CopyRow | undefined>
  advance(): void
}

function createLookahead(batches: Batches): Lookahead {
  const iterator = batches[Symbol.asyncIterator]()
  let rows: readonly CopyRow[] = []
  let position = 0
  let hasEnded = false
  return {
    isBuffered: () => hasEnded || position < rows.length,
    peekBuffered: () => rows[position],
    peek: async () => {
      while (!hasEnded && position >= rows.length) {
        const { done = false, value } = await iterator.next()
        hasEnded = done
        rows = done ? [] : (value as readonly CopyRow[])
        position = 0
      }
      return rows[position]
    },
    advance: () => {
      position++
    },
  }
}

async function takeBatch(rows: Lookahead): Promise<CopyRow[]> {
  const batch: CopyRow[] = []
  while (batch.length < REMOVED_AT_ONCE) {
    const row = await rows.peek()
    if (row === undefined) break
    batch.push(row)
    rows.advance()
  }
  return batch
}
