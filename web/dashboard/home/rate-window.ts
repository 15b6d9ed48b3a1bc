/** How far back a chart looks. */
export const WINDOW_SECONDS = 120

/** Over so many seconds the present rate is taken: pages come in bursts. */
const PRESENT_SECONDS = 5

/** A count at a moment. */
interface Sample {
  readonly at: number
  readonly count: number
}

/** Rates per second, one for each second of the window; null where nothing was known yet. */
export interface RateSeries {
  /** Seconds since 1970. */
  readonly seconds: readonly number[]
  readonly rates: readonly (number | null)[]
}

/** Makes rates out of a count that is told from time to time. */
export interface RateWindow {
  add(at: number, count: number): void
  /** Per second, over the last few. */
  readPresent(now: number): number
  readSeries(now: number): RateSeries
}

/** Begins with nothing known. */
export function createRateWindow(): RateWindow {
  let samples: Sample[] = []
  const countAt = (at: number): number | null => {
    const after = samples.findIndex((sample) => sample.at >= at)
    if (after === 0) return samples[0]?.at === at ? (samples[0]?.count ?? null) : null
    const before = samples.at(after === -1 ? -1 : after - 1)
    const next = samples[after]
    if (before === undefined) return null
    if (next === undefined) return before.count
    // Between two reports the pages are taken to have come evenly.
    return before.count + ((next.count - before.count) * (at - before.at)) / (next.at - before.at)
  }
  const rateBetween = (from: number, to: number): number | null => {
    const [start, end] = [countAt(from), countAt(to)]
    return start === null || end === null ? null : Math.max(0, ((end - start) * 1000) / (to - from))
  }
  return {
    add(at, count) {
      const last = samples.at(-1)
      // A process that was started again counts from the beginning.
      if (last !== undefined && count < last.count) samples = []
      if (last === undefined || at > last.at) samples.push({ at, count })
      const oldest = at - (WINDOW_SECONDS + PRESENT_SECONDS + 2) * 1000
      const first = samples.findIndex((sample) => sample.at >= oldest)
      if (first > 0) samples = samples.slice(first)
    },
    readPresent(now) {
      const [first] = samples
      if (first === undefined || first.at >= now) return 0
      return rateBetween(Math.max(first.at, now - PRESENT_SECONDS * 1000), now) ?? 0
    },
    readSeries(now) {
      const last = Math.floor(now / 1000)
      const seconds = Array.from({ length: WINDOW_SECONDS + 1 }, (_, i) => last - WINDOW_SECONDS + i)
      return { seconds, rates: seconds.map((second) => rateBetween((second - 1) * 1000, second * 1000)) }
    },
  }
}
