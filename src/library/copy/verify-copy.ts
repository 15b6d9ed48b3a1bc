import type { Sha256 } from '../../core/model.ts'
import { hashImported } from '../import/import-pages.ts'
import { type ComparedRows, compareRows } from './compare-rows.ts'
import { type CopyRow, type CopyTable, columnPositions } from './table-columns.ts'

/** Result of comparing a table of two libraries. */
export interface VerifiedTable {
  readonly table: CopyTable
  readonly rows: number
  /** Digest over all rows, equal for equal content in any store; null if only keys were compared. */
  readonly digest: string | null
  /** Number of texts of pages or chunks whose hash was recomputed and matches. */
  readonly hashed: number
  /** Number of different rows; must be 0. */
  readonly different: number
}

type Batches = AsyncIterable<readonly CopyRow[]>

interface VerifyOptions {
  /** Whether the target was empty when the copy started. */
  readonly wasTargetEmpty: boolean
  readonly sha256: Sha256
  readonly onRows: (count: number) => Promise<void>
}

/** Compares a table of two libraries row by row, and texts of pages and chunks with their hashes. */
export async function verifyTable(
  table: CopyTable,
  [origin, target]: readonly [Batches, Batches],
  { wasTargetEmpty, sha256, onRows }: VerifyOptions,
): Promise<VerifiedTable> {
  // If the target already had content, its shared rows may differ, so only their keys are compared. Vectors are always compared in full,
  // because only vectors of the same space are copied.
  const comparesKeysOnly = table.ownership === 'shared' && table.group !== 'vectors' && !wasTargetEmpty
  const checkText = createTextCheck(table, sha256)
  let digest = ''
  const counts = { rows: 0, hashed: 0, different: 0 }
  for await (const compared of compareRows(table, origin, target)) {
    const found = comparesKeysOnly ? [...compared.same, ...compared.changed] : compared.same
    counts.rows += found.length
    counts.different += countDifferent(table, compared, comparesKeysOnly)
    for (const row of found) {
      digest = comparesKeysOnly ? '' : sha256(`${digest}\n${writeRow(row, sha256)}`)
      if (checkText(row)) counts.hashed++
    }
    await onRows(found.length)
  }
  return { table, ...counts, digest: comparesKeysOnly ? null : digest }
}

/** Does not count rows of shared tables, such as hosts and jobs, that exist only in the target (`removed`). */
function countDifferent({ ownership }: CopyTable, compared: ComparedRows, comparesKeysOnly: boolean): number {
  const { added, changed, removed } = compared
  return added.length + (comparesKeysOnly ? 0 : changed.length) + (ownership === 'shared' ? 0 : removed.length)
}

function writeRow(row: CopyRow, sha256: Sha256): string {
  return JSON.stringify(row.map((cell) => (cell instanceof Uint8Array ? sha256(cell) : cell)))
}

/** Returns a function that checks the text of a row against its stored hash. */
function createTextCheck(table: CopyTable, sha256: Sha256): (row: CopyRow) => boolean {
  const matchesHash = (text: unknown, hash: unknown) => typeof text === 'string' && sha256(text) === hash
  if (table.name === 'chunks') {
    const [hash = 0, content = 0] = columnPositions(table, ['content_hash', 'content'])
    return (row) => matchesHash(row[content], row[hash])
  }
  if (table.name === 'pages') {
    const [meta = 0, markdown = 0] = columnPositions(table, ['meta', 'markdown'])
    return (row) => {
      const text = row[markdown]
      // The cast is safe, because only stores write this JSON.
      const { contentHash, url } = JSON.parse(String(row[meta])) as { contentHash?: unknown; url?: unknown }
      const isImported = () => typeof text === 'string' && hashImported(String(url), text, sha256) === contentHash
      return matchesHash(text, contentHash) || isImported()
    }
  }
  return () => false
}
