import { BUILT_IN_SPACE } from '../../core/embedding/space.ts'
import { PharosError } from '../../core/errors.ts'
import type { Chunk, FileMeta } from '../../core/model.ts'
import type { Pack } from '../../core/pack/pack.ts'
import { PackVectors } from '../../core/pack/pack-vectors.ts'
import { PackSearch } from '../../core/pack/search-pack.ts'
import { groupByFile } from '../../core/pack/tables.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'

/** A pack and the name of its source. */
export interface NamedPack {
  readonly name: string
  readonly pack: Pack
}

/** A file of a pack and its chunks, in order, with their refs in the search. */
export interface PackedFile {
  readonly source: string
  readonly file: FileMeta
  readonly chunks: readonly Chunk[]
  readonly refs: readonly string[]
}

/** Several packs that are searched as one, so that the scores of their chunks are comparable. */
export interface OpenPacks {
  readonly packs: readonly NamedPack[]
  readonly search: PackSearch
  /** The files that have text, of all packs. */
  readonly files: readonly PackedFile[]
  /** The source and path of a chunk, given its path in the search. */
  locate(path: string): { readonly source: string; readonly path: string }
  /** The beginning of the paths of a source in the search. Throws for an unknown source. */
  prefixOf(source: string): string
  /** Finds a file by its path; without a source, in all packs. Throws if there is none, or one in several packs. */
  findFile(path: string, source: string | undefined): PackedFile
}

/** Opens packs for searching. Packs of the same name are numbered. */
export function openPacks(given: readonly NamedPack[]): OpenPacks {
  const packs = nameApart(given)
  const [only] = packs
  const isSingle = packs.length === 1 && only !== undefined
  const prefixes = new Map(packs.map(({ name }) => [name, isSingle ? '' : `${name}/`]))
  const prefixOf = (source: string) => {
    const prefix = prefixes.get(source.trim().replace(/\.zip$/i, ''))
    if (prefix !== undefined) return prefix
    const names = packs.map(({ name }) => name)
    const nearest = suggest(findNearest(source, names))
    throw new PharosError('SOURCE_UNKNOWN', { source, library: `the packs ${names.join(', ')}`, nearest })
  }
  const files = packs.flatMap(({ name, pack }) =>
    groupByFile(pack).map(({ file, chunks, refs }): PackedFile => {
      return { source: name, file, chunks, refs: refs.map((ref) => `${prefixOf(name)}${ref}`) }
    }),
  )
  return {
    packs,
    files,
    search: new PackSearch(isSingle ? only.pack : joinPacks(packs)),
    locate: (path) => {
      const end = isSingle ? -1 : path.indexOf('/')
      return { source: isSingle ? only.name : path.slice(0, end), path: path.slice(end + 1) }
    },
    prefixOf,
    findFile: (path, source) => {
      const prefix = source === undefined ? undefined : prefixOf(source)
      return findFile(
        files.filter((packed) => prefix === undefined || prefixOf(packed.source) === prefix),
        path,
      )
    },
  }
}

function nameApart(packs: readonly NamedPack[]): NamedPack[] {
  const taken = new Set<string>()
  return packs.map(({ name, pack }) => {
    let free = name
    for (let number = 2; taken.has(free); number++) free = `${name}-${number}`
    taken.add(free)
    return { name: free, pack }
  })
}

/** Joins packs into one whose paths and refs begin with the name of their pack. */
function joinPacks(packs: readonly NamedPack[]): Pack {
  const ids = new Set<string>()
  const chunks = packs.flatMap(({ name, pack }) =>
    pack.chunks.map((chunk): Chunk => {
      // Two packs may hold the same file, and so the same chunks.
      const id = ids.has(chunk.id) ? `${chunk.id} ${name}` : chunk.id
      ids.add(id)
      return { ...chunk, id, path: `${name}/${chunk.path}` }
    }),
  )
  const vectors = joinVectors(packs.map(({ pack }) => pack))
  return {
    indexId: '',
    files: packs.flatMap(({ name, pack }) => pack.files.map((file) => ({ ...file, path: `${name}/${file.path}` }))),
    chunks,
    refs: packs.flatMap(({ name, pack }) => pack.refs.map((ref) => `${name}/${ref}`)),
    warnings: [],
    ...(vectors !== undefined && { vectors }),
  }
}

/** Joins vectors of one model, preferably the built-in one. Chunks with vectors of another model are found by words alone. */
function joinVectors(packs: readonly Pack[]): PackVectors | undefined {
  const spaces = packs.flatMap(({ vectors }) => (vectors === undefined ? [] : [vectors.space]))
  const space = spaces.find(({ fingerprint }) => fingerprint === BUILT_IN_SPACE.fingerprint) ?? spaces[0]
  if (space === undefined) return undefined
  const joined = new PackVectors(
    space,
    packs.reduce((count, { chunks }) => count + chunks.length, 0),
  )
  let first = 0
  for (const { chunks, vectors } of packs) {
    for (let i = 0; vectors?.space.fingerprint === space.fingerprint && i < chunks.length; i++) {
      if (vectors.has(i)) joined.copy(first + i, vectors.at(i))
    }
    first += chunks.length
  }
  return joined
}

function findFile(files: readonly PackedFile[], path: string): PackedFile {
  const wanted = path.trim().replace(/^(?:\.\/)+/, '')
  const found = files.filter(({ file }) => file.path === wanted)
  const [first, another] = found
  if (first !== undefined && another === undefined) return first
  if (first !== undefined) {
    const sources = found.map(({ source }) => source).join(', ')
    throw new PharosError('USAGE', { problem: `${wanted} is in several packs: give one of them as source: ${sources}` })
  }
  const paths = files.map(({ file }) => file.path)
  const nearest = paths.find((candidate) => candidate.endsWith(`/${wanted}`)) ?? findNearest(wanted, paths)
  const names = [...new Set(files.map(({ source }) => source))].join(', ')
  throw new PharosError('FILE_NOT_IN_PACK', { file: wanted, pack: names, nearest: suggest(nearest) })
}
