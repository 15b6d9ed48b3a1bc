// Loaded into a server before its program: reports its event loop delay to the parent process. Crawl processes of the server load this file
// too, but have no channel to report on.
import { monitorEventLoopDelay } from 'node:perf_hooks'

if (process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('message', (message) => {
    if (message === 'reset') delay.reset()
    // The interval of the timer, 1 ms, does not count as delay.
    else
      process.send({
        p50: delay.percentile(50) / 1e6 - 1,
        p99: delay.percentile(99) / 1e6 - 1,
        max: delay.max / 1e6 - 1,
      })
  })
  process.channel?.unref()
}
