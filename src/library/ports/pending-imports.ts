import type { ChunkImport } from '../import/parse-import.ts'

/**
 * Stores an import from before its first page is written until after the last, because the sender may no longer have it if the writing
 * process dies.
 */
export interface PendingImports {
  /** Stores an import of a source, replacing an earlier one atomically. */
  keep(sourceId: string, given: ChunkImport): Promise<void>
  /** Reads the stored import of a source; undefined if there is none. */
  read(sourceId: string): Promise<ChunkImport | undefined>
  /** Lists the ids of sources with a stored import. */
  list(): Promise<string[]>
  forget(sourceId: string): Promise<void>
}
