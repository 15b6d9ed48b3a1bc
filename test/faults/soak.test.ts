import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { findSource } from '../../src/node.ts'
import { type Child, startNode } from '../sites/children.ts'
import { openTestLibrary, runCrawl } from '../sites/crawl.ts'
import { withFastClock } from '../sites/fast-clock.ts'
import { createLibraryPath, expectSound } from '../sites/file-fixture.ts'
import { isLong, report } from './bounded.ts'
import { type FaultySite, type FaultySiteOptions, openFaultySite } from './faulty-site.ts'
import { fitLine } from './fit-line.ts'
import type { CrawlReport, Sample, SoakOptions } from './soak-child.ts'

const MINUTE_MS = 60_000
const SOAK_MS = isLong ? Number(process.env['SOAK_MINUTES'] ?? 30) * MINUTE_MS : 3300
/** Lifetime of a process before it is killed. */
const LIFE_MS = isLong ? SOAK_MS / 6 : SOAK_MS / 2
const CHANGE_INTERVAL_MS = isLong ? 20_000 : 1000
/** Time for processes to start and to finish their work. */
const MARGIN_MS = 120_000
const SCRIPT = fileURLToPath(new URL('./soak-child.ts', import.meta.url))

/** Large enough to be parsed in a separate process. */
const LARGE_BYTES = isLong ? 1_200_000 : 300_000

/** The sites. Shares of "too busy" responses are small, because each slows down the crawl for minutes. */
const SITES: readonly Omit<FaultySiteOptions, 'largeBytes'>[] = [
  { address: '127.0.0.1', size: isLong ? 200 : 40, faultRates: { error: 0.03 } },
  { address: '127.0.0.2', size: isLong ? 200 : 40, faultRates: { error: 0.02, reset: 0.01, slow: 0.01 } },
  { address: '127.0.0.3', size: isLong ? 100 : 20, faultRates: { slow: 0.1, silent: isLong ? 0.003 : 0 } },
  { address: '127.0.0.4', size: isLong ? 40 : 20, faultRates: { busy: 0.004, limited: 0.004, error: 0.02 } },
  { address: '127.0.0.5', size: isLong ? 40 : 20, faultRates: { slow: 0.05, reset: 0.02, busy: 0.002 } },
]

/** One process never restarts and never closes its library, so every leak is visible. */
const STEADY_OPTIONS: Omit<SoakOptions, 'path' | 'urls'> = {
  roundMs: isLong ? 12_000 : 1200,
  // Long enough for connections and the process for large pages to close.
  restMs: isLong ? 12_000 : 0,
  isReopening: false,
}
/** The other process closes and reopens the library all the time, and is killed now and then. */
const KILLED_OPTIONS: Omit<SoakOptions, 'path' | 'urls'> = {
  roundMs: isLong ? 6000 : 200,
  restMs: 0,
  isReopening: true,
}

/** The write-ahead log is cut back to 64 MB; a transaction of some pages may make it longer for a moment. */
const MAX_WAL_MB = 80
const MAX_RSS_MB = 700
/** Limit for the growth of resident memory per minute. */
const MAX_SLOPE_MB = 1
/** Limit for the growth of the heap per minute, which is less noisy. */
const MAX_HEAP_SLOPE_MB = 0.5
/** Total growth of the heap that is always allowed, because the slope of a few minutes says little. */
const MAX_HEAP_GROWTH_MB = 2
/** Limit for the resident memory in the last quarter, as a multiple of that in the second quarter. */
const MAX_DRIFT = 1.1
const MAX_RETAINED_MB = 8
/** Share of each process lifetime that is ignored, because caches fill and code is compiled. */
const WARM_UP_SHARE = 1 / 3
const WARM_UP_MS = Math.min(MINUTE_MS, SOAK_MS / 6)

let sites: readonly FaultySite[] = []

afterEach(async () => {
  for (const site of sites) await site.close()
})

