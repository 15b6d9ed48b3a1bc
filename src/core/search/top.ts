/** A value for each candidate that breaks ties between equal scores: the smaller value wins, then the smaller candidate number. */
export type Order = ((candidate: number) => number) | undefined

/**
 * The candidates with the best scores, best first; equal scores by `order`. `accept`, which may be slow, is called for candidates in order
 * of score until there are enough.
 */
export function selectTop(
  candidates: Uint32Array,
  scores: Float64Array,
  limit: number,
  accept?: (candidate: number) => boolean,
  order?: Order,
): number[] {
  if (limit < 1) return []
  const isBetter = (a: number, b: number): boolean => {
    const difference = (scores[a] ?? 0) - (scores[b] ?? 0)
    if (difference !== 0) return difference > 0
    const orderDifference = order === undefined ? 0 : order(a) - order(b)
    return orderDifference === 0 ? a < b : orderDifference < 0
  }
  return accept
    ? takeAccepted(candidates, limit, accept, isBetter)
    : takeBest(candidates, scores, limit, isBetter).sort((a, b) => (isBetter(a, b) ? -1 : 1))
}

type Precedes = (a: number, b: number) => boolean

/** Keeps the best candidates so far in a heap with the worst on top, so that most candidates cost one comparison. */
function takeBest(candidates: Uint32Array, scores: Float64Array, limit: number, isBetter: Precedes): number[] {
  const isWorse: Precedes = (a, b) => isBetter(b, a)
  const heap: number[] = []
  let worstScore = 0
  // An index loop, because the iterator of a typed array takes several times as long.
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[i] ?? 0
    if (heap.length < limit) {
      heap.push(candidate)
      siftUp(heap, isWorse)
    } else if ((scores[candidate] ?? 0) >= worstScore && isBetter(candidate, heap[0] ?? 0)) {
      heap[0] = candidate
      siftDown(heap, 0, heap.length, isWorse)
    } else {
      continue
    }
    worstScore = scores[heap[0] ?? 0] ?? 0
  }
  return heap
}

/** Puts all candidates into a heap with the best on top, and takes them from there until enough are accepted. */
function takeAccepted(
  candidates: Uint32Array,
  limit: number,
  accept: (candidate: number) => boolean,
  isBetter: Precedes,
): number[] {
  const heap = candidates.slice()
  for (let i = (heap.length >> 1) - 1; i >= 0; i--) siftDown(heap, i, heap.length, isBetter)
  const accepted: number[] = []
  for (let { length } = heap; length > 0 && accepted.length < limit; ) {
    const best = heap[0] ?? 0
    heap[0] = heap[--length] ?? 0
    siftDown(heap, 0, length, isBetter)
    if (accept(best)) accepted.push(best)
  }
  return accepted
}

function siftUp(heap: number[], isAbove: Precedes): void {
  for (let i = heap.length - 1; i > 0; ) {
    const parent = (i - 1) >> 1
    if (!swapIf(heap, parent, i, isAbove)) return
    i = parent
  }
}

function siftDown(heap: number[] | Uint32Array, from: number, length: number, isAbove: Precedes): void {
  for (let i = from; ; ) {
    const left = 2 * i + 1
    const right = left + 1
    if (left >= length) return
    const child = right < length && isAbove(heap[right] ?? 0, heap[left] ?? 0) ? right : left
    if (!swapIf(heap, i, child, isAbove)) return
    i = child
  }
}

/** Swaps two entries when the lower one belongs above. */
function swapIf(heap: number[] | Uint32Array, upper: number, lower: number, isAbove: Precedes): boolean {
  const above = heap[upper] ?? 0
  const below = heap[lower] ?? 0
  if (!isAbove(below, above)) return false
  heap[upper] = below
  heap[lower] = above
  return true
}

/** Keeps the documents with the best scores among those that are offered. */
export class BestDocuments {
  readonly limit: number
  readonly #order: Order
  readonly #documents: number[] = []
  readonly #scores: number[] = []
  /** Indexes of the documents, the worst on top. */
  readonly #heap: number[] = []
  /** A lower score than this is not among the best. */
  threshold: number = Number.NEGATIVE_INFINITY

  /** Equal scores are in the order of `order`. */
  constructor(limit: number, order: Order) {
    this.limit = limit
    this.#order = order
  }

  offer(document: number, score: number): void {
    if (score < this.threshold) return
    const { length } = this.#heap
    if (length < this.limit) {
      this.#documents.push(document)
      this.#scores.push(score)
      this.#heap.push(length)
      siftUp(this.#heap, this.#isWorse)
    } else {
      const [worst = 0] = this.#heap
      if (score === this.threshold && this.#compare(document, this.#documents[worst] ?? 0) > 0) return
      this.#documents[worst] = document
      this.#scores[worst] = score
      siftDown(this.#heap, 0, length, this.#isWorse)
    }
    if (this.#heap.length === this.limit) this.threshold = this.#scores[this.#heap[0] ?? 0] ?? 0
  }

  /** The documents, best first; notes their scores. */
  list(scores: Map<number, number>): number[] {
    const best = this.#heap.toSorted((a, b) => (this.#isWorse(a, b) ? 1 : -1))
    return best.map((i) => {
      const document = this.#documents[i] ?? 0
      scores.set(document, this.#scores[i] ?? 0)
      return document
    })
  }

  readonly #isWorse: Precedes = (a, b) => {
    const difference = (this.#scores[a] ?? 0) - (this.#scores[b] ?? 0)
    return difference === 0 ? this.#compare(this.#documents[a] ?? 0, this.#documents[b] ?? 0) > 0 : difference < 0
  }

  #compare(a: number, b: number): number {
    return (this.#order === undefined ? 0 : this.#order(a) - this.#order(b)) || a - b
  }
}
