import { createChunkIndex, type IndexStep } from '../../../core/retrieval/index/chunk-index.ts'
import type { NewChunk } from '../../../core/retrieval/index/index-storage.ts'
import type { Database, Sql } from '../database/database.ts'
import { lockNumber } from '../database/locks.ts'
import { createIndexParts, type PinnedBlocks } from './index-parts.ts'
import { createDraft, createIndexStorage, type IndexDraft, MissingChunksError, NO_INDEX } from './index-storage.ts'
import { type IndexBacklog, readIndexBacklog, readNewChunks, writeDraft } from './index-tables.ts'

/** The result of a step: more may be left to do, nothing is left, or another process is working on the index. */
type StepOutcome = 'done' | 'complete' | 'busy'

/**
 * Creates the function that runs one step of index maintenance as a transaction. Only one process on any machine does this at a time;
 * writers and searches never wait for it.
 */
export function createAdvanceIndex(db: Database): (step: IndexStep) => Promise<StepOutcome> {
  const work = new IndexWork()
  return (step) =>
    db.transaction(async (sql) => {
      const lock = await sql.get<{ isAcquired: boolean }>(
        `SELECT pg_try_advisory_xact_lock(${lockNumber('index')}) AS "isAcquired"`,
      )
      if (lock?.isAcquired !== true) return 'busy'
      const backlog = await readIndexBacklog(sql)
      const { draft, hasMore } = await work.runStep(sql, backlog, step)
      const isChanged =
        draft.generation !== backlog.generation ||
        draft.reached !== undefined ||
        draft.begun !== undefined ||
        draft.extension !== undefined ||
        draft.removed.size > 0 ||
        backlog.goneRows.length > 0
      if (isChanged) await writeDraft(sql, draft, backlog.goneRows)
      return hasMore || backlog.hasMoreGone || (backlog.hasMoreStale && draft.reached !== undefined)
        ? 'done'
        : 'complete'
      // Chunks and the lists of changes must come from one snapshot.
    }, 'REPEATABLE READ')
}

/** The index between the steps of a merge, which would otherwise read the documents of all segments at each step. */
class IndexWork {
  /** Blocks are not kept: merged ones become obsolete. */
  readonly #parts = createIndexParts(0)
  #draft: IndexDraft = createDraft(NO_INDEX)
  readonly #index = createChunkIndex(createIndexStorage(this.#parts, () => this.#draft))

  /** Repeats a step, loading missing blocks each time, until nothing is missing. */
  async runStep(sql: Sql, backlog: IndexBacklog, step: IndexStep): Promise<{ draft: IndexDraft; hasMore: boolean }> {
    const pinned: PinnedBlocks = new Map()
    let chunks: NewChunk[] | undefined
    this.#parts.keepOnly(backlog.segments.map(({ id }) => id))
    for (;;) {
      const draft = createDraft({ ...backlog, chunks, stale: [] })
      this.#draft = draft
      try {
        const { result: hasMore, missing } = this.#parts.run(pinned, () => {
          for (const { first, last } of backlog.gone) this.#index.remove(first, last - first + 1)
          // Removals are applied first, because a chunk that is indexed again was removed before.
          if (backlog.hasMoreGone) return true
          draft.stale = backlog.stale
          return this.#index.advance(step)
        })
        if (missing === undefined) return { draft, hasMore }
        if (!(await this.#parts.load(sql, missing, pinned)))
          throw new RangeError('the index has lost some of its blocks')
      } catch (error) {
        if (!(error instanceof MissingChunksError)) throw error
        chunks = await readNewChunks(sql, draft.stale, error.count)
      }
    }
  }
}