test('continuous crawls do not use more and more of any resource', { timeout: SOAK_MS + 2 * MARGIN_MS }, async () => {
  sites = await Promise.all(SITES.map((site) => openFaultySite({ ...site, largeBytes: LARGE_BYTES })))
  const path = await createLibraryPath()
  const urls = sites.map(({ origin }) => `${origin}/`)
  const steady = startSoak({ ...STEADY_OPTIONS, path, urls: urls.slice(0, 3) })
  const killedOptions = { ...KILLED_OPTIONS, path, urls: urls.slice(3) }
  const killed = [startSoak(killedOptions)]
  const changeTimer = setInterval(() => {
    for (const site of sites) site.changePages()
  }, CHANGE_INTERVAL_MS)
  try {
    for (const deadline = performance.now() + SOAK_MS; ; ) {
      const remainingMs = deadline - performance.now()
      const current = killed.at(-1)
      if (remainingMs <= 0 || current === undefined) break
      await expectRunningFor(Math.min(LIFE_MS, remainingMs), [steady, current])
      // However busy the machine is, every process completes a crawl before it is killed.
      await current.waitForEvents('crawled')
      if (remainingMs <= LIFE_MS) break
      current.process.kill('SIGKILL')
      await current.ended
      killed.push(startSoak(killedOptions))
    }
    await steady.waitForEvents('crawled')
  } finally {
    clearInterval(changeTimer)
  }
  for (const site of sites) site.clearFaults()
  for (const child of [steady, ...killed.slice(-1)]) await expectEnd(child)

  const children = [steady, ...killed]
  const restSamples = samplesOf(steady, 'resting')
  if (isLong) reportFigures(children, restSamples)
  expect(killed.length).toBeGreaterThan(1)
  for (const child of children) expectCrawls(child)
  expectBounds(steady, 0)
  for (const child of killed) expectBounds(child, 1)
  // A closed library must leave the resource usage as before it was opened.
  for (const child of children) expectSameUse(samplesOf(child, 'closed'))
  for (const child of children) expectFreedMemory(samplesOf(child, 'closed'))
  if (isLong) {
    expectSameUse(restSamples)
    expectSteadyMemory(restSamples)
  }
  await expectCompleteLibrary(path)
})

function startSoak(options: SoakOptions): Child {
  return startNode(['--expose-gc', SCRIPT, JSON.stringify(options)])
}

/** Waits for a time, and fails if one of the processes ends earlier. */
async function expectRunningFor(ms: number, children: readonly Child[]): Promise<void> {
  const waitEnd = new AbortController()
  const earlyEnds = children.map(async ({ ended }) => {
    const end = await ended
    if (!waitEnd.signal.aborted) throw new Error(`a process ended with ${JSON.stringify(end)}`)
  })
  try {
    await Promise.race([sleep(ms, undefined, { signal: waitEnd.signal }), ...earlyEnds])
  } finally {
    // The end of processes that are killed from here on is expected.
    waitEnd.abort()
  }
}

async function expectEnd(child: Child): Promise<void> {
  child.process.stdin.end()
  const killTimer = setTimeout(() => child.process.kill('SIGKILL'), MARGIN_MS)
  const end = await child.ended
  clearTimeout(killTimer)
  expect(end).toEqual({ code: 0, stderr: '' })
}

function crawlsOf(child: Child): CrawlReport[] {
  return child.lines.filter(({ type }) => type === 'crawled') as unknown as CrawlReport[]
}

function samplesOf(child: Child, point?: Sample['point']): Sample[] {
  const samples = child.lines.filter(({ type }) => type === 'sample') as unknown as Sample[]
  return samples.filter((sample) => point === undefined || sample.point === point)
}

/** Expects that every crawl completed or was cancelled on purpose, and that none paused. */
function expectCrawls(child: Child): void {
  const crawls = crawlsOf(child)
  expect(crawls.length).toBeGreaterThan(0)
  for (const crawled of crawls) {
    const isExpected = crawled.end === 'completed' || (crawled.end === 'cancelled' && crawled.isCancelled)
    expect(isExpected, JSON.stringify(crawled)).toBe(true)
    expect(crawled.events['paused'] ?? 0, JSON.stringify(crawled)).toBe(0)
  }
}

function expectBounds(child: Child, maxIdleChildren: number): void {
  for (const sample of samplesOf(child)) {
    expect(sample.walMb, JSON.stringify(sample)).toBeLessThan(MAX_WAL_MB)
    expect(sample.rssMb, JSON.stringify(sample)).toBeLessThan(MAX_RSS_MB)
    // Large pages are parsed in a separate process, which ends soon after the last of them.
    expect(sample.children, JSON.stringify(sample)).toBeLessThanOrEqual(
      sample.point === 'working' ? 1 : maxIdleChildren,
    )
  }
}

/** Expects the same open resources and the same number of threads at the same point of each round. */
function expectSameUse(samples: readonly Sample[]): void {
  const [first, ...others] = samples.map(({ files, threads, resources }) => ({ files, threads, resources }))
  for (const other of others) expect(other).toEqual(first)
}

/** Expects that closed libraries leave nothing in memory. The first sample is ignored, because code is compiled after it. */
function expectFreedMemory(samples: readonly Sample[]): void {
  const [, first, ...others] = samples.map(({ heapMb, buffersMb }) => heapMb + buffersMb)
  for (const other of others) expect(other - (first ?? 0)).toBeLessThan(MAX_RETAINED_MB)
}

