import type { ChunkImport } from './parse-import.ts'

/**
 * Keeps what is imported from before its first page is written until its last one is: whoever sent it may not have it any more when the
 * process that writes it is ended.
 */
export interface KeptImports {
  /** Keeps an import of a source in the place of the one before, all of it or nothing. */
  keep(sourceId: string, given: ChunkImport): Promise<void>
  /** What is kept for a source; undefined without any. */
  read(sourceId: string): Promise<ChunkImport | undefined>
  /** The ids of the sources that something is kept for. */
  list(): Promise<string[]>
  forget(sourceId: string): Promise<void>
}
