import { performance } from 'node:perf_hooks'

/** A measurement is over at least so long a time: shorter ones tell of single pages. */
const MEASURED_MS = 200

/** Measures which share of the last moments the event loop of this process was at work. */
export function createLoad(): () => number {
  let before = performance.eventLoopUtilization()
  let load = 1
  return () => {
    const now = performance.eventLoopUtilization()
    const { active, idle, utilization } = performance.eventLoopUtilization(now, before)
    if (active + idle < MEASURED_MS) return load
    before = now
    load = utilization
    return load
  }
}
