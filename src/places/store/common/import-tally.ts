import type { PlaceRecord } from '../../analysis/place.ts'
import type { GazetteerImportResult, GazetteerSource, SourcedPlace } from '../../ports/gazetteer.ts'

/** Maximum number of problems that are reported in full; further ones are only counted. */
const MAX_PROBLEMS = 20

/** Imports places, each with its data source. */
export type ImportPlaces = (
  places: Iterable<SourcedPlace> | AsyncIterable<SourcedPlace>,
  now: number,
  signal?: AbortSignal,
) => Promise<GazetteerImportResult>

/** The result of importing one record. */
export interface ImportOutcome {
  readonly status: 'kept' | 'added' | 'changed' | 'refused'
  readonly names: number
  readonly problem: string | null
  /** Whether the record names a parent place that does not exist yet. */
  readonly hasMissingParent: boolean
}

/** The fields of a record that name its parents. */
export type ParentRefs = Pick<PlaceRecord, 'ref' | 'parents'>

/** The running totals of an import. */
export class ImportTally {
  readonly sources: Map<string, GazetteerSource> = new Map()
  readonly #counts = { places: 0, names: 0, added: 0, changed: 0, refused: 0 }
  readonly #problems: string[] = []
  /** Records with a parent that does not exist, or not yet. When a record comes twice, its last version counts. */
  readonly #unlinked = new Map<string, ParentRefs>()

  get unlinked(): ParentRefs[] {
    return [...this.#unlinked.values()]
  }

  get result(): GazetteerImportResult {
    return { ...this.#counts, problems: this.#problems }
  }

  addProblem(problem: string | null): void {
    if (problem !== null && this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem)
  }

  /** Adds the results of a batch of records. */
  addOutcomes(places: readonly SourcedPlace[], outcomes: readonly ImportOutcome[]): void {
    for (const [i, outcome] of outcomes.entries()) {
      const place = places[i]
      if (place !== undefined) this.#addOutcome(place, outcome)
    }
  }

  #addOutcome({ record, source }: SourcedPlace, { names, status, problem, hasMissingParent }: ImportOutcome): void {
    this.#counts[status === 'kept' ? 'places' : status]++
    if (status === 'added' || status === 'changed') this.#counts.places++
    this.#counts.names += names
    this.addProblem(problem)
    if (status === 'refused') return
    this.sources.set(source.name, source)
    this.#unlinked.delete(record.ref)
    if (hasMissingParent) this.#unlinked.set(record.ref, { ref: record.ref, parents: record.parents })
  }
}
