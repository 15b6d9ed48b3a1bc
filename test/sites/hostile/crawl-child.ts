/**
 * Crawls several sources concurrently in a separate process. The argument is a {@link ChildTask} as JSON. The process writes one JSON line
 * per source to stdout, and its resource usage as the last line.
 */
import { readFileSync } from 'node:fs'
import type { LedgerRow } from '../../../src/crawl/ledger.ts'
import { parseAllowance } from '../../../src/fetch/addresses.ts'
import { openHttpFetcher } from '../../../src/fetch/http.ts'
import { addSource, type SourceInput } from '../../../src/library/crawl/add-source.ts'
import { crawlSource } from '../../../src/library/crawl/crawl-source.ts'
import { searchHits } from '../../../src/library/search/hits.ts'
import type { Source } from '../../../src/library/source.ts'
import { openLibrary } from '../../../src/open-library.ts'
import type { ChildTask, SourceReport } from './harness.ts'

const { library: path, sources, timeouts, limits, queries } = JSON.parse(process.argv[2] ?? '') as ChildTask
const opened = await openLibrary({ path, version: '0.0.0', allowPrivate: ['127.0.0.1', '127.0.0.2'], limits })
const parsed = parseAllowance(['127.0.0.1', '127.0.0.2'])
if (parsed.type === 'problem') throw new Error(parsed.problem)
const hastyFetcher =
  timeouts === undefined
    ? undefined
    : openHttpFetcher({ userAgent: 'Pharos/0.0.0', allowance: parsed.allowance, ...timeouts })
const library = hastyFetcher === undefined ? opened : { ...opened, fetcher: hastyFetcher }
/** The last progress event of each source that is not done. */
const progressByUrl = new Map<string, object>()
process.on('SIGTERM', () => {
  process.stderr.write(`not done: ${JSON.stringify([...progressByUrl])}\n`, () => process.exit(1))
})
try {
  await Promise.all(sources.map(async (input) => writeLine(await crawlOne(input))))
  const found = await Promise.all(
    queries.map(async (query) => (await searchHits(library.store, { query, limit: 1 }))[0]),
  )
  writeLine({ type: 'found', urls: found.map((hit) => hit?.chunk.path ?? null) })
} finally {
  await hastyFetcher?.close()
  await opened.close()
}
const { userCPUTime, systemCPUTime } = process.resourceUsage()
writeLine({ type: 'usage', rssMb: peakKilobytes() / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 })

/** Peak memory of this process. On Linux, `maxRSS` would start with the memory of the parent process. */
function peakKilobytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
}

function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function crawlOne(input: SourceInput): Promise<SourceReport> {
  const source = await addSource(library, input)
  const started = performance.now()
  let ended: { readonly end: string; readonly problem: string | null; readonly requests: number } | undefined
  const eventCounts: Record<string, number> = {}
  const discovered: string[] = []
  const details: Record<string, string> = {}
  for await (const event of crawlSource(library, source, { kind: 'add' }, new AbortController().signal)) {
    if (event.type === 'progress') progressByUrl.set(input.url, event)
    eventCounts[event.type] = (eventCounts[event.type] ?? 0) + 1
    if (event.type === 'ended') ended = event.summary
    if (event.type === 'settled' && event.detail !== null) details[event.url] = event.detail
    if (event.type === 'discovery') discovered.push(`${event.url} ${event.detail}`)
  }
  const { end = 'none', problem = null, requests = 0 } = ended ?? {}
  progressByUrl.delete(input.url)
  const seconds = (performance.now() - started) / 1000
  const { rows, total } = await listRows(source)
  return {
    type: 'crawled',
    url: input.url,
    end,
    problem,
    seconds,
    requests,
    total,
    rows,
    eventCounts,
    details,
    discovered,
  }
}

/** State and reason of the first 5,000 addresses and of all addresses that were visited or failed. */
async function listRows({ id }: Source): Promise<Pick<SourceReport, 'rows' | 'total'>> {
  const rows: Record<string, string> = {}
  let total = 0
  for (let after: string | undefined; ; ) {
    const more: readonly LedgerRow[] = await library.store.listRows(id, {
      limit: 1000,
      ...(after === undefined ? {} : { after }),
    })
    for (const { key, state, reason, status } of more) {
      if (status !== null || state === 'failed' || total < 5000)
        rows[key] = reason === null ? state : `${state} ${reason}`
      total++
    }
    after = more.at(-1)?.key
    if (more.length < 1000) return { rows, total }
  }
}
