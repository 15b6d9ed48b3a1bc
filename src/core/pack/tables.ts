import type { Chunk, FileMeta, Kind } from '../model.ts'
import type { Pack } from './pack.ts'

/** Paths and kinds that occur in a pack, numbered by first use in the order of refs. */
export interface Tables {
  readonly paths: readonly string[]
  readonly kinds: readonly Kind[]
  pathIndex(path: string): number
  kindIndex(kind: Kind): number
}

/** Creates the tables that every manifest refers to. */
export function createTables(pack: Pack): Tables {
  const paths = numberValues(pack.chunks.map((chunk) => chunk.path))
  const kinds = numberValues(pack.chunks.map((chunk) => chunk.kind))
  return {
    paths: [...paths.keys()],
    kinds: [...kinds.keys()],
    pathIndex: (path) => paths.get(path) ?? -1,
    kindIndex: (kind) => kinds.get(kind) ?? -1,
  }
}

/** A file with its chunks. */
export interface FileGroup {
  readonly file: FileMeta
  readonly chunks: Chunk[]
  readonly refs: string[]
}

/** The chunks of each file that has any, with their refs, in the order of refs. */
export function groupByFile(pack: Pack): FileGroup[] {
  const groups = new Map(pack.files.map((file): [string, FileGroup] => [file.path, { file, chunks: [], refs: [] }]))
  pack.chunks.forEach((chunk, i) => {
    const group = groups.get(chunk.path)
    group?.chunks.push(chunk)
    group?.refs.push(pack.refs[i] ?? '')
  })
  return [...groups.values()].filter((group) => group.chunks.length > 0)
}

/** Approximate number of model tokens in the chunks. */
export function sumTokens(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.tokenEstimate, 0)
}

function numberValues<T>(values: readonly T[]): Map<T, number> {
  const numbers = new Map<T, number>()
  for (const value of values) if (!numbers.has(value)) numbers.set(value, numbers.size)
  return numbers
}
