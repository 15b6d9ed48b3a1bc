import type { Kind } from '../../../core/model.ts'
import type { FilteredPage } from '../../../core/retrieval/chunk-filter.ts'
import type {
  ChunkRange,
  DeadChunkRange,
  IndexState,
  IndexStorage,
  NewChunk,
  SegmentRecord,
  UnfinishedSegment,
} from '../../../core/retrieval/index/index-storage.ts'
import { DecodeError } from '../../../core/search/bytes.ts'
import type { EncodedSegment } from '../../../core/search/segments/segment.ts'
import { parseStored } from '../../common/damage.ts'
import { LruCache } from '../../common/lru-cache.ts'
import type { Database } from '../database/database.ts'
import { type StoredHash, unpackHash } from '../database/hash.ts'
import type { Layouts } from '../database/layouts.ts'

interface ChunkColumns {
  readonly page: number
  readonly kind: Kind
  readonly headingPath: string
  readonly symbol: string | null
  readonly content: string
}

interface NewChunkColumns extends ChunkColumns {
  readonly number: number
  readonly chunkId: StoredHash
  readonly contentHash: StoredHash
  readonly source: number
  readonly path: string
  readonly title: string
}

/** Size of the block cache in bytes. Blocks are cached because many queries contain the same words. */
const BLOCK_CACHE_BYTES = 2 ** 26

/** The number of documents of a segment that is not finished; its documents are the state of the merge instead. */
const UNFINISHED = 0

/** An upper bound for the number of blocks in a segment. Each segment gets this many block ids, and each opened one as many cache keys. */
const MAX_BLOCKS = 2 ** 24

/** Creates index storage over the index tables. */
export function createIndexStorage(db: Database, layouts: Pick<Layouts, 'complete'>): IndexStorage {
  const sql = prepareIndex(db)

  /** The cache keys of each opened segment are new, because the ids of deleted blocks are reused. */
  const blocks = new LruCache<Uint8Array>(BLOCK_CACHE_BYTES)
  /** The key of the first block of each opened segment, by its id. */
  const firstKeys = new Map<number, number>()
  let openedCount = 0

  return {
    readState: () => sql.selectState.get() ?? NO_STATE,
    writeState: ({ format, last, generation }) => {
      sql.updateState.run(format, last, generation)
    },
    listSegments: () => sql.selectSegments.all(),
    openSegment: (id, isReadOnce = false) => {
      const found = sql.selectSegment.get(id)
      if (found === undefined) throw new DecodeError(`the index has no segment ${id}`)
      const { documents, directory, firstBlock } = found
      if (isReadOnce) return { documents, directory, readBlock: (block) => loadBlock(firstBlock + block) }
      const firstKey = ++openedCount * MAX_BLOCKS
      firstKeys.set(id, firstKey)
      return { documents, directory, readBlock: (block) => readBlock(firstBlock + block, firstKey + block) }
    },
    keepOnly: (segments) => {
      const removed = [...firstKeys.keys()].filter((id) => !segments.has(id))
      if (removed.length === 0) return
      for (const id of removed) firstKeys.delete(id)
      const kept = new Set(firstKeys.values())
      blocks.keep((key) => kept.has(key - (key % MAX_BLOCKS)))
    },
    ...createSegmentWriter(sql),
    listDead: () => sql.selectDead.all(),
    addDead: (range) => {
      sql.insertDead.run(range)
    },
    listStale: () => sql.selectStale.all(),
    addStale: (range) => {
      sql.insertStale.run(range)
    },
    removeStale: ({ first, last }) => {
      sql.deleteStale.run({ first, last })
    },
    clear: () => {
      for (const removal of sql.deleteAll) removal.run()
    },
    newestChunk: () => sql.selectNewest.get() ?? 0,
    countChunks: (last) => sql.countUpTo.get(last) ?? { upTo: 0, all: 0 },
    completePages: (pages) => {
      for (const page of pages) layouts.complete(page)
    },
    readChunks: ({ first, last }, limit) => sql.selectNew.all({ first, last, limit }).map(toNewChunk),
    readPage: (page) => sql.selectPage.get(page),
    readChunk: (number) => {
      const found = sql.selectChunk.get(number)
      return found && { ...found, headingPath: parseHeadings(found.headingPath) }
    },
  }

  function readBlock(number: number, key: number): Uint8Array {
    const cached = blocks.get(key)
    if (cached !== undefined) return cached
    const block = loadBlock(number)
    blocks.set(key, block, block.length)
    return block
  }

  function loadBlock(number: number): Uint8Array {
    const found = sql.selectBlock.get(number)
    if (found === undefined) throw new DecodeError(`the index has no block ${number}`)
    // Slicing a plain array is several times faster than slicing a `Buffer`.
    return new Uint8Array(found.buffer, found.byteOffset, found.byteLength)
  }
}

