import type { SkipReason } from '../../../src/core/folder/walk-tree.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { Chunk, FileMeta, Kind, Warning } from '../../../src/core/model.ts'
import type { PackHit, PackSearchOptions } from '../../../src/core/pack/search-pack.ts'
import type { Completion } from '../../../src/core/search/search-index.ts'
import type { GivenFile, GivenFolder } from '../folder/given-folder.ts'
import type { Kept } from '../keep/shelf.ts'

/** Everything that can be asked of the part of the page that works. The same in a worker and in the page itself. */
export interface Operations {
  /** Takes in some files of a folder that is to be looked through: very many in one message would hold up the page. */
  give(ask: { readonly files: readonly GivenFile[]; readonly isFirst: boolean }): Nothing
  /** Looks through a folder without reading its files. `update` is the id of the kept index that it is to bring up to date. */
  survey(ask: { readonly folder: GivenFolder | HandedFolder; readonly update?: string | undefined }): Survey
  /** Looks again at the folder that was looked through last: without files of these patterns, and as an update of this index. */
  revise(ask: { readonly leaveOut: string; readonly update?: string | undefined }): Survey
  /** Reads the folder that was looked through last, and opens and keeps what came of it. */
  ingest(ask: { readonly limits: Limits }): Opened
  /** The kept indexes, latest first, and the room they have. */
  shelf(ask: Nothing): ShelfView
  open(ask: { readonly id: string }): Opened
  /** Tries once more to keep what is open. */
  keep(ask: Nothing): Opened
  rename(ask: { readonly id: string; readonly name: string }): Nothing
  remove(ask: { readonly id: string }): Nothing
  /** Opens a pack, or an `index.json`, and keeps it. */
  importPack(ask: { readonly file: File }): Opened
  /** Finds out what the chunks of the open index mean, beside everything else. Tells whether that can be done here. */
  embed(ask: Nothing): { readonly isWhole: boolean }
  search(ask: { readonly query: string; readonly options: PackSearchOptions }): Answer
  chunk(ask: { readonly ref: string }): ShownChunk
  /** Headings, file by file. */
  outline(ask: Part): { readonly places: readonly NamedPlace[] } & Total
  /** Definitions of code, by name. */
  symbols(ask: Part): { readonly places: readonly NamedPlace[] } & Total
  files(ask: Part): { readonly files: readonly FileMeta[] } & Total
  warnings(ask: Part): { readonly warnings: readonly Warning[] } & Total
  /** What is known of a file, and its chunks in order, from one on and at most so many. */
  file(ask: { readonly path: string; readonly from: number; readonly most: number }): ShownFile
  /** The bytes of an image; null where they are not here. */
  image(ask: { readonly path: string }): { readonly blob: Blob | null }
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

/** Operations that go on beside others, and give way to them. */
export const BACKGROUND: ReadonlySet<OperationName> = new Set(['embed'])

/** What is told while an operation goes on. */
export interface Progress {
  readonly stage: 'taking' | 'looking' | 'reading' | 'keeping' | 'writing' | 'indexing' | 'embedding'
  readonly done: number
  /** Undefined where nobody knows yet. */
  readonly total?: number | undefined
  readonly chunks?: number | undefined
  readonly path?: string | undefined
}

/** What a folder holds, before it is read. */
export interface Survey {
  readonly name: string
  /** Whether the browser may hide files from the page: those with names that other systems could not have, behind a handle. */
  readonly mayHide: boolean
  readonly files: number
  readonly bytes: number
  /** The size of each file, in the order in which they are read, by which limits decide. Numbers that cross to the page at no cost. */
  readonly sizes: Float64Array
  /** The largest files first, as many as are worth showing. */
  readonly largest: readonly { readonly path: string; readonly bytes: number }[]
  /** Files and bytes by kind, most bytes first. */
  readonly kinds: readonly { readonly kind: string; readonly files: number; readonly bytes: number }[]
  /** What is passed over: how many by each reason, and the first of them. */
  readonly skipped: readonly SkippedGroup[]
  /** Patterns of files that were left out of all this, a line each. */
  readonly leaveOut: string
  /** What happened to the files of the index that is to be brought up to date. */
  readonly changes?: Changes
}

/** What is new, other or gone since an index was made. */
export interface Changes {
  readonly added: SomeFiles
  readonly changed: SomeFiles
  readonly removed: SomeFiles
  readonly same: number
  /** Whether another version of this page cut it, so that all of it is read again. */
  readonly isOtherBuild: boolean
}

/** How many files, and the first of them. */
export interface SomeFiles {
  readonly count: number
  readonly examples: readonly string[]
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
  readonly about: About
}

/** What is known of an open index as a whole. */
export interface About {
  /** A compact pack knows no sizes, no definitions and no warnings. */
  readonly isCompact: boolean
  readonly bytes: number
  /** The kinds that there are. */
  readonly kinds: readonly Kind[]
  /** Files that were to be read and are not in it, and those that are not in it whole. */
  readonly leftOut: number
  readonly cutOff: number
  /** Files that may hold passwords or keys. */
  readonly secrets: SomeFiles
}

/** The kept indexes, and the room they have. */
export interface ShelfView {
  readonly kept: readonly Kept[]
  /** Why nothing can be kept. */
  readonly trouble: { readonly message: string; readonly advice: string } | null
  readonly used: number | null
  readonly quota: number | null
}

/** What was found. */
export interface Answer {
  readonly hits: readonly ShownHit[]
  /** How many there are, those that were not returned included. */
  readonly total: number
  /** What the last word was taken for the beginning of. */
  readonly completion: Completion | null
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

/** Something with a name, and where it stands. */
export interface NamedPlace {
  /** What it is called, and before that what encloses it. */
  readonly names: readonly string[]
  readonly path: string
  readonly line: number
  readonly ref: string
}

/** A file as it is shown. */
export interface ShownFile {
  /** Null where the index has no such file. */
  readonly file: FileMeta | null
  readonly warnings: readonly Warning[]
  readonly chunks: readonly FileChunk[]
  /** How many chunks it has. */
  readonly total: number
}

/** A chunk among those of its file. */
export interface FileChunk {
  readonly ref: string
  readonly label: string
  readonly chunk: Pick<Chunk, 'content' | 'kind' | 'startLine' | 'endLine'>
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
