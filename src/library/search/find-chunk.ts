import { PharosError, usageError } from '../../core/errors.ts'
import type { Chunk } from '../../core/model.ts'
import { findAnchor, writeCitationUrl } from '../../core/retrieval/anchored-url.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import { findSource } from '../sources/find-source.ts'
import { resolveDisplayLinks } from './display-links.ts'

/** A chunk with everything needed to cite it. */
export interface FoundChunk {
  readonly source: Source
  /** `<source>/<id>`, which finds the chunk again. */
  readonly name: string
  /** Address of the page with the anchor of the section. */
  readonly url: string
  readonly title: string
  readonly chunk: Chunk
  readonly checkedAt: number
  readonly changedAt: number
}

/**
 * Finds a chunk by `<source>/<id>`, by id, or by a unique prefix of twelve characters. If the source is unknown, it may have been renamed
 * since, so all sources are searched.
 */
export async function findChunk(library: Pick<Library, 'store' | 'trees'>, name: string): Promise<FoundChunk> {
  const { store } = library
  const slash = name.lastIndexOf('/')
  const id = name.slice(slash + 1).toLowerCase()
  const named = slash < 0 ? undefined : await findNamed(library, name.slice(0, slash))
  const isNamed = named !== undefined && !(named instanceof PharosError)
  const found = await readFrom(library, isNamed ? [named] : await store.listSources(), id)
  const [first] = found
  if (first !== undefined && found.length === 1) return first
  if (first === undefined && named instanceof PharosError) throw named
  if (found.length > 1) throw ambiguousChunk(name, found)
  throw new PharosError('CHUNK_UNKNOWN', { chunk: name, library: store.location })
}

function ambiguousChunk(name: string, found: readonly FoundChunk[]): PharosError {
  const names = found.map((one) => one.name).join(', ')
  return usageError(`${name} matches several chunks: name one of them as <source>/<id>: ${names}`)
}

/** Finds a source by name, or returns the error. */
async function findNamed(library: Pick<Library, 'store' | 'trees'>, text: string): Promise<Source | PharosError> {
  try {
    return await findSource(library, text)
  } catch (error) {
    if (error instanceof PharosError && error.code === 'SOURCE_UNKNOWN') return error
    throw error
  }
}

/** Finds chunks by id or id prefix in the given sources. */
async function readFrom(
  { store }: Pick<Library, 'store'>,
  sources: readonly Source[],
  id: string,
): Promise<FoundChunk[]> {
  const found: FoundChunk[] = []
  for (const source of sources) {
    const stored = await store.readChunk(source.id, id)
    if (stored === undefined) continue
    const { chunk, url, title } = stored
    const page = await store.readPageText(source.id, chunk.path)
    found.push({
      source,
      name: `${labelOf(source)}/${chunk.id}`,
      url: writeCitationUrl({
        source: source.url,
        url,
        anchor: findAnchor(page?.sections ?? [], chunk.startLine),
        isVerbatimFile: chunk.kind !== 'markdown',
        startLine: chunk.startLine,
        endLine: chunk.endLine,
      }),
      title,
      chunk: chunk.kind === 'markdown' ? showChunk(source, url, chunk) : chunk,
      checkedAt: page?.checkedAt ?? 0,
      changedAt: page?.changedAt ?? 0,
    })
  }
  return found
}

function showChunk(source: Source, url: string, chunk: Chunk): Chunk {
  return { ...chunk, content: resolveDisplayLinks(source, { url, key: chunk.path, markdown: chunk.content }) }
}
