/**
 * Loaded by a server before its own code (NODE_OPTIONS): appends its memory after a garbage collection to the file SOAK_SAMPLES, one JSON
 * object per line. Processes that the server starts do nothing.
 */
import { appendFileSync } from 'node:fs'

const INTERVAL_MS = 15_000
const MB = 2 ** 20
const file = process.env.SOAK_SAMPLES

if (file !== undefined && process.argv.includes('serve')) {
  setInterval(() => {
    globalThis.gc?.()
    const { rss, heapUsed, external } = process.memoryUsage()
    const sample = { atMs: performance.now(), rssMb: rss / MB, heapMb: (heapUsed + external) / MB }
    appendFileSync(file, `${JSON.stringify(sample)}\n`)
  }, INTERVAL_MS).unref()
}
