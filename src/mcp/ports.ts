import type { McpServer } from '@modelcontextprotocol/server'
import type { Jobs } from '../library/jobs.ts'
import type { Library } from '../library/library.ts'
import type { Source } from '../library/source.ts'
import type { ToolSet } from './tool-set.ts'

/** A library that must be closed. */
export interface ClosableLibrary extends Library {
  close(): Promise<void>
}

/** Name of a source. */
export type SourceName = Pick<Source, 'name' | 'version'>

/** Ports of the server. None is used before a tool or a resource needs it. */
export interface McpPorts {
  /** Version of this program. */
  readonly version: string
  readonly openLibrary: () => Promise<ClosableLibrary>
  /** Whether the caller owns the library and may replace it, so that it is requested anew each time. @default false */
  readonly isLent?: boolean
  readonly openJobs: (library: Library) => Promise<Jobs>
  /** Writes a pack of a source to a place that the owner chose. Without it there is no `export_pack`. */
  readonly exportPack?: PackExporter
  /** Work for as long as the server runs, such as embedding; begins when the library is first opened. */
  readonly startBackground?: (library: Library, signal: AbortSignal) => Promise<void>
  /** Leaves out everything that writes or fetches. @default false */
  readonly isReadOnly?: boolean
  /** Which tools are offered. @default all */
  readonly toolSet?: ToolSet
  /**
   * Names the sources for the instructions, without opening the library if that takes long: every client waits for it.
   * Without it, or where it fails, the instructions are general.
   */
  readonly nameSources?: () => Promise<readonly SourceName[]>
  /** Adds further tools, resources or prompts to each server. */
  readonly extend?: (server: McpServer) => void
}

/** Writes a pack of a source. */
export type PackExporter = (library: Library, input: PackInput) => Promise<WrittenPack>

/** The pack to write. */
export interface PackInput {
  readonly source: Source
  /** Whether it holds only what a model reads. */
  readonly isCompact: boolean
  readonly signal: AbortSignal
}

/** A pack that was written. */
export interface WrittenPack {
  readonly path: string
  readonly bytes: number
  readonly files: number
  readonly chunks: number
  /** About how many model tokens its text takes. */
  readonly tokens: number
}
