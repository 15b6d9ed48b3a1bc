import type { SkipReason } from '../../../src/core/folder/walk-tree.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { Chunk, FileMeta, Warning } from '../../../src/core/model.ts'
import type { PackHit, PackSearchOptions } from '../../../src/core/pack/search-pack.ts'
import type { GivenFile, GivenFolder } from '../folder/given-folder.ts'
import type { Kept } from '../keep/shelf.ts'

/** Everything that can be asked of the part of the page that works. The same in a worker and in the page itself. */
export interface Operations {
  /** Takes in some files of a folder that is to be looked through: very many in one message would hold up the page. */
  give(ask: { readonly files: readonly GivenFile[]; readonly isFirst: boolean }): Nothing
  /** Looks through a folder without reading its files. `update` is the id of the kept index that it is to bring up to date. */
  survey(ask: { readonly folder: GivenFolder | HandedFolder; readonly update?: string | undefined }): Survey
  /** Reads the folder that was looked through last, and opens and keeps what came of it. */
  ingest(ask: { readonly limits: Limits }): Opened
  /** The kept indexes, latest first, and the room they have. */
  shelf(ask: Nothing): ShelfView
  open(ask: { readonly id: string }): Opened
  rename(ask: { readonly id: string; readonly name: string }): Nothing
  remove(ask: { readonly id: string }): Nothing
  /** Opens a pack, or an `index.json`, and keeps it. */
  importPack(ask: { readonly file: File }): Opened
  search(ask: { readonly query: string; readonly options: PackSearchOptions }): { readonly hits: readonly ShownHit[] }
  chunk(ask: { readonly ref: string }): ShownChunk
  outline(ask: Part & { readonly path?: string | undefined }): { readonly headings: readonly string[] } & Total
  symbols(ask: Part & { readonly path?: string | undefined }): { readonly symbols: readonly string[] } & Total
  files(ask: Part): { readonly files: readonly FileMeta[] } & Total
  warnings(ask: Part): { readonly warnings: readonly Warning[] } & Total
  /** Chunks of a file, in order. */
  chunksOf(ask: { readonly path: string }): { readonly chunks: readonly ChunkLine[] }
  /** Writes an artefact of the open index. */
  exportArtefact(ask: { readonly artefact: Artefact }): Exported
}

/** A folder of the files that were given before. */
export interface HandedFolder {
  readonly type: 'handed'
  readonly name: string
}

/** What of a long list is wanted; all of it where nothing is said. What crosses to the page costs its time. */
export interface Part {
  /** Letters that an entry must have, in either case. */
  readonly match?: string | undefined
  /** Most entries to return. */
  readonly most?: number | undefined
}

/** How many entries there are, those that were not returned included. */
export interface Total {
  readonly total: number
}

/** Something without content. */
export type Nothing = Readonly<Record<string, never>>

/** Name of an operation. */
export type OperationName = keyof Operations

/** What is told while an operation goes on. */
export interface Progress {
  readonly stage: 'taking' | 'looking' | 'reading' | 'keeping' | 'writing' | 'indexing'
  readonly done: number
  /** Undefined where nobody knows yet. */
  readonly total?: number | undefined
  readonly chunks?: number | undefined
  readonly path?: string | undefined
}

/** What a folder holds, before it is read. */
export interface Survey {
  readonly name: string
  readonly files: number
  readonly bytes: number
  /** The largest files first, as many as are worth showing. */
  readonly largest: readonly { readonly path: string; readonly bytes: number }[]
  /** Files and bytes by kind, most bytes first. */
  readonly kinds: readonly { readonly kind: string; readonly files: number; readonly bytes: number }[]
  /** What is passed over: how many by each reason, and the first of them. */
  readonly skipped: readonly SkippedGroup[]
  /** What happened to the files of the index that is to be brought up to date. */
  readonly changes?: {
    readonly added: number
    readonly changed: number
    readonly removed: number
    readonly same: number
  }
}

/** What was passed over for one reason. */
export interface SkippedGroup {
  readonly reason: SkipReason
  readonly count: number
  readonly examples: readonly { readonly path: string; readonly rule: string | null }[]
}

/** An index that is open. */
export interface Opened {
  readonly kept: Kept
  /** Why it could not be kept; what is open can be used all the same. */
  readonly unkept: { readonly message: string; readonly advice: string } | null
  readonly counts: { readonly cut: number; readonly unchanged: number } | null
  readonly bytes: number
}

/** The kept indexes, and the room they have. */
export interface ShelfView {
  readonly kept: readonly Kept[]
  /** Why nothing can be kept. */
  readonly trouble: { readonly message: string; readonly advice: string } | null
  readonly used: number | null
  readonly quota: number | null
}

/** A hit and what it takes to show it. */
export interface ShownHit extends PackHit {
  readonly kind: string
  readonly symbol: string | null
}

/** A chunk as it is shown. */
export interface ShownChunk {
  readonly chunk: Chunk
  readonly ref: string
  /** The refs before and after it in its file. */
  readonly before: string | null
  readonly after: string | null
}

/** A line of the list of chunks of a file. */
export interface ChunkLine {
  readonly ref: string
  readonly startLine: number
  readonly endLine: number
  readonly label: string
}

/** What can be downloaded. */
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

/** An artefact that was written. */
export interface Exported {
  readonly name: string
  readonly blob: Blob
}
