import type { PlaceRecord } from '../../analysis/place.ts'
import type { GazetteerSource, ImportResult, SourcedPlace } from '../../library/gazetteer.ts'

/** Maximum number of problems that are reported in full; further ones are only counted. */
const MAX_PROBLEMS = 20

/** Imports places, each with its data source. */
export type ImportPlaces = (
  places: Iterable<SourcedPlace> | AsyncIterable<SourcedPlace>,
  now: number,
  signal?: AbortSignal,
) => Promise<ImportResult>

/** The result of importing one record. */
export interface Outcome {
  readonly became: 'kept' | 'added' | 'changed' | 'refused'
  readonly names: number
  readonly problem: string | null
  /** Whether the record names a parent place that does not exist yet. */
  readonly isOpen: boolean
}

/** The fields of a record that name its parents. */
export type WithinOthers = Pick<PlaceRecord, 'ref' | 'parents'>

/** The running totals of an import. */
export class ImportTally {
  readonly sources: Map<string, GazetteerSource> = new Map()
  readonly #counts = { places: 0, names: 0, added: 0, changed: 0, refused: 0 }
  readonly #problems: string[] = []
  /** Records with a parent that does not exist, or not yet. When a record comes twice, its last version counts. */
  readonly #unlinked = new Map<string, WithinOthers>()

  get open(): WithinOthers[] {
    return [...this.#unlinked.values()]
  }

  get result(): ImportResult {
    return { ...this.#counts, problems: this.#problems }
  }

  tell(problem: string | null): void {
    if (problem !== null && this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem)
  }

  /** Adds the results of a batch of records. */
  take(places: readonly SourcedPlace[], outcomes: readonly Outcome[]): void {
    for (const [i, outcome] of outcomes.entries()) {
      const place = places[i]
      if (place !== undefined) this.#takeOne(place, outcome)
    }
  }

  #takeOne({ record, source }: SourcedPlace, { names, became, problem, isOpen }: Outcome): void {
    this.#counts[became === 'kept' ? 'places' : became]++
    if (became === 'added' || became === 'changed') this.#counts.places++
    this.#counts.names += names
    this.tell(problem)
    if (became === 'refused') return
    this.sources.set(source.name, source)
    this.#unlinked.delete(record.ref)
    if (isOpen) this.#unlinked.set(record.ref, { ref: record.ref, parents: record.parents })
  }
}
