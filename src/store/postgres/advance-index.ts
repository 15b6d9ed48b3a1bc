import { createChunkIndex, type IndexStep, type NewChunk } from '../../core/retrieval/chunk-index.ts'
import type { Database, Sql } from './database.ts'
import { createIndexParts, type HeldBlocks } from './index-parts.ts'
import { ChunksLacking, createDraft, createIndexShelf, type IndexDraft } from './index-shelf.ts'
import { readNewChunks, readUntended, type UntendedIndex, writeDraft } from './index-tables.ts'
import { lockNumber } from './locks.ts'

/** What became of a step: there may be more to do, nothing is left to do, or somebody else is at it. */
type Outcome = 'done' | 'complete' | 'busy'

/**
 * Does some of what there is to do for the index, as one transaction. Only one does at a time, on whatever machine; those who write chunks
 * and those who search never wait for it.
 */
export function advanceIndex(db: Database, step: IndexStep | undefined): Promise<Outcome> {
  return db.transaction(async (sql) => {
    const lock = await sql.get<{ isTaken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockNumber('index')}) AS "isTaken"`,
    )
    if (lock?.isTaken !== true) return 'busy'
    const found = await readUntended(sql)
    const { draft, isDone } = await work(sql, found, step)
    const isChanged = draft.generation !== found.generation || draft.reached !== undefined || found.goneRows.length > 0
    if (isChanged) await writeDraft(sql, draft, found.goneRows)
    return isDone || found.isMoreGone || (found.isMoreStale && draft.reached !== undefined) ? 'done' : 'complete'
    // Chunks and what is said of them have to be seen as they were at one moment.
  }, 'REPEATABLE READ')
}

/** Runs a step on what was loaded, again and again, until it lacked nothing. */
async function work(
  sql: Sql,
  found: UntendedIndex,
  step: IndexStep | undefined,
): Promise<{ draft: IndexDraft; isDone: boolean }> {
  const held: HeldBlocks = new Map()
  // What is merged is not there any more afterwards, and need not be kept for those who search.
  const parts = createIndexParts()
  let chunks: NewChunk[] | undefined
  for (;;) {
    const draft = createDraft({ ...found, chunks, stale: [] })
    const index = createChunkIndex(createIndexShelf(parts, () => draft))
    try {
      const { result: isDone, lacking } = parts.run(held, () => {
        for (const { first, last } of found.gone) index.remove(first, last - first + 1)
        // What is gone comes first: chunks that are taken in again were removed before.
        if (found.isMoreGone) return true
        draft.stale = found.stale
        return index.advance(step)
      })
      if (lacking === undefined) return { draft, isDone }
      if (!(await parts.load(sql, lacking, held))) throw new RangeError('the index has lost some of its blocks')
    } catch (error) {
      if (!(error instanceof ChunksLacking)) throw error
      chunks = await readNewChunks(sql, draft.stale, error.count)
    }
  }
}