type SegmentWriter = Pick<
  IndexStorage,
  'addSegment' | 'readUnfinished' | 'beginSegment' | 'extendSegment' | 'finishSegment' | 'removeSegment'
>

function createSegmentWriter(sql: ReturnType<typeof prepareIndex>): SegmentWriter {
  return {
    addSegment: ({ count, first, last, documents, directory, blocks }) => {
      const id = insertSegment(count, first, last, documents)
      appendBlocks(id, { directory, blocks })
    },
    readUnfinished: () => sql.selectUnfinished.get(),
    beginSegment: (state) => {
      insertSegment(UNFINISHED, 0, 0, state)
    },
    extendSegment: (id, part, state) => {
      appendBlocks(id, part)
      sql.updateUnfinished.run(state, id)
    },
    finishSegment: (id, { count, first, last, documents }) => {
      sql.finishSegment.run(count, first, last, documents, id)
    },
    removeSegment: (id) => {
      sql.deleteBlocks.run({ id })
      sql.deleteSegment.run(id)
      sql.deleteDead.run(id)
    },
  }

  function insertSegment(count: number, first: number, last: number, documents: Uint8Array): number {
    const id = Number(sql.insertSegment.run(count, first, last, documents).lastInsertRowid)
    sql.updateFirstBlock.run({ id, maxBlocks: MAX_BLOCKS })
    return id
  }

  function appendBlocks(id: number, { directory, blocks: added }: Pick<EncodedSegment, 'blocks' | 'directory'>): void {
    const firstBlock = sql.selectNextBlock.get(id) ?? 0
    added.forEach((block, i) => {
      sql.insertBlock.run(firstBlock + i, block)
    })
    sql.appendDirectory.run(added.length, directory, id)
  }
}

