import { writeDuration } from '../../core/text/duration.ts'
import type { CrawlEvent, CrawlProgress, HostProgress } from '../../crawl/events.ts'
import { countOf, printableLine, writeNumber } from '../terminal.ts'

/** Maximum number of hosts in the live block. */
const MAX_HOSTS = 3

/**
 * Writes the live block of a crawl: progress, the rate of each host, and the current requests. The most important facts come first, because
 * a narrow terminal truncates the rest. `cap` is the page limit.
 */
export function writeProgress(
  label: string,
  progress: CrawlProgress,
  pagesPerSecond: number,
  cap: number | null = null,
): string {
  const { indexed, unchanged, failed, queued, current, hosts, elapsedMs } = progress
  const pages = indexed + unchanged
  const counts = [
    cap === null ? countOf(pages, 'page') : `${writeNumber(pages)} of at most ${countOf(cap, 'page')}`,
    countOf(failed, 'error'),
    `${writeRate(pagesPerSecond)}/s`,
    `${writeNumber(queued)} queued`,
    writeDuration(Math.floor(elapsedMs / 1000) * 1000),
  ]
  const busiest = hosts.toSorted((a, b) => b.requests - a.requests)
  const hostTexts = busiest.slice(0, MAX_HOSTS).map(writeHost)
  const moreHosts = busiest.length > MAX_HOSTS ? [`and ${countOf(busiest.length - MAX_HOSTS, 'more host')}`] : []
  const [first] = current
  return [
    `${label}: ${counts.join(', ')}`,
    ...(hostTexts.length === 0 ? [] : [`  ${[...hostTexts, ...moreHosts].join(' · ')}`]),
    // The count comes first, because the end of a long line is truncated.
    ...(first === undefined ? [] : [`  ${current.length} in flight: ${printableLine(first.url)}`]),
  ].join('\n')
}

function writeHost({ host, intervalMs, backoffMs }: HostProgress): string {
  const pace = intervalMs === 0 ? 'without pause' : `every ${writeDuration(intervalMs)}`
  return `${printableLine(host)} ${pace}${backoffMs === 0 ? '' : `, held for ${writeDuration(backoffMs)}`}`
}

/** `0.4`, `7.3`, `128` */
export function writeRate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : writeNumber(Math.round(perSecond))
}

/** Measures how many pages, chunks or rows are processed per second, over the last few seconds. */
export class RateMeter {
  #samples: { readonly atMs: number; readonly count: number }[] = []

  /** Adds a sample of the total count, and returns the rate over about the last five seconds. */
  add(atMs: number, count: number): number {
    this.#samples.push({ atMs, count })
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= WINDOW_MS) this.#samples.shift()
    const [first] = this.#samples
    const since = first === undefined || this.#samples.length === 1 ? { atMs: 0, count: 0 } : first
    return atMs > since.atMs ? ((count - since.count) * 1000) / (atMs - since.atMs) : 0
  }
}

const WINDOW_MS = 5000

/** Writes one line about a settled address. */
export function writeSettled(event: Extract<CrawlEvent, { type: 'settled' }>): string {
  const { state, url, reason, detail, chunks } = event
  const facts = state === 'indexed' ? [countOf(chunks, 'chunk')] : [reason, detail].filter((fact) => fact !== null)
  return printableLine(`${state} ${url}${facts.length === 0 ? '' : ` (${facts.join(': ')})`}`)
}
