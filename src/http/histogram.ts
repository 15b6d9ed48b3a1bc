/** Upper ends of the buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

/** Counts durations in fixed buckets, for each set of labels apart. */
export interface Histogram {
  /** Counts one duration, or several alike, in seconds. */
  observe(labels: Readonly<Record<string, string>>, seconds: number, times?: number): void
  /** In the text format of Prometheus. */
  write(): string[]
}

interface Series {
  readonly labels: string
  /** How many lie within each bucket and no smaller one; the last holds what is larger than all. */
  readonly counts: number[]
  sum: number
  count: number
}

/** Creates one. At most so many sets of labels are told apart; what comes later is counted as `other`. */
export function createHistogram(name: string, help: string, maxSeries = 500): Histogram {
  const series = new Map<string, Series>()
  const find = (labels: string): Series => {
    const found = series.get(labels)
    if (found !== undefined) return found
    if (series.size >= maxSeries && labels !== OTHER) return find(OTHER)
    const made = { labels, counts: new Array<number>(BUCKETS.length + 1).fill(0), sum: 0, count: 0 }
    series.set(labels, made)
    return made
  }
  return {
    observe(labels, seconds, times = 1) {
      const one = find(writeLabels(labels))
      const at = BUCKETS.findIndex((end) => seconds <= end)
      const bucket = at < 0 ? BUCKETS.length : at
      one.counts[bucket] = (one.counts[bucket] ?? 0) + times
      one.sum += seconds * times
      one.count += times
    },
    write() {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
      for (const { labels, counts, sum, count } of series.values()) {
        const before = labels === '' ? '' : `${labels},`
        let below = 0
        for (const [i, end] of BUCKETS.entries()) {
          below += counts[i] ?? 0
          lines.push(`${name}_bucket{${before}le="${end}"} ${below}`)
        }
        const braced = labels === '' ? '' : `{${labels}}`
        lines.push(
          `${name}_bucket{${before}le="+Inf"} ${count}`,
          `${name}_sum${braced} ${sum}`,
          `${name}_count${braced} ${count}`,
        )
      }
      return lines
    },
  }
}

const OTHER = 'route="other"'

function writeLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}"`)
    .join(',')
}
