import type { Database } from '../database/database.ts'
import { packHash, type StoredHash } from '../database/hash.ts'

/** Which vectors an external copy has, by source number. */
export interface CopiedVectors {
  /** The unique id of the library. */
  libraryId(): string
  insert(source: number, chunkId: string): void
  /** Counts the copied vectors of sources, whose numbers are a JSON array; 0 when the copy is at another place. */
  count(place: string, sources: string): number
  delete(source: number, chunkId: string): void
  /** Deletes the records of chunks with consecutive numbers. */
  deleteRange(first: number, count: number): void
  deleteAll(): void
  /** Sets the place of the copy, and deletes records about another place. */
  setLocation(place: string): void
}

/** Creates the statements for copied vectors. */
export function createCopiedVectors(db: Database): CopiedVectors {
  const selectIdentity = db.prepare<[], { library: string; place: string | null }>(
    'SELECT library, copy_place AS place FROM library_identity',
  )
  const updatePlace = db.prepare<[string]>('UPDATE library_identity SET copy_place = ?')
  // A chunk whose vector was removed meanwhile has nothing to copy.
  const insert = db.prepare<[number, StoredHash]>(
    `INSERT OR IGNORE INTO copied_vectors (chunk, source) SELECT c.id, c.source FROM chunks c JOIN vectors v ON v.chunk = c.id
     WHERE c.source = ? AND c.chunk_id = ?`,
  )
  const count = db
    .prepare<[string], number>('SELECT count(*) FROM copied_vectors WHERE source IN (SELECT value FROM json_each(?))')
    .pluck()
  const deleteOne = db.prepare<[number, StoredHash]>(
    'DELETE FROM copied_vectors WHERE chunk IN (SELECT id FROM chunks WHERE source = ? AND chunk_id = ?)',
  )
  const deleteRange = db.prepare<[number, number]>('DELETE FROM copied_vectors WHERE chunk BETWEEN ? AND ?')
  const deleteAll = db.prepare('DELETE FROM copied_vectors')
  const identity = (): { library: string; place: string | null } => {
    const found = selectIdentity.get()
    if (found === undefined) throw new Error('the table library_identity is empty')
    return found
  }
  return {
    libraryId: () => identity().library,
    insert: (source, chunkId) => void insert.run(source, packHash(chunkId)),
    count: (place, sources) => (identity().place === place ? (count.get(sources) ?? 0) : 0),
    delete: (source, chunkId) => void deleteOne.run(source, packHash(chunkId)),
    deleteRange: (first, count) => void deleteRange.run(first, first + count - 1),
    deleteAll: () => void deleteAll.run(),
    setLocation: (place) => {
      if (identity().place === place) return
      deleteAll.run()
      updatePlace.run(place)
    },
  }
}
