import type { JobRates } from './dispatcher.ts'
import type { ProgressFrame } from './events/frames.ts'

/** Window for rates: long enough to be smooth, short enough to follow changes. */
const RATE_WINDOW_MS = 10_000
/** Window for errors, which are rare and shown per minute. */
const ERROR_WINDOW_MS = 60_000
/** Minimum interval between two samples. */
const MIN_SAMPLE_INTERVAL_MS = 250

/** Counters at a point in time. */
type Sample = Pick<ProgressFrame, 'visited' | 'downloaded' | 'errors' | 'bytes'> & { readonly at: number }

/** Measures the rates of a job from the reports of its process. */
export interface RateMeter {
  /** Adds a report. Lower counts than before mean that the process has restarted. */
  note(progress: ProgressFrame, at: number): void
  /** Counts a page served from the library. */
  noteCached(): void
  read(now: number): JobRates
}

/** Creates a meter without samples. */
export function createRateMeter(): RateMeter {
  let samples: Sample[] = []
  let cached = 0
  return {
    note({ visited, downloaded, errors, bytes }, at) {
      const last = samples.at(-1)
      if (last !== undefined && visited < last.visited) {
        samples = []
        cached = 0
      }
      const [before, newest] = samples.slice(-2)
      if (before !== undefined && newest !== undefined && newest.at - before.at < MIN_SAMPLE_INTERVAL_MS) samples.pop()
      samples.push({ visited, downloaded, errors, bytes, at })
      // Keeps one sample older than the error window, as the start of the window.
      while (at - (samples[1]?.at ?? at) >= ERROR_WINDOW_MS) samples.shift()
    },
    noteCached() {
      cached++
    },
    read(now) {
      const last = samples.at(-1)
      if (last === undefined) return NO_RATES
      const rateStart = sampleAt(samples, now - RATE_WINDOW_MS, last)
      const errorStart = sampleAt(samples, now - ERROR_WINDOW_MS, last)
      const seconds = Math.max(1, (now - rateStart.at) / 1000)
      const minutes = Math.max(1, (now - errorStart.at) / 60_000)
      return {
        requestsPerSec: (last.visited - rateStart.visited) / seconds,
        downloadsPerSec: (last.downloaded - rateStart.downloaded) / seconds,
        bytesPerSec: (last.bytes - rateStart.bytes) / seconds,
        errorRatePerMin: (last.errors - errorStart.errors) / minutes,
        cacheHitRatio: Math.min(1, cached / Math.max(1, last.visited)),
      }
    },
  }
}

const NO_RATES: JobRates = {
  requestsPerSec: 0,
  downloadsPerSec: 0,
  bytesPerSec: 0,
  errorRatePerMin: 0,
  cacheHitRatio: 0,
}

/** Returns the sample at a time, or the earliest one. */
function sampleAt(samples: readonly Sample[], at: number, last: Sample): Sample {
  return samples.findLast((sample) => sample.at <= at) ?? samples[0] ?? last
}
