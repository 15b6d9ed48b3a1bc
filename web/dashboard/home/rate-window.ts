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
  /** Per second, over the last few; never over less than one, in which little says much. */
  readPresent(now: number): number
  /** Of the whole window, or since the count began where that is less. */
  readSeries(now: number): RateSeries
}

/** Reports come at least this often while there is something to report. */
const FRESH_MS = 6000

/** A chart is never narrower than this. */
const MIN_SECONDS = 20

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
    const [first] = samples
    if (first === undefined || first.at >= to) return null
    // In its first second nothing was counted before it began.
    const [start, end] = [from < first.at ? first.count : countAt(from), countAt(to)]
    return start === null || end === null ? null : Math.max(0, ((end - start) * 1000) / (to - from))
  }
  /** Whether the next report is still to be waited for: until then nothing is known of what came after the last one. */
  const isFresh = (now: number) => now - (samples.at(-1)?.at ?? 0) < FRESH_MS
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
      const to = isFresh(now) ? Math.min(now, samples.at(-1)?.at ?? now) : now
      const from = Math.max(first?.at ?? to, to - PRESENT_SECONDS * 1000)
      return rateBetween(Math.min(from, to - 1000), to) ?? 0
    },
    readSeries(now) {
      const last = Math.floor(now / 1000)
      const known = last - Math.floor((samples[0]?.at ?? now) / 1000)
      const length = Math.min(WINDOW_SECONDS, Math.max(MIN_SECONDS, known))
      const seconds = Array.from({ length: length + 1 }, (_, i) => last - length + i)
      const end = isFresh(now) ? (samples.at(-1)?.at ?? now) : now
      const rateOf = (second: number) => (second * 1000 > end ? null : rateBetween((second - 1) * 1000, second * 1000))
      return { seconds, rates: seconds.map(rateOf) }
    },
  }
}
