import type { PlaceRecord } from '../../analysis/place.ts'
import type { GazetteerSource, ImportResult, SourcedPlace } from '../../library/gazetteer.ts'

/** Problems that are told; the others are counted. */
const MAX_PROBLEMS = 20

/** Takes places in, each with where it is from. */
export type ImportPlaces = (
  places: Iterable<SourcedPlace> | AsyncIterable<SourcedPlace>,
  now: number,
  signal?: AbortSignal,
) => Promise<ImportResult>

/** What became of a record. */
export interface Outcome {
  readonly became: 'kept' | 'added' | 'changed' | 'refused'
  readonly names: number
  readonly problem: string | null
  /** Whether it names a place that it cannot be put in now. */
  readonly isOpen: boolean
}

/** What says where a place lies. */
export type WithinOthers = Pick<PlaceRecord, 'ref' | 'parents'>

/** What an import has come to. */
export class ImportTally {
  readonly sources: Map<string, GazetteerSource> = new Map()
  readonly #counts = { places: 0, names: 0, added: 0, changed: 0, refused: 0 }
  readonly #problems: string[] = []
  /** Those that name a place they lie in which is not there, or not yet. Of one that is there twice the last says where it lies. */
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

  /** Counts what became of records, from the first on. */
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
