/** The pages of a collection, by number. */
export interface RankedPages {
  /** The page of a document. */
  pageOf(document: number): number
  /** The tokens of a page, weighted like those of its documents, and how many of its documents have any. */
  measure(page: number): { readonly length: number; readonly documentCount: number }
}

/** The pages of a collection that does not change. */
interface NumberedPages extends RankedPages {
  /** Number of pages. */
  readonly count: number
}

/** Numbers the pages of documents, which are added in order, from 0. */
export class PageNumbering {
  readonly #numbers = new Map<number | string, number>()
  readonly #ofDocuments: Uint32Array
  #count = 0
  #lastPage: number | string | undefined
  #lastNumber = 0

  constructor(documentCount: number) {
    this.#ofDocuments = new Uint32Array(documentCount)
  }

  /** Adds the next document, given its page. */
  add(page: number | string): void {
    // Documents of a page mostly follow each other, and a comparison is faster than a lookup.
    if (page !== this.#lastPage) {
      this.#lastPage = page
      this.#lastNumber = this.#numbers.get(page) ?? this.#numbers.size
      this.#numbers.set(page, this.#lastNumber)
    }
    this.#ofDocuments[this.#count++] = this.#lastNumber
  }

  /** The pages, with the lengths of their documents added up. */
  finish(lengths: Float64Array): NumberedPages {
    const pageLengths = new Float64Array(this.#numbers.size)
    const documentCounts = new Uint32Array(this.#numbers.size)
    this.#ofDocuments.forEach((page, i) => {
      const length = lengths[i] ?? 0
      pageLengths[page] = (pageLengths[page] ?? 0) + length
      if (length > 0) documentCounts[page] = (documentCounts[page] ?? 0) + 1
    })
    return {
      count: pageLengths.length,
      pageOf: (document) => this.#ofDocuments[document] ?? 0,
      measure: (page) => ({ length: pageLengths[page] ?? 0, documentCount: documentCounts[page] ?? 0 }),
    }
  }
}

/** Number of documents with a field, and total number of its tokens. */
export function sumLengths(
  lengths: Uint32Array,
  fieldCount: number,
  field: number,
): { documents: number; tokens: number } {
  let count = 0
  let tokens = 0
  for (let i = field; i < lengths.length; i += fieldCount) {
    const length = lengths[i] ?? 0
    if (length > 0) count++
    tokens += length
  }
  return { documents: count, tokens }
}

/** Number of tokens of each document over all fields, weighted by field. `lengths` has the counts by document and field. */
export function weighLengths(lengths: Uint32Array, weights: readonly number[]): Float64Array {
  const weighted = new Float64Array(lengths.length / weights.length)
  for (let document = 0; document < weighted.length; document++) {
    let sum = 0
    for (let field = 0; field < weights.length; field++) {
      sum += (weights[field] ?? 0) * (lengths[document * weights.length + field] ?? 0)
    }
    weighted[document] = sum
  }
  return weighted
}
