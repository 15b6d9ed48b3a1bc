// Shared helpers of the benchmarks: options, CPU time, tables. Benchmarks compare CPU seconds and ratios, because machines are noisy.

/** The value after `--name`, or undefined. */
export function option(name) {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}

/** CPU seconds, user and system, since an earlier `process.cpuUsage()`. */
export function cpuSeconds(since) {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1e6
}

/** Prints rows under a header, the first column left-aligned, the others right-aligned. */
export function printTable(header, rows) {
  const all = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  for (const row of all) {
    console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i] + 2))).join(''))
  }
}

/** The value below which a share of all values lies. */
export function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]
}
