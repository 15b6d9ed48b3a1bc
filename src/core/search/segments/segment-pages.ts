import type { EntryTable } from './entry-table.ts'

/** The pages of the documents of a segment. The documents of a page are one run of consecutive documents, or several. */
export class SegmentPages {
  /** Number of distinct pages. */
  readonly count: number
  /** The lowest and the highest number of a page. */
  readonly first: number
  readonly last: number
  readonly #pages: Float64Array
  readonly #documentCount: number
  /** The first document of each run; runs of a page are in the order of their documents. */
  readonly #starts: Uint32Array
  /** The runs by page; undefined if they are in this order anyway. */
  readonly #runs: Uint32Array | undefined

  constructor({ pages, count }: Pick<EntryTable, 'pages' | 'count'>) {
    const starts: number[] = []
    let isSorted = true
    for (let i = 0; i < count; i++) {
      const page = pages[i] ?? 0
      const before = i === 0 ? Number.NEGATIVE_INFINITY : (pages[i - 1] ?? 0)
      if (page === before) continue
      starts.push(i)
      if (page < before) isSorted = false
    }
    this.#pages = pages
    this.#documentCount = count
    this.#starts = Uint32Array.from(starts)
    this.#runs = isSorted ? undefined : this.#sortRuns()
    let distinct = 0
    for (let run = 0; run < starts.length; run++)
      if (run === 0 || this.#pageAt(run) !== this.#pageAt(run - 1)) distinct++
    this.count = distinct
    this.first = starts.length === 0 ? Number.POSITIVE_INFINITY : this.#pageAt(0)
    this.last = starts.length === 0 ? Number.NEGATIVE_INFINITY : this.#pageAt(starts.length - 1)
  }

  /** Visits the documents of a page, run by run, and returns whether there are any. `to` is the one after the last. */
  visit(page: number, visitRun: (from: number, to: number) => void): boolean {
    if (page < this.first || page > this.last) return false
    const { length } = this.#starts
    let low = 0
    let high = length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#pageAt(middle) < page) low = middle + 1
      else high = middle
    }
    let at = low
    for (; at < length && this.#pageAt(at) === page; at++) {
      const run = this.#runs?.[at] ?? at
      visitRun(this.#starts[run] ?? 0, this.#starts[run + 1] ?? this.#documentCount)
    }
    return at > low
  }

  /** The distinct pages in ascending order. */
  *list(): Generator<number, void, void> {
    for (let at = 0; at < this.#starts.length; at++) {
      const page = this.#pageAt(at)
      if (at === 0 || page !== this.#pageAt(at - 1)) yield page
    }
  }

  /** The page of a run, given its place in the order of pages. */
  #pageAt(at: number): number {
    return this.#pages[this.#starts[this.#runs?.[at] ?? at] ?? 0] ?? 0
  }

  #sortRuns(): Uint32Array {
    const pageOf = (run: number): number => this.#pages[this.#starts[run] ?? 0] ?? 0
    return Uint32Array.from(this.#starts.keys()).sort((a, b) => pageOf(a) - pageOf(b) || a - b)
  }
}
