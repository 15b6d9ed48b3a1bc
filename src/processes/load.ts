import { performance } from 'node:perf_hooks'

/** Minimum duration of a measurement: shorter ones would only reflect single pages. */
const MIN_SAMPLE_MS = 200

/** Returns a function that measures the recent utilization of the event loop, from 0 to 1. */
export function createLoadMeter(): () => number {
  let before = performance.eventLoopUtilization()
  let load = 1
  return () => {
    const now = performance.eventLoopUtilization()
    const { active, idle, utilization } = performance.eventLoopUtilization(now, before)
    if (active + idle < MIN_SAMPLE_MS) return load
    before = now
    load = utilization
    return load
  }
}
