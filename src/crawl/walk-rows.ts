import type { Ledger, LedgerRow, RowFilter } from './ledger.ts'

/** Rows that are read at once. */
const BATCH = 1000

/** Goes through rows in the order of keys, a batch at a time. They may change meanwhile. */
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