/** The statements for the index tables. */
function prepareIndex(db: Database) {
  return {
    selectState: db.prepare<[], IndexState>('SELECT format, last_chunk AS last, generation FROM index_state'),
    updateState: db.prepare<[string, number, number]>(
      'UPDATE index_state SET format = ?, last_chunk = ?, generation = ?',
    ),
    selectSegments: db.prepare<[], SegmentRecord>(
      `SELECT id, count, first, last FROM index_segments WHERE count <> ${UNFINISHED} ORDER BY id`,
    ),
    selectSegment: db.prepare<[number], { documents: Uint8Array; directory: Uint8Array; firstBlock: number }>(
      'SELECT documents, directory, first_block AS firstBlock FROM index_segments WHERE id = ?',
    ),
    insertSegment: db.prepare<[number, number, number, Uint8Array]>(
      `INSERT INTO index_segments (count, first, last, documents, first_block, block_count, directory)
       VALUES (?, ?, ?, ?, 0, 0, x'')`,
    ),
    // The blocks of a segment have ids of their own, so that others can be written while a segment is unfinished.
    updateFirstBlock: db.prepare<[{ id: number; maxBlocks: number }]>(
      'UPDATE index_segments SET first_block = id * @maxBlocks WHERE id = @id',
    ),
    selectUnfinished: db.prepare<[], UnfinishedSegment>(
      `SELECT id, documents AS state FROM index_segments WHERE count = ${UNFINISHED}`,
    ),
    updateUnfinished: db.prepare<[Uint8Array, number]>('UPDATE index_segments SET documents = ? WHERE id = ?'),
    finishSegment: db.prepare<[number, number, number, Uint8Array, number]>(
      'UPDATE index_segments SET count = ?, first = ?, last = ?, documents = ? WHERE id = ?',
    ),
    appendDirectory: db.prepare<[number, Uint8Array, number]>(
      // The operator || would make a text of two blobs.
      `UPDATE index_segments SET block_count = block_count + ?, directory = CAST(directory || ? AS BLOB) WHERE id = ?`,
    ),
    deleteSegment: db.prepare<[number]>('DELETE FROM index_segments WHERE id = ?'),
    selectNextBlock: db
      .prepare<[number], number>('SELECT first_block + block_count FROM index_segments WHERE id = ?')
      .pluck(),
    selectBlock: db.prepare<[number], Uint8Array>('SELECT data FROM index_blocks WHERE id = ?').pluck(),
    insertBlock: db.prepare<[number, Uint8Array]>('INSERT INTO index_blocks (id, data) VALUES (?, ?)'),
    deleteBlocks: db.prepare<[{ id: number }]>(
      `DELETE FROM index_blocks WHERE id BETWEEN (SELECT first_block FROM index_segments WHERE id = @id)
         AND (SELECT first_block + block_count - 1 FROM index_segments WHERE id = @id)`,
    ),
    selectDead: db.prepare<[], DeadChunkRange>('SELECT segment, first, last FROM index_dead ORDER BY segment, first'),
    insertDead: db.prepare<[DeadChunkRange]>(
      `INSERT INTO index_dead (segment, first, last) VALUES (@segment, @first, @last)
       ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`,
    ),
    deleteDead: db.prepare<[number]>('DELETE FROM index_dead WHERE segment = ?'),
    selectStale: db.prepare<[], ChunkRange>('SELECT first, last FROM index_stale ORDER BY first'),
    insertStale: db.prepare<[ChunkRange]>('INSERT OR REPLACE INTO index_stale (first, last) VALUES (@first, @last)'),
    deleteStale: db.prepare<[ChunkRange]>('DELETE FROM index_stale WHERE first BETWEEN @first AND @last'),
    deleteAll: ['segments', 'blocks', 'dead', 'stale'].map((table) => db.prepare(`DELETE FROM index_${table}`)),
    selectNewest: db.prepare<[], number>('SELECT ifnull(max(id), 0) FROM chunks').pluck(),
    // The `+` makes SQLite use a small index on the ids instead of the table with all the text.
    countUpTo: db.prepare<[number], { upTo: number; all: number }>(
      'SELECT ifnull(sum(+id <= ?), 0) AS upTo, count(*) AS "all" FROM chunks',
    ),
    selectNew: db.prepare<[ChunkRange & { limit: number }], NewChunkColumns>(
      `SELECT c.id AS number, c.chunk_id AS chunkId, c.content_hash AS contentHash, c.source, c.page, c.path, p.title, c.kind, c.heading_path AS headingPath,
         c.symbol, c.content
       FROM chunks c JOIN pages p ON p.id = c.page WHERE c.id BETWEEN @first AND @last ORDER BY c.id LIMIT @limit`,
    ),
    selectPage: db.prepare<[number], FilteredPage>(
      `SELECT l.url, l.key, json_extract(p.meta, '$.language') AS language FROM ledger l JOIN pages p ON p.id = l.id WHERE l.id = ?`,
    ),
    selectChunk: db.prepare<[number], ChunkColumns>(
      'SELECT page, kind, heading_path AS headingPath, symbol, content FROM chunks WHERE id = ?',
    ),
  }
}

const NO_STATE: IndexState = { format: '', last: 0, generation: 0 }

function toNewChunk({ chunkId, contentHash, headingPath, ...chunk }: NewChunkColumns): NewChunk {
  return {
    ...chunk,
    id: unpackHash(chunkId),
    contentHash: unpackHash(contentHash),
    headingPath: parseHeadings(headingPath),
  }
}

/** Parses heading paths, which content.ts writes. */
function parseHeadings(headingPath: string): string[] {
  return parseStored<string[]>(headingPath)
}
