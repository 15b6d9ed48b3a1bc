// Loaded into a server before its program: tells its parent how late its event loop is. Crawls that it starts load it as well, and
// have no parent to tell.
import { monitorEventLoopDelay } from 'node:perf_hooks'

if (process.send !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('message', (message) => {
    if (message === 'reset') delay.reset()
    // What the timer itself waits is no delay.
    else
      process.send({
        p50: delay.percentile(50) / 1e6 - 1,
        p99: delay.percentile(99) / 1e6 - 1,
        max: delay.max / 1e6 - 1,
      })
  })
  process.channel?.unref()
}
