import type { SkipReason } from '../../../src/core/folder/walk-tree.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { Chunk, FileMeta, Kind, Warning } from '../../../src/core/model.ts'
import type { PackHit, PackSearchOptions } from '../../../src/core/pack/search-pack.ts'
import type { Completion } from '../../../src/core/search/query-terms.ts'
import type { GivenFile, GivenFolder } from '../folder/given-folder.ts'
import type { StoredIndex } from '../keep/index-store.ts'

/** All operations of the session, whether it runs in a worker or in the page. */
export interface Operations {
  /** Adds some files of a folder before its survey. Sending very many in one message would block the page. */
  give(input: { readonly files: readonly GivenFile[]; readonly isFirst: boolean }): EmptyObject
  /** Surveys a folder without reading its files. `update` is the id of the kept index to update. */
  survey(input: { readonly folder: GivenFolder | SentFolder; readonly update?: string | undefined }): Survey
  /** Repeats the last survey with other exclusion patterns. `update` is the id of the kept index to update, as in `survey`. */
  revise(input: { readonly leaveOut: string; readonly update?: string | undefined }): Survey
  /** Reads the surveyed folder, then opens and saves the resulting index. */
  ingest(input: { readonly limits: Limits }): OpenedIndex
  /** The kept indexes, latest first, and the storage usage. */
  shelf(input: EmptyObject): StoredIndexes
  open(input: { readonly id: string }): OpenedIndex
  /** Tries again to save the open index. */
  keep(input: EmptyObject): OpenedIndex
  rename(input: { readonly id: string; readonly name: string }): EmptyObject
  remove(input: { readonly id: string }): EmptyObject
  /** Opens a pack or an `index.json`, and saves it. */
  importPack(input: { readonly file: File }): OpenedIndex
  /** Embeds the open index in the background, and resolves when all chunks are done. `isWhole` is false without an embedding model. */
  embed(input: EmptyObject): { readonly isWhole: boolean }
  search(input: { readonly query: string; readonly options: PackSearchOptions }): SearchResults
  chunk(input: { readonly ref: string }): ShownChunk
  /** Headings, grouped by file. */
  outline(input: ListQuery): { readonly places: readonly NamedLocation[] } & Total
  /** Definitions in code, sorted by name. */
  symbols(input: ListQuery): { readonly places: readonly NamedLocation[] } & Total
  files(input: ListQuery): { readonly files: readonly FileMeta[] } & Total
  warnings(input: ListQuery): { readonly warnings: readonly Warning[] } & Total
  /** The metadata of a file and its chunks: at most `limit` chunks, starting at index `from`. */
  file(input: { readonly path: string; readonly from: number; readonly limit: number }): ShownFile
  /** The bytes of an image; null if they are not stored. */
  image(input: { readonly path: string }): { readonly blob: Blob | null }
  /** Writes an artefact of the open index. */
  exportArtefact(input: { readonly artefact: Artefact }): ExportedFile
}

/** A folder made of the files that were sent before. */
export interface SentFolder {
  readonly type: 'handed'
  readonly name: string
}

/** Selects a part of a long list, so that the page need not process all of it. By default everything is selected. */
export interface ListQuery {
  /** Letters that an entry must contain, ignoring case. */
  readonly match?: string | undefined
  /** The maximum number of entries to return. */
  readonly most?: number | undefined
}

/** The number of matching entries, including those that were not returned. */
export interface Total {
  readonly total: number
}

/** An empty object. */
export type EmptyObject = Readonly<Record<string, never>>

/** The name of an operation. */
export type OperationName = keyof Operations

/** Operations that run in the background and yield to all others. */
export const BACKGROUND_OPERATIONS: ReadonlySet<OperationName> = new Set(['embed'])

/** A progress report of an operation. */
export interface Progress {
  readonly stage: 'taking' | 'looking' | 'reading' | 'keeping' | 'writing' | 'indexing' | 'embedding'
  readonly done: number
  /** Undefined if the total is not known yet. */
  readonly total?: number | undefined
  readonly chunks?: number | undefined
  readonly path?: string | undefined
}

