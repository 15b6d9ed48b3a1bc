import type { LedgerRow, RowFilter } from '../../crawl/ledger.ts'
import type { Store } from '../ports/store.ts'

/** Number of rows read at once. */
const ROWS_AT_ONCE = 1000

/** Reads ledger rows of a source in key order, in batches. */
export async function* readRows(
  store: Pick<Store, 'listRows'>,
  sourceId: string,
  { after: start = '', ...filter }: Omit<RowFilter, 'limit'> = {},
): AsyncGenerator<readonly LedgerRow[], void, void> {
  for (let after: string | undefined = start; after !== undefined; ) {
    const rows: readonly LedgerRow[] = await store.listRows(sourceId, { ...filter, after, limit: ROWS_AT_ONCE })
    yield rows
    after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.key
  }
}

/** Reads the row of a path, then the rows of its pages if it is a container file, then the rows below it if it is a folder. */
export async function* readRowsAt(
  store: Pick<Store, 'listRows' | 'findRow'>,
  sourceId: string,
  path: string,
): AsyncGenerator<readonly LedgerRow[], void, void> {
  const row = await store.findRow(sourceId, path)
  if (row !== undefined) yield [row]
  // `$` and `0` are the characters after `#` and `/` in key order.
  yield* readRows(store, sourceId, { after: `${path}#`, before: `${path}$` })
  yield* readRows(store, sourceId, { after: `${path}/`, before: `${path}0` })
}
