import type { Segment } from '../../search/segments/segment.ts'
import type { ChunkRange, DeadChunkRange } from './index-storage.ts'

/** Marks the dead documents of segments. A segment keeps its array until other documents die, so that users can recognize it. */
export class DeadDocuments {
  readonly #marked = new WeakMap<Segment, { readonly runs: readonly ChunkRange[]; readonly dead: Uint8Array }>()

  /** 1 for each document of a segment that is in one of the runs, which are in order and do not overlap. */
  mark(segment: Segment, runs: readonly ChunkRange[] | undefined): Uint8Array | undefined {
    if (!runs) return undefined
    const known = this.#marked.get(segment)
    if (known !== undefined && isSame(known.runs, runs)) return known.dead
    const dead = markRuns(segment, runs)
    this.#marked.set(segment, { runs, dead })
    return dead
  }
}

/** The runs of each segment, in order; overlapping ones are joined. */
export function groupRuns(runs: readonly DeadChunkRange[]): Map<number, ChunkRange[]> {
  const groups = new Map<number, ChunkRange[]>()
  for (const { segment, first, last } of runs) {
    const group = groups.get(segment) ?? []
    groups.set(segment, group)
    const before = group.at(-1)
    if (before && before.last >= first) group[group.length - 1] = { ...before, last: Math.max(before.last, last) }
    else group.push({ first, last })
  }
  return groups
}

function isSame(a: readonly ChunkRange[], b: readonly ChunkRange[]): boolean {
  return a.length === b.length && a.every(({ first, last }, i) => first === b[i]?.first && last === b[i]?.last)
}

function markRuns(
  { table: { numbers, count }, hasAscendingNumbers }: Segment,
  runs: readonly ChunkRange[],
): Uint8Array {
  const dead = new Uint8Array(count)
  if (hasAscendingNumbers) {
    for (const { first, last } of runs) dead.fill(1, findLowerBound(numbers, first), findLowerBound(numbers, last + 1))
    return dead
  }
  const firsts = Float64Array.from(runs, ({ first }) => first)
  numbers.forEach((number, index) => {
    const run = runs[findLowerBound(firsts, number + 1) - 1]
    if (run !== undefined && number <= run.last) dead[index] = 1
  })
  return dead
}

/** The index of a number in an ascending list, or of the first one above it. */
function findLowerBound(numbers: Float64Array, wanted: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}
