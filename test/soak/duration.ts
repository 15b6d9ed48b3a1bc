import type { ServedLibrary } from './served-library.ts'

const MINUTE_MS = 60_000

/** How long libraries are used: SOAK_MINUTES, or ten minutes. */
export const SOAK_MS = Number(process.env['SOAK_MINUTES'] ?? 10) * MINUTE_MS

/** Time for the start, and for the complete crawls at the end. */
export const MARGIN_MS = 60 * MINUTE_MS

/** What was done with a library, in some lines. */
export function describeTally({ name, tally }: ServedLibrary): string {
  const { failures, ends, faults, ...counts } = tally
  const list = (map: ReadonlyMap<string, number>) => [...map].map(([what, count]) => `${count} × ${what}`).join('; ')
  const done = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
  return [
    `${name}: ${done.join(', ')}`,
    `  crawls: ${list(ends)}`,
    `  failed requests: ${list(failures)}`,
    ...faults,
  ].join('\n')
}
