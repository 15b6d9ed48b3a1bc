import { setImmediate as pause } from 'node:timers/promises'
import { type AliasPosition, type CheckedAliases, FIRST_ALIAS } from './ledger/alias-record.ts'

/** Batch size of page removal, which limits how long other writers wait. */
const PAGES_AT_ONCE = 200

/** Removes pages batch by batch, and returns the number of removed pages. */
export async function removeInBatches(
  pages: readonly number[],
  remove: (batch: readonly number[]) => Promise<number>,
): Promise<number> {
  let removed = 0
  for (let done = 0; done < pages.length; done += PAGES_AT_ONCE) {
    removed += await remove(pages.slice(done, done + PAGES_AT_ONCE))
    await pause()
  }
  return removed
}

/** Checks aliases batch by batch until none are left, and returns their number. */
export async function checkInBatches(
  check: (after: AliasPosition) => Promise<CheckedAliases | undefined>,
): Promise<number> {
  let checked = 0
  for (let after = FIRST_ALIAS; ; await pause()) {
    const batch = await check(after)
    if (batch === undefined) return checked
    checked += batch.count
    after = batch.last
  }
}

/** Lists rows in the order of keys, so that no statement stays open while the consumer works. */
export async function* listByKey<Row extends { readonly key: string }>(
  readBatch: (after: string) => readonly Row[] | Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const found: readonly Row[] = await readBatch(after)
    yield* found
    after = found.at(-1)?.key
  }
}
