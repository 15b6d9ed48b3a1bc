/**
 * The numbers of the best scores, best first; equal scores in ascending order of number. A heap of the best so far with
 * the worst on top, so that most candidates cost one comparison. `accept` is asked only of those that would enter.
 */
export function selectTop(
  candidates: Uint32Array,
  scores: Float64Array,
  limit: number,
  accept?: (candidate: number) => boolean,
): number[] {
  const heap: number[] = []
  if (limit < 1) return heap
  for (const candidate of candidates) {
    const worst = heap[0]
    if (heap.length === limit && worst !== undefined && !isBetter(candidate, worst, scores)) continue
    if (accept && !accept(candidate)) continue
    if (heap.length < limit) {
      heap.push(candidate)
      siftUp(heap, heap.length - 1, scores)
    } else {
      heap[0] = candidate
      siftDown(heap, scores)
    }
  }
  return heap.sort((a, b) => (isBetter(a, b, scores) ? -1 : 1))
}

function isBetter(a: number, b: number, scores: Float64Array): boolean {
  const difference = (scores[a] ?? 0) - (scores[b] ?? 0)
  return difference > 0 || (difference === 0 && a < b)
}

function siftUp(heap: number[], from: number, scores: Float64Array): void {
  for (let i = from; i > 0; ) {
    const parent = (i - 1) >> 1
    if (!swapIfBetter(heap, parent, i, scores)) return
    i = parent
  }
}

function siftDown(heap: number[], scores: Float64Array): void {
  for (let i = 0; ; ) {
    const left = 2 * i + 1
    const right = left + 1
    if (left >= heap.length) return
    const worse = right < heap.length && isBetter(heap[left] ?? 0, heap[right] ?? 0, scores) ? right : left
    if (!swapIfBetter(heap, i, worse, scores)) return
    i = worse
  }
}

/** Swaps two places when the upper holds the better score, which belongs below. */
function swapIfBetter(heap: number[], upper: number, lower: number, scores: Float64Array): boolean {
  const above = heap[upper] ?? 0
  const below = heap[lower] ?? 0
  if (!isBetter(above, below, scores)) return false
  heap[upper] = below
  heap[lower] = above
  return true
}
