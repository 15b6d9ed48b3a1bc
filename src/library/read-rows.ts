import type { LedgerRow, RowFilter } from '../crawl/ledger.ts'
import type { Store } from './store.ts'

/** Rows that are read at once. */
const ROWS = 1000

/** The ledger of a source in the order of keys, or a part of it, some rows at a time. */
export async function* readRows(
  store: Pick<Store, 'listRows'>,
  sourceId: string,
  { after: start = '', ...filter }: Omit<RowFilter, 'limit'> = {},
): AsyncGenerator<readonly LedgerRow[], void, void> {
  for (let after: string | undefined = start; after !== undefined; ) {
    const rows: readonly LedgerRow[] = await store.listRows(sourceId, { ...filter, after, limit: ROWS })
    yield rows
    after = rows.length < ROWS ? undefined : rows.at(-1)?.key
  }
}

/** What there is of a path: its row first, then those of its pages where it is a file of several, then those in the folder that it is. */
export async function* readRowsAt(
  store: Pick<Store, 'listRows' | 'findRow'>,
  sourceId: string,
  path: string,
): AsyncGenerator<readonly LedgerRow[], void, void> {
  const row = await store.findRow(sourceId, path)
  if (row !== undefined) yield [row]
  // The characters that follow `#` and `/` in the order of keys.
  yield* readRows(store, sourceId, { after: `${path}#`, before: `${path}$` })
  yield* readRows(store, sourceId, { after: `${path}/`, before: `${path}0` })
}
