/** The time span of a chart: the run so far, but at most the past hour. */
export const MAX_SPAN_SECONDS = 3600

/** The minimum time span of a chart. */
const MIN_SPAN_SECONDS = 20

/** A chart has about this many points, whatever its span. */
const POINTS = 120

/** The current rate is an average over this many seconds, because pages arrive in bursts. */
const CURRENT_RATE_SECONDS = 5

/** While a crawl makes progress, the time between two reports is at most this long. */
const MAX_REPORT_INTERVAL_MS = 6000

/** Older samples are thinned out to one for this time, so that an hour fits into little memory. */
const THINNED_INTERVAL_MS = 5000
const RECENT_MS = 60_000

/** A count at a point in time. */
interface Sample {
  readonly at: number
  readonly count: number
}

/** Rates per second over a window; null where no data exists yet. */
export interface RateSeries {
  /** Unix timestamps in seconds, evenly spaced. */
  readonly seconds: readonly number[]
  readonly rates: readonly (number | null)[]
}

/** Computes rates from a counter that is reported at irregular intervals. */
export interface RateWindow {
  add(at: number, count: number): void
  /** The time of the first sample; null without samples. */
  readonly startedAt: number | null
  /** Adds samples from before the first one. */
  addEarlier(samples: readonly Sample[]): void
  /** The average over the last seconds. It spans at least one second, because shorter spans are too noisy. */
  readCurrent(now: number): number
  /** The average since the first sample. */
  readAverage(now: number): number
  /** The rates since the first report, at most of the past hour. */
  readSeries(now: number): RateSeries
}

/** Creates a window without samples. */
export function createRateWindow(): RateWindow {
  let samples: Sample[] = []
  const countAt = (at: number): number | null => {
    const after = samples.findIndex((sample) => sample.at >= at)
    if (after === 0) return samples[0]?.at === at ? (samples[0]?.count ?? null) : null
    const before = samples.at(after === -1 ? -1 : after - 1)
    const next = samples[after]
    if (before === undefined) return null
    if (next === undefined) return before.count
    // Interpolates linearly between two reports.
    return before.count + ((next.count - before.count) * (at - before.at)) / (next.at - before.at)
  }
  const rateBetween = (from: number, to: number): number | null => {
    const [first] = samples
    if (first === undefined || first.at >= to) return null
    // A step that begins before the first sample starts from the count of that sample.
    const [start, end] = [from < first.at ? first.count : countAt(from), countAt(to)]
    return start === null || end === null ? null : Math.max(0, ((end - start) * 1000) / (to - from))
  }
  /** Whether the next report may still arrive; until then the rate after the last report is unknown. */
  const isFresh = (now: number) => now - (samples.at(-1)?.at ?? 0) < MAX_REPORT_INTERVAL_MS
  return {
    get startedAt() {
      return samples[0]?.at ?? null
    },
    add(at, count) {
      const last = samples.at(-1)
      // A restarted process counts from zero.
      if (last !== undefined && count < last.count) samples = []
      if (last === undefined || at > last.at) samples.push({ at, count })
      const oldest = at - (MAX_SPAN_SECONDS + CURRENT_RATE_SECONDS + 2) * 1000
      const first = samples.findIndex((sample) => sample.at >= oldest)
      if (first > 0) samples = samples.slice(first)
      if (samples.length % 100 === 0) samples = thinOut(samples, at - RECENT_MS)
    },
    addEarlier(earlier) {
      const [first] = samples
      const isEarlier = ({ at, count }: Sample) => first === undefined || (at < first.at && count <= first.count)
      samples = [...earlier.filter(isEarlier), ...samples]
    },
    readCurrent(now) {
      const [first] = samples
      const to = isFresh(now) ? Math.min(now, samples.at(-1)?.at ?? now) : now
      const from = Math.max(first?.at ?? to, to - CURRENT_RATE_SECONDS * 1000)
      return rateBetween(Math.min(from, to - 1000), to) ?? 0
    },
    readAverage(now) {
      const [first] = samples
      return first === undefined ? 0 : (rateBetween(first.at, Math.max(now, first.at + 1000)) ?? 0)
    },
    readSeries(now) {
      const last = Math.floor(now / 1000)
      const knownSeconds = last - Math.floor((samples[0]?.at ?? now) / 1000)
      const span = Math.min(MAX_SPAN_SECONDS, Math.max(MIN_SPAN_SECONDS, knownSeconds))
      const step = Math.max(1, Math.ceil(span / POINTS))
      const count = Math.ceil(span / step)
      const seconds = Array.from({ length: count + 1 }, (_, i) => last - (count - i) * step)
      const end = isFresh(now) ? (samples.at(-1)?.at ?? now) : now
      const rateOf = (second: number) =>
        second * 1000 > end ? null : rateBetween((second - step) * 1000, second * 1000)
      return { seconds, rates: seconds.map(rateOf) }
    },
  }
}

/** Keeps one sample for each interval before `recentAt`, and all later ones. */
function thinOut(samples: readonly Sample[], recentAt: number): Sample[] {
  let keptAt = Number.NEGATIVE_INFINITY
  return samples.filter(({ at }) => {
    const isKept = at >= recentAt || at - keptAt >= THINNED_INTERVAL_MS
    if (isKept) keptAt = at
    return isKept
  })
}
