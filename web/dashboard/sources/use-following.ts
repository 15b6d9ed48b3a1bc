import { useComputed, useSignalEffect } from '@preact/signals'
import { now } from '../clock.ts'
import { endedCount, liveJobs } from '../live.ts'

/** So often something is read again while crawls run. */
const EVERY_MS = 3000

/** Calls at once, whenever a crawl begins or ends, and every few seconds while one runs. */
export function useFollowing(read: () => Promise<void>): void {
  const turn = useComputed(() => (liveJobs.value.length === 0 ? 0 : Math.floor(now.value / EVERY_MS)))
  useSignalEffect(() => {
    endedCount.value
    turn.value
    void read()
  })
}
