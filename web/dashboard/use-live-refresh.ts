import { useComputed, useSignalEffect } from '@preact/signals'
import { now } from './clock.ts'
import { connection, endedCount, liveJobs } from './live.ts'

/** Poll interval while crawls run. */
const POLL_INTERVAL_MS = 3000

/** Calls `read` immediately, whenever a crawl starts or ends or the server is back, and every few seconds while one runs. */
export function useLiveRefresh(read: () => Promise<void>): void {
  const turn = useComputed(() => (liveJobs.value.length === 0 ? 0 : Math.floor(now.value / POLL_INTERVAL_MS)))
  const isLost = useComputed(() => connection.value === 'lost')
  useSignalEffect(() => {
    endedCount.value
    turn.value
    isLost.value
    void read()
  })
}