/** The content of a folder, before it is read. */
export interface Survey {
  readonly name: string
  /** Whether the browser may hide files: a handle omits names that are invalid on other systems. */
  readonly mayHideFiles: boolean
  readonly files: number
  readonly bytes: number
  /** The size of each file in reading order, from which the effect of limits is computed. A typed array transfers to the page cheaply. */
  readonly sizes: Float64Array
  /** The largest files, limited to a number worth showing. */
  readonly largest: readonly { readonly path: string; readonly bytes: number }[]
  /** Files and bytes by kind, most bytes first. */
  readonly kinds: readonly { readonly kind: string; readonly files: number; readonly bytes: number }[]
  /** The skipped files by reason, each with its count and some examples. */
  readonly skipped: readonly SkippedGroup[]
  /** The exclusion patterns that were applied, one per line. */
  readonly leaveOut: string
  /** The changes since the last version of the index to update. */
  readonly changes?: Changes
}

/** The files that were added, changed or removed since an index was made. */
export interface Changes {
  readonly added: FileSample
  readonly changed: FileSample
  readonly removed: FileSample
  readonly same: number
  /** Whether another build of this page made the index, so that all files are read again. */
  readonly isOtherBuild: boolean
}

/** A number of files, with the first ones as examples. */
export interface FileSample {
  readonly count: number
  readonly examples: readonly string[]
}

/** The files that were skipped for one reason. */
export interface SkippedGroup {
  readonly reason: SkipReason
  readonly count: number
  readonly examples: readonly { readonly path: string; readonly rule: string | null }[]
}

/** An index that is open. */
export interface OpenedIndex {
  readonly stored: StoredIndex
  /** Why the index could not be saved; it can still be used while it is open. */
  readonly saveError: { readonly message: string; readonly advice: string } | null
  readonly counts: { readonly cut: number; readonly unchanged: number } | null
  readonly summary: IndexSummary
}

/** A summary of an open index. */
export interface IndexSummary {
  /** A compact pack has no sizes, definitions or warnings. */
  readonly isCompact: boolean
  readonly bytes: number
  /** The kinds in the index. */
  readonly kinds: readonly Kind[]
  /** Files that are missing from the index, and files that are only partly in it. */
  readonly missingCount: number
  readonly partialCount: number
  /** Files that may contain passwords or keys. */
  readonly secrets: FileSample
}

/** The kept indexes, and the storage usage. */
export interface StoredIndexes {
  readonly indexes: readonly StoredIndex[]
  /** Why nothing can be stored. */
  readonly error: { readonly message: string; readonly advice: string } | null
  readonly used: number | null
  readonly quota: number | null
}

/** The results of a search. */
export interface SearchResults {
  readonly hits: readonly ShownHit[]
  /** The number of hits, including those that were not returned. */
  readonly total: number
  /** The words that the last, unfinished word of the query was completed to. */
  readonly completion: Completion | null
  /** A caveat if the hits may not answer the query. */
  readonly doubt: string | null
}

/** A hit with the fields needed to show it. */
export interface ShownHit extends PackHit {
  readonly kind: string
  readonly symbol: string | null
}

/** A chunk with its neighbours. */
export interface ShownChunk {
  readonly chunk: Chunk
  readonly ref: string
  /** The refs of the previous and next chunk in its file. */
  readonly before: string | null
  readonly after: string | null
}

/** A named location in a file. */
export interface NamedLocation {
  /** Its name, preceded by the names that enclose it. */
  readonly names: readonly string[]
  readonly path: string
  readonly line: number
  readonly ref: string
}

/** A file with some of its chunks. */
export interface ShownFile {
  /** Null if the index has no such file. */
  readonly file: FileMeta | null
  readonly warnings: readonly Warning[]
  readonly chunks: readonly FileChunk[]
  /** The number of chunks of the file. */
  readonly total: number
}

/** A chunk in the view of a file. */
export interface FileChunk {
  readonly ref: string
  readonly label: string
  readonly chunk: Pick<Chunk, 'content' | 'kind' | 'startLine' | 'endLine'>
}

/** An artefact that can be downloaded. */
export type Artefact =
  | { readonly type: 'zip'; readonly compact: boolean }
  | { readonly type: 'file'; readonly name: ArtefactName }
  | { readonly type: 'chunk'; readonly ref: string }

/** The single files of a pack. */
export const ARTEFACT_NAMES = [
  'llm.md',
  'catalog.llm.md',
  'outline.md',
  'index.json',
  'manifest.json',
  'manifest.min.json',
  'manifest.llm.tsv',
] as const

/** One of {@link ARTEFACT_NAMES}. */
export type ArtefactName = (typeof ARTEFACT_NAMES)[number]

/** An exported artefact. */
export interface ExportedFile {
  readonly name: string
  readonly blob: Blob
}
