/**
 * Work in small steps of about a millisecond, so that the caller can yield between two steps or stop. The yielded values have no meaning;
 * the return value is the result.
 */
export type Steps<T> = Generator<void, T, void>

/** Runs all steps at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Items sorted in one step. */
const RUN_LENGTH = 1024

/** Sorts into a new array; the sort is stable. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = []
  for (let at = 0; at < items.length; at += RUN_LENGTH) {
    runs.push(items.slice(at, at + RUN_LENGTH).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i] ?? [], runs[i + 1] ?? [], compare))
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<T>(first: readonly T[], second: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = []
  let i = 0
  let j = 0
  while (i < first.length || j < second.length) {
    const a = first[i] as T
    const b = second[j] as T
    const isFirst = j >= second.length || (i < first.length && compare(a, b) <= 0)
    merged.push(isFirst ? a : b)
    if (isFirst) i++
    else j++
    if (merged.length % RUN_LENGTH === 0) yield
  }
  return merged
}
