import type { JobRates } from './dispatcher.ts'
import type { ProgressFrame } from './frames.ts'

/** Speeds are told over this time: long enough to be calm, short enough to follow. */
const SPEED_MS = 10_000
/** Errors are rare, and counted by the minute. */
const ERRORS_MS = 60_000
/** Reports that come faster are not all remembered. */
const SPACING_MS = 250

/** Where a crawl stood at a moment. */
type Sample = Pick<ProgressFrame, 'visited' | 'downloaded' | 'errors' | 'bytes'> & { readonly at: number }

/** Measures how fast a job goes by what its process reports. */
export interface RateMeter {
  /** Takes a report. One that counts less than the one before comes from a process that began anew. */
  note(progress: ProgressFrame, at: number): void
  /** Counts a page that was taken as it is stored. */
  noteCached(): void
  read(now: number): JobRates
}

/** Creates one that has seen nothing. */
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
      if (before !== undefined && newest !== undefined && newest.at - before.at < SPACING_MS) samples.pop()
      samples.push({ visited, downloaded, errors, bytes, at })
      // The newest of those that are too old is where the time that is looked at begins.
      while (at - (samples[1]?.at ?? at) >= ERRORS_MS) samples.shift()
    },
    noteCached() {
      cached++
    },
    read(now) {
      const last = samples.at(-1)
      if (last === undefined) return STILL
      const speed = standAt(samples, now - SPEED_MS, last)
      const errors = standAt(samples, now - ERRORS_MS, last)
      const seconds = Math.max(1, (now - speed.at) / 1000)
      const minutes = Math.max(1, (now - errors.at) / 60_000)
      return {
        requestsPerSec: (last.visited - speed.visited) / seconds,
        downloadsPerSec: (last.downloaded - speed.downloaded) / seconds,
        bytesPerSec: (last.bytes - speed.bytes) / seconds,
        errorRatePerMin: (last.errors - errors.errors) / minutes,
        cacheHitRatio: Math.min(1, cached / Math.max(1, last.visited)),
      }
    },
  }
}

const STILL: JobRates = {
  requestsPerSec: 0,
  downloadsPerSec: 0,
  bytesPerSec: 0,
  errorRatePerMin: 0,
  cacheHitRatio: 0,
}

/** Where it stood at a moment, or where it was first seen if that was later. */
function standAt(samples: readonly Sample[], at: number, last: Sample): Sample {
  return samples.findLast((sample) => sample.at <= at) ?? samples[0] ?? last
}
