import type { Section } from '../../../core/model.ts'
import { writeLayout } from '../../../core/retrieval/page-layout.ts'
import type { ChunkSpan } from '../../../library/ports/store.ts'
import { parseStored } from '../../common/damage.ts'
import { type SpanColumns, toSpans } from '../../common/stored-content.ts'
import type { Database } from './database.ts'
import { type StoredHash, unpackHash } from './hash.ts'

/** Page layouts, stored under the id of their ledger row. Everything that writes runs inside the caller's transaction. */
export interface Layouts {
  write(
    row: number,
    page: LaidOutPage,
    chunks: readonly Pick<ChunkSpan, 'startLine' | 'endLine' | 'headingPath'>[],
  ): void
  /** Writes the layout of a page that was stored before layouts existed. */
  complete(row: number): void
  /** The positions of chunks with consecutive numbers. */
  listSpans(first: number, count: number): ChunkSpan[]
}

/** The page data that a layout is built from, besides chunks. */
interface LaidOutPage {
  readonly markdown: string
  readonly sections: readonly Section[]
}

interface PageColumns {
  readonly markdown: string
  readonly sections: string
  readonly first: number
  readonly count: number
}

type HashedColumns = Omit<SpanColumns, 'id'> & { readonly chunkId: StoredHash }

/** Creates the statements for layouts. */
export function createLayouts(db: Database): Layouts {
  const insert = db.prepare<[number, string]>('INSERT OR REPLACE INTO layouts (id, layout) VALUES (?, ?)')
  const selectSpans = db.prepare<[number, number], HashedColumns>(
    `SELECT chunk_id AS chunkId, start_line AS startLine, end_line AS endLine, heading_path AS headingPath, symbol
     FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id`,
  )
  const selectPageWithoutLayout = db.prepare<[number], PageColumns>(
    `SELECT markdown, json_extract(meta, '$.sections') AS sections, first_chunk AS first, chunk_count AS count
     FROM pages WHERE id = ? AND NOT EXISTS (SELECT 1 FROM layouts y WHERE y.id = pages.id)`,
  )
  const write: Layouts['write'] = (row, page, chunks) => {
    insert.run(row, writeLayout(page, chunks))
  }
  const listSpans = (first: number, count: number): ChunkSpan[] =>
    toSpans(
      selectSpans.all(first, first + count - 1).map(({ chunkId, ...span }) => ({ ...span, id: unpackHash(chunkId) })),
    )

  return {
    write,
    complete: (row) => {
      const page = selectPageWithoutLayout.get(row)
      if (page === undefined) return
      const { markdown, sections, first, count } = page
      write(row, { markdown, sections: parseStored<Section[]>(sections) }, listSpans(first, count))
    },
    listSpans,
  }
}
