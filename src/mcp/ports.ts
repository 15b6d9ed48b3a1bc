import type { McpServer } from '@modelcontextprotocol/server'
import type { UsedNameCollector } from '../core/changes/used-names.ts'
import type { Library } from '../library/library.ts'
import type { CodeChecker } from '../library/ports/code-checker.ts'
import type { Jobs } from '../library/ports/jobs.ts'
import type { ProjectPackages } from '../library/ports/projects.ts'
import type { Source } from '../library/source.ts'
import type { ToolSet } from './tool-set.ts'

/** A library that must be closed. */
export interface ClosableLibrary extends Library {
  close(): Promise<void>
}

/** Name of a source. */
export type SourceName = Pick<Source, 'name' | 'version'>

/** The dependencies of the server. None is used before a tool or resource needs it. */
export interface McpPorts {
  /** Version of this program. */
  readonly version: string
  readonly openLibrary: () => Promise<ClosableLibrary>
  /**
   * Whether the code that starts the server owns the library and may replace it. If so, every tool call runs `openLibrary` again instead of
   * keeping its result.
   * @default false
   */
  readonly isLent?: boolean
  readonly openJobs: (library: Library) => Promise<Jobs>
  /** Writes a pack to a place that the owner chose. Without it, `export_pack` is not offered. */
  readonly exportPack?: PackExporter
  /** Background work such as embedding, which starts when the library is first opened and lasts as long as the server. */
  readonly startBackground?: (library: Library, signal: AbortSignal) => Promise<void>
  /** Leaves out all tools that write or fetch. @default false */
  readonly isReadOnly?: boolean
  /** The project that the agent works in; the versions that it uses take precedence. @default none */
  readonly project?: McpProject
  /** The tools to offer. @default all */
  readonly toolSet?: ToolSet
  /**
   * Lists the sources for the instructions. Every client waits for this list, so it must not open a library that is slow to open. Without
   * it, or when it fails, the instructions are general.
   */
  readonly listSourceNames?: () => Promise<readonly SourceName[]>
  /** Adds further tools, resources or prompts to each server. */
  readonly extend?: (server: McpServer) => void
}

/** The project that an agent works in. */
export interface McpProject {
  readonly folder: string
  /** Reads the packages that it uses. */
  read(): Promise<ProjectPackages>
  /** Looks up the names that code uses in these packages. */
  readonly checker: CodeChecker
  /**
   * Reads which names of a package its code uses. `path` is a folder of the project, relative to it.
   * @throws {PharosError} if there is no such folder in the project
   */
  readUses(path: string, packageName: string): Promise<UsedNameCollector>
}

/** Exports a pack of a source. */
export type PackExporter = (library: Library, input: PackInput) => Promise<WrittenPack>

/** The pack to export. */
export interface PackInput {
  readonly source: Source
  /** Whether the pack contains only what a model reads. */
  readonly isCompact: boolean
  readonly signal: AbortSignal
}

/** An exported pack. */
export interface WrittenPack {
  readonly path: string
  readonly bytes: number
  readonly files: number
  readonly chunks: number
  /** Approximate number of model tokens of its text. */
  readonly tokens: number
}