/** Expects that memory does not grow: neither the fitted line, nor from the second quarter of the samples to the last. */
function expectSteadyMemory(samples: readonly Sample[]): void {
  const { rss, heap, minutes, early, late } = describeMemory(samples)
  // The runtime returns memory at random times, so twice the error of the slope is tolerated.
  expect(rss.slope - 2 * rss.error, `${JSON.stringify(rss)} in ${minutes} minutes`).toBeLessThan(MAX_SLOPE_MB)
  expect(heap.slope).toBeLessThan(Math.max(MAX_HEAP_SLOPE_MB, MAX_HEAP_GROWTH_MB / minutes))
  expect(late).toBeLessThan(early * MAX_DRIFT)
}

/** The memory of a process after its warm-up, in megabytes and minutes. */
function describeMemory(samples: readonly Sample[]) {
  const [from, to] = [samples[0]?.atMs ?? 0, samples.at(-1)?.atMs ?? 0]
  const warmUpMs = Math.max(WARM_UP_MS, (to - from) * WARM_UP_SHARE)
  const warm = samples.filter(({ atMs }) => atMs - from >= warmUpMs)
  const quarter = (i: number) =>
    samples.slice(Math.floor((samples.length * i) / 4), Math.floor((samples.length * (i + 1)) / 4))
  return {
    rss: fitLine(warm.map(({ atMs, rssMb }) => [atMs / MINUTE_MS, rssMb])),
    anonymous: fitLine(warm.map(({ atMs, anonymousMb }) => [atMs / MINUTE_MS, anonymousMb])),
    heap: fitLine(warm.map(({ atMs, heapMb, buffersMb }) => [atMs / MINUTE_MS, heapMb + buffersMb])),
    minutes: ((warm.at(-1)?.atMs ?? 0) - (warm[0]?.atMs ?? 0)) / MINUTE_MS,
    early: medianOf(quarter(1).map(({ rssMb }) => rssMb)),
    late: medianOf(quarter(3).map(({ rssMb }) => rssMb)),
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** Prints the figures of the run. */
function reportFigures(children: readonly Child[], restSamples: readonly Sample[]): void {
  const crawls = children.flatMap(crawlsOf)
  const samples = children.flatMap((child) => samplesOf(child))
  const { rss, anonymous, heap, minutes, early, late } = describeMemory(restSamples)
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const range = (values: readonly number[]) => `${Math.min(...values)}–${Math.max(...values)}`
  const events = (name: string) => sum(crawls.map((crawled) => crawled.events[name] ?? 0))
  const closed = children.flatMap((child) => samplesOf(child, 'closed'))
  const figures = [
    `${(SOAK_MS / MINUTE_MS).toFixed(1)} minutes`,
    `${crawls.length} crawls (${crawls.filter(({ isResumed }) => isResumed).length} resumed)`,
    `${sum(crawls.map(({ visited }) => visited))} pages settled`,
    `${sum(sites.map((site) => site.countRequests()))} requests`,
    `${events('retry')} retries, ${events('held')} holds, ${events('parked')} parked`,
    `${children.length - 2} restarts`,
    `RSS ${rss.slope.toFixed(2)} ± ${rss.error.toFixed(2)} MB/min in ${minutes.toFixed(1)} minutes, second quarter ${early.toFixed(0)} MB, last ${late.toFixed(0)} MB`,
    `most ${Math.max(...samples.map(({ rssMb }) => rssMb)).toFixed(0)} MB`,
    `without files ${anonymous.slope.toFixed(2)} MB/min, heap ${heap.slope.toFixed(2)} MB/min`,
    ...(['files', 'threads'] as const).map((name) => {
      const rangeOf = (some: readonly Sample[]) => range(some.map((sample) => sample[name]))
      return `${name} ${rangeOf(samples)}, at rest ${rangeOf(restSamples)}, closed ${rangeOf(closed)}`
    }),
    `children ${range(samples.map((sample) => sample.children))}`,
    `log at most ${Math.max(...samples.map(({ walMb }) => walMb)).toFixed(1)} MB`,
    `library ${medianOf(samples.map(({ libraryMb }) => libraryMb)).toFixed(1)}, at most ${Math.max(...samples.map(({ libraryMb }) => libraryMb)).toFixed(1)} MB`,
  ]
  report(figures)
  console.log(figures.join('\n'))
}

/** After the end of all faults, a crawl of each source must find exactly the pages of its site. */
async function expectCompleteLibrary(path: string): Promise<void> {
  expectSound(path)
  const library = withFastClock(await openTestLibrary(path))
  for (const site of sites) {
    const source = await findSource(library, `${site.origin}/`)
    const input = { kind: 'recrawl', acceptLoss: true, isFresh: true } as const
    const { summary, rows } = await runCrawl(library, source, input, site.origin)
    expect(summary).toMatchObject({ end: 'completed', incomplete: null })
    const keys = [...rows].flatMap(([key, { hasPage }]) => (hasPage ? [key] : []))
    expect(keys.sort(compareUtf8)).toEqual(site.paths())
  }
}
