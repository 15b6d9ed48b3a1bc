// Loaded into a server before its program: reports its event loop delay to the parent process. Crawls that it starts load it too, but have
// no parent to report to.
import { monitorEventLoopDelay } from 'node:perf_hooks'

if (process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('message', (message) => {
    if (message === 'reset') delay.reset()
    // The interval of the timer itself is no delay.
    else
      process.send({
        p50: delay.percentile(50) / 1e6 - 1,
        p99: delay.percentile(99) / 1e6 - 1,
        max: delay.max / 1e6 - 1,
      })
  })
  process.channel?.unref()
}
