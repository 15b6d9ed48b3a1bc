import { DURATION_BUCKETS_MS, type DurationHistogram, findDurationBucket } from '../core/duration-histogram.ts'

/** Counts durations in fixed buckets, one series per set of labels. */
export interface Histogram {
  /** Adds one duration. */
  observe(labels: Readonly<Record<string, string>>, ms: number): void
  /** Adds counts that another process has collected. */
  add(labels: Readonly<Record<string, string>>, counted: DurationHistogram): void
  /** The histogram in the text format of Prometheus. */
  write(): string[]
}

interface Series {
  readonly labels: string
  /** The number of durations per bucket, not cumulative; the last bucket holds everything above all bounds. */
  readonly counts: number[]
  sumMs: number
  count: number
}

/** Creates a histogram. Sets of labels beyond `maxSeries` are counted as `other`. */
export function createHistogram(name: string, help: string, maxSeries = 500): Histogram {
  const series = new Map<string, Series>()
  const find = (labels: string): Series => {
    const found = series.get(labels)
    if (found !== undefined) return found
    if (series.size >= maxSeries && labels !== OTHER) return find(OTHER)
    const added = { labels, counts: new Array<number>(DURATION_BUCKETS_MS.length + 1).fill(0), sumMs: 0, count: 0 }
    series.set(labels, added)
    return added
  }
  return {
    observe(labels, ms) {
      const entry = find(writeLabels(labels))
      const bucket = findDurationBucket(ms)
      entry.counts[bucket] = (entry.counts[bucket] ?? 0) + 1
      entry.sumMs += ms
      entry.count++
    },
    add(labels, { counts, sumMs }) {
      const entry = find(writeLabels(labels))
      for (const [bucket, count] of counts.entries()) {
        entry.counts[bucket] = (entry.counts[bucket] ?? 0) + count
        entry.count += count
      }
      entry.sumMs += sumMs
    },
    write() {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
      for (const { labels, counts, sumMs, count } of series.values()) {
        const labelPrefix = labels === '' ? '' : `${labels},`
        let cumulative = 0
        for (const [i, boundMs] of DURATION_BUCKETS_MS.entries()) {
          cumulative += counts[i] ?? 0
          lines.push(`${name}_bucket{${labelPrefix}le="${boundMs / 1000}"} ${cumulative}`)
        }
        const braced = labels === '' ? '' : `{${labels}}`
        lines.push(
          `${name}_bucket{${labelPrefix}le="+Inf"} ${count}`,
          `${name}_sum${braced} ${sumMs / 1000}`,
          `${name}_count${braced} ${count}`,
        )
      }
      return lines
    },
  }
}

const OTHER = 'route="other"'

/** Labels as Prometheus writes them between braces. */
export function writeLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}"`)
    .join(',')
}
