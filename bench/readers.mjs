// Pages per minute that a reader gets from a Crawl4AI service that takes 200 ms for each page, with five concurrent requests.
//
//   npm run bench readers [--urls 150] [--kilobytes 50]
//
// The service is the strict test server of test/connectors, in its own process; its responses hold the given kilobytes of Markdown and four
// times as much HTML, like real ones. In one run every page takes 200 ms, in another from 100 to 300 ms, by its number. Peers in the same
// run: `fetch` for batches of five addresses, the obvious solution, and the client of npm's `crawl4ai` with five workers. The maximum is 60
// s / 200 ms × 5 = 1,500. Pharos also checks every address, keeps the order, retries, and has a circuit breaker.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openCrawl4AIReader } from '../dist/readers/crawl4ai-reader.js'
import { openCrawl4AIServer } from '../test/connectors/servers/crawl4ai.ts'
import { cpuSeconds, option, printTable } from './measure.mjs'

const CONCURRENCY = 5
const SERVICE_MS = 200
const MAX_PER_MINUTE = (60_000 / SERVICE_MS) * CONCURRENCY
const TARGET = 1200
const CRAWLER_CONFIG = { type: 'CrawlerRunConfig', params: { cache_mode: 'bypass', word_count_threshold: 10 } }

/** The service: sends its origin to the parent process, and exits with it. */
async function serve() {
  const [, , , spread, kilobytes] = process.argv
  const text = 'A sentence of a page that is long enough. '.repeat((Number(kilobytes) * 1024) / 42)
  const found = {
    html: `<p>${text.repeat(4)}</p>`,
    markdown: { raw_markdown: text, markdown_with_citations: text, references_markdown: '', fit_markdown: '' },
  }
  const delayMs = (url) => SERVICE_MS + (((Number(url.split('/').at(-1)) * 37) % 201) - 100) * Number(spread)
  const server = await openCrawl4AIServer({ find: () => found, delayMs })
  process.on('disconnect', () => process.exit())
  process.send({ origin: server.origin })
}

async function measure() {
  const count = Number(option('urls') ?? 150)
  // A public IP address, so that no name is resolved. No connection is made to it.
  const urls = Array.from({ length: count }, (_, i) => `http://93.184.216.34/${i}`)
  const rows = []
  let pharosRate
  for (const [label, spread] of [
    [`${SERVICE_MS} ms`, 0],
    ['100 to 300 ms', 1],
  ]) {
    const service = await startService(spread)
    try {
      const results = {}
      for (const [name, read] of Object.entries(CONTENDERS)) {
        // Warms up before the measurement.
        await read(service.origin, urls.slice(0, 2 * CONCURRENCY))
        results[name] = await time(() => read(service.origin, urls), count)
        const { perMinute, cpu, seconds } = results[name]
        rows.push([
          `${label}, ${name}`,
          Math.round(perMinute),
          share(perMinute / MAX_PER_MINUTE),
          cpu.toFixed(2),
          seconds.toFixed(1),
        ])
      }
      pharosRate ??= results.Pharos.perMinute
      const { Pharos: ours, 'fetch in batches of five': naive } = results
      rows.push([
        `${label}, Pharos ÷ fetch`,
        (ours.perMinute / naive.perMinute).toFixed(2),
        '',
        (ours.cpu / naive.cpu).toFixed(2),
        '',
      ])
    } finally {
      service.child.disconnect()
    }
  }
  printTable(['', 'URLs/min', 'of maximum', 'CPU s', 's'], rows)
  console.log()
  printTable(
    ['target', 'wanted', 'measured', 'met'],
    [
      [
        `URLs per minute, ${CONCURRENCY} concurrent`,
        `≥ ${TARGET}`,
        Math.round(pharosRate),
        pharosRate >= TARGET ? 'yes' : 'no',
      ],
    ],
  )
}

const CONTENDERS = {
  async Pharos(endpointUrl, urls) {
    const reader = await openCrawl4AIReader({ endpointUrl, maxConcurrentRequests: CONCURRENCY })
    try {
      return (await reader.loadData(urls)).length
    } finally {
      await reader.close()
    }
  },

  async 'fetch in batches of five'(endpointUrl, urls) {
    const texts = []
    for (let i = 0; i < urls.length; i += CONCURRENCY) {
      const requests = urls.slice(i, i + CONCURRENCY).map(async (url) => {
        const response = await fetch(`${endpointUrl}/crawl`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ urls: [url], crawler_config: CRAWLER_CONFIG }),
        })
        const { results } = await response.json()
        return results[0].markdown.raw_markdown
      })
      texts.push(...(await Promise.all(requests)))
    }
    return texts.length
  },

  async "npm's crawl4ai"(endpointUrl, urls) {
    const { default: Crawl4AI } = await import('crawl4ai')
    const client = new Crawl4AI({ baseUrl: endpointUrl, timeout: 60_000 })
    const texts = []
    const remaining = urls.entries()
    const work = async () => {
      for (const [index, url] of remaining) {
        const [result] = await client.crawl({ urls: [url], crawler_config: CRAWLER_CONFIG })
        texts[index] = result.markdown.raw_markdown
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    return texts.length
  },
}

async function time(read, count) {
  const since = process.cpuUsage()
  const start = performance.now()
  const readCount = await read()
  if (readCount !== count) throw new Error(`${readCount} of ${count} pages were read`)
  const seconds = (performance.now() - start) / 1000
  return { seconds, cpu: cpuSeconds(since), perMinute: (count / seconds) * 60 }
}

async function startService(spread) {
  const child = fork(fileURLToPath(import.meta.url), ['serve', String(spread), option('kilobytes') ?? '50'])
  const [{ origin }] = await once(child, 'message')
  return { child, origin }
}

function share(value) {
  return `${(value * 100).toFixed(1)} %`
}

if (process.argv[2] === 'serve') await serve()
else await measure()
