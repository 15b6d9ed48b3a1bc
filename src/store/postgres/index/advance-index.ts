import { createChunkIndex, type IndexStep } from '../../../core/retrieval/index/chunk-index.ts'
import type { NewChunk } from '../../../core/retrieval/index/index-storage.ts'
import type { Database, Sql } from '../database/database.ts'
import { lockNumber } from '../database/locks.ts'
import { createIndexParts, type PinnedBlocks } from './index-parts.ts'
import { createDraft, createIndexStorage, type IndexDraft, MissingChunksError } from './index-storage.ts'
import { type IndexBacklog, readIndexBacklog, readNewChunks, writeDraft } from './index-tables.ts'

/** The result of a step: more may be left to do, nothing is left, or another process is working on the index. */
type StepOutcome = 'done' | 'complete' | 'busy'

/**
 * Runs one step of index maintenance as a transaction. Only one process on any machine does this at a time; writers and searches never wait
 * for it.
 */
export function advanceIndex(db: Database, step: IndexStep): Promise<StepOutcome> {
  return db.transaction(async (sql) => {
    const lock = await sql.get<{ isAcquired: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockNumber('index')}) AS "isAcquired"`,
    )
    if (lock?.isAcquired !== true) return 'busy'
    const backlog = await readIndexBacklog(sql)
    const { draft, hasMore } = await runStep(sql, backlog, step)
    const isChanged =
      draft.generation !== backlog.generation ||
      draft.reached !== undefined ||
      draft.begun !== undefined ||
      draft.extension !== undefined ||
      draft.removed.size > 0 ||
      backlog.goneRows.length > 0
    if (isChanged) await writeDraft(sql, draft, backlog.goneRows)
    return hasMore || backlog.hasMoreGone || (backlog.hasMoreStale && draft.reached !== undefined) ? 'done' : 'complete'
    // Chunks and the lists of changes must come from one snapshot.
  }, 'REPEATABLE READ')
}

/** Repeats a step, loading missing blocks each time, until nothing is missing. */
async function runStep(
  sql: Sql,
  backlog: IndexBacklog,
  step: IndexStep,
): Promise<{ draft: IndexDraft; hasMore: boolean }> {
  const pinned: PinnedBlocks = new Map()
  // A private set of parts: merged blocks become obsolete, so they stay out of the cache for searches.
  const parts = createIndexParts()
  let chunks: NewChunk[] | undefined
  for (;;) {
    const draft = createDraft({ ...backlog, chunks, stale: [] })
    const index = createChunkIndex(createIndexStorage(parts, () => draft))
    try {
      const { result: hasMore, missing } = parts.run(pinned, () => {
        for (const { first, last } of backlog.gone) index.remove(first, last - first + 1)
        // Removals are applied first, because a chunk that is indexed again was removed before.
        if (backlog.hasMoreGone) return true
        draft.stale = backlog.stale
        return index.advance(step)
      })
      if (missing === undefined) return { draft, hasMore }
      if (!(await parts.load(sql, missing, pinned))) throw new RangeError('the index has lost some of its blocks')
    } catch (error) {
      if (!(error instanceof MissingChunksError)) throw error
      chunks = await readNewChunks(sql, draft.stale, error.count)
    }
  }
}
