import type { Ledger, LedgerRow, RowFilter } from '../ledger.ts'

/** Number of rows per query. */
const BATCH = 1000

/** Yields rows in key order, in batches. The caller may change rows between batches. */
export async function* walkRows(
  ledger: Pick<Ledger, 'listRows'>,
  sourceId: string,
  filter: Pick<RowFilter, 'state' | 'reason'>,
): AsyncGenerator<readonly LedgerRow[], void, void> {
  for (let after: string | undefined; ; ) {
    const rows = await ledger.listRows(sourceId, { ...filter, ...(after === undefined ? {} : { after }), limit: BATCH })
    yield rows
    after = rows.at(-1)?.key
    if (rows.length < BATCH) return
  }
}
