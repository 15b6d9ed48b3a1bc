// Loaded into the processes of the crawl benchmark: writes their resource usage, threads included, when they end.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

if (isMainThread) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    const usage = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakKilobytes: maxRSS }
    writeFileSync(process.env.PHAROS_BENCH_REPORT, JSON.stringify(usage))
  })
}
