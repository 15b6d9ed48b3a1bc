import { PharosError } from '../../core/errors.ts'
import type { Chunk } from '../../core/model.ts'
import { anchoredUrl } from '../../core/retrieval/anchored-url.ts'
import type { Library } from '../library.ts'
import { labelOf, type Source } from '../source.ts'
import { findSource } from './find-source.ts'

/** A chunk with everything that is needed to cite it. */
export interface FoundChunk {
  readonly source: Source
  /** `<source>/<id>`: what it can be asked for by. */
  readonly name: string
  /** Address of its page, with the anchor of its section. */
  readonly url: string
  readonly title: string
  readonly chunk: Chunk
  readonly checkedAt: number
  readonly changedAt: number
}

/** Finds a chunk by `<source>/<id>`, by its id, or by the first twelve characters of it, where only one is meant. */
export async function findChunk(library: Library, name: string): Promise<FoundChunk> {
  const { store } = library
  const slash = name.lastIndexOf('/')
  const id = name.slice(slash + 1).toLowerCase()
  const sources = slash < 0 ? await store.listSources() : [await findSource(library, name.slice(0, slash))]
  const found: FoundChunk[] = []
  for (const source of sources) {
    const stored = await store.readChunk(source.id, id)
    if (stored === undefined) continue
    const { chunk, url, title } = stored
    const page = await store.readPageText(source.id, chunk.path)
    found.push({
      source,
      name: `${labelOf(source)}/${chunk.id}`,
      url: anchoredUrl(url, page?.sections ?? [], chunk.startLine),
      title,
      chunk,
      checkedAt: page?.checkedAt ?? 0,
      changedAt: page?.changedAt ?? 0,
    })
  }
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const hint = found.length > 1 ? `: several have it: ${found.map((one) => one.name).join(', ')}` : ''
  throw new PharosError('CHUNK_UNKNOWN', { chunk: name, library: store.location, hint })
}
