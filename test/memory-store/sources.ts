import { PharosError } from '../../src/core/errors.ts'
import { labelOf, type Source, type SourceUpdate } from '../../src/library/source.ts'

/** The sources of the store. */
export class Sources {
  readonly #sources = new Map<string, Source>()

  /** Adds a source; throws when its name and version are taken. */
  add(source: Source): void {
    this.#refuseTaken(source)
    if (this.#sources.has(source.id)) throw new PharosError('SOURCE_EXISTS', { source: source.id })
    this.#sources.set(source.id, { ...source })
  }

  get(id: string): Source {
    const source = this.#sources.get(id)
    if (!source) throw new PharosError('SOURCE_UNKNOWN', { source: id, library: LOCATION })
    return source
  }

  /** Lists all sources, oldest first. */
  list(): Source[] {
    return [...this.#sources.values()].sort((a, b) => a.createdAt - b.createdAt).map((source) => ({ ...source }))
  }

  /** Updates a source; throws when another source has the same name and version. */
  update(id: string, given: SourceUpdate): void {
    const { refresh: stored, ...found } = this.get(id)
    const { refresh = stored, ...change } = typeof given === 'function' ? given(this.get(id)) : given
    const source: Source = { ...found, ...change, ...(refresh == null ? {} : { refresh }) }
    this.#refuseTaken(source)
    this.#sources.set(id, source)
  }

  remove(id: string): void {
    this.#sources.delete(id)
  }

  #refuseTaken({ id, name, version }: Source): void {
    const isTaken = this.list().some((other) => other.id !== id && other.name === name && other.version === version)
    if (isTaken) throw new PharosError('SOURCE_EXISTS', { source: labelOf({ name, version }) })
  }
}

/** The location that an in-memory library reports. */
export const LOCATION = 'memory'
