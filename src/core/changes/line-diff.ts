import { clipText } from '../text/lines.ts'

/** Larger products of line counts are compared as sets. */
const MAX_CELLS = 250_000
const MAX_LINE_CHARS = 200
/** Characters kept before the first difference of two similar lines. */
const CONTEXT_CHARS = 40

/** Writes the lines that differ, without those that stay: `- old`, `+ new`; at most `limit` lines. */
export function writeLineDiff(before: readonly string[], after: readonly string[], limit: number): string[] {
  const { removed, added } = diffLines(before, after)
  const lines: string[] = []
  for (let i = 0; i < Math.max(removed.length, added.length) && lines.length < limit; i++) {
    const [old, fresh] = [removed[i], added[i]]
    const start = old === undefined || fresh === undefined ? 0 : startOfDifference(old, fresh)
    if (old !== undefined) lines.push(`- ${clipAt(old, start)}`)
    if (fresh !== undefined) lines.push(`+ ${clipAt(fresh, start)}`)
  }
  return lines.slice(0, limit)
}

/** Lines that only one of two texts has, in their order. */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
): { readonly removed: readonly string[]; readonly added: readonly string[] } {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  const max = Math.min(before.length, after.length) - start
  while (end < max && before.at(-1 - end) === after.at(-1 - end)) end++
  const old = before.slice(start, before.length - end)
  const fresh = after.slice(start, after.length - end)
  if (old.length * fresh.length > MAX_CELLS) {
    const oldLines = new Set(old)
    const newLines = new Set(fresh)
    return { removed: old.filter((line) => !newLines.has(line)), added: fresh.filter((line) => !oldLines.has(line)) }
  }
  return walkCommon(old, fresh)
}

/** Finds the lines outside of a longest common subsequence. */
function walkCommon(old: readonly string[], fresh: readonly string[]): { removed: string[]; added: string[] } {
  const width = fresh.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const at = i * width + j
      lengths[at] =
        old[i] === fresh[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0)
    }
  }
  const removed: string[] = []
  const added: string[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < fresh.length) {
    const [line, other] = [old[i], fresh[j]]
    const at = i * width + j
    if (line !== undefined && line === other) {
      i++
      j++
    } else if (line !== undefined && (other === undefined || (lengths[at + width] ?? 0) >= (lengths[at + 1] ?? 0))) {
      removed.push(line)
      i++
    } else if (other !== undefined) {
      added.push(other)
      j++
    }
  }
  return { removed, added }
}

/** Where to begin two lines so that their first difference is shown. */
function startOfDifference(a: string, b: string): number {
  let same = 0
  while (same < a.length && same < b.length && a[same] === b[same]) same++
  return same <= CONTEXT_CHARS * 2 ? 0 : same - CONTEXT_CHARS
}

function clipAt(line: string, start: number): string {
  return clipText(start === 0 ? line : `… ${line.slice(start)}`, MAX_LINE_CHARS)
}
