import { useComputed, useSignalEffect } from '@preact/signals'
import { now } from './clock.ts'
import { connection, endedCount, liveJobs } from './live.ts'

/** Poll interval while crawls run. */
const POLL_INTERVAL_MS = 3000

/** Calls `read` at once, whenever a crawl starts or ends, when the server is lost or back, and every few seconds while crawls run. */
export function useLiveRefresh(read: () => Promise<void>): void {
  const pollTick = useComputed(() => (liveJobs.value.length === 0 ? 0 : Math.floor(now.value / POLL_INTERVAL_MS)))
  const isLost = useComputed(() => connection.value === 'lost')
  useSignalEffect(() => {
    endedCount.value
    pollTick.value
    isLost.value
    void read()
  })
}
