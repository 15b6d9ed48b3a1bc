import { textOfRow } from './line.ts'
import type { Row } from './rows.ts'

/** The lines of a page, and its height. */
export interface PageRows {
  readonly height: number
  readonly rows: readonly Row[]
}

/** Share of a page's height at top and bottom that may hold repeated headers and footers. */
const EDGE_ZONE_SHARE = 0.14
const MAX_EDGE_ROWS = 2
const PAGE_NUMBER =
  /^(?:[-–—|[(]\s*)?(?:(?:page|p\.|seite|página|pagina|strana|стр\.?)\s*)?(?:\d{1,5}|[ivxlc]{1,7})(?:\s*(?:\/|of|von|de|di|z|из)\s*\d{1,5})?(?:\s*[-–—|\])])?$/i

/** Removes headers and footers: repeated titles and page numbers. */
export function removeHeadersAndFooters(pages: readonly PageRows[]): Row[][] {
  const edges = pages.map(findEdges)
  const counts = new Map<string, number>()
  for (const edge of edges) {
    for (const key of new Set([...edge.values()].flat())) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const isRepeated = (key: string): boolean => {
    const count = counts.get(key) ?? 0
    return count >= 3 || (count >= 2 && count * 2.5 >= pages.length)
  }
  return pages.map(({ rows }, i) =>
    rows.filter((row) => {
      const keys = edges[i]?.get(row)
      return keys === undefined || !(keys.some(isRepeated) || PAGE_NUMBER.test(textOfRow(row)))
    }),
  )
}

/** The outermost lines of a page, with the features by which the same header or footer is recognized on other pages. */
function findEdges({ height, rows }: PageRows): Map<Row, string[]> {
  const sorted = [...rows].sort((a, b) => a.baseline - b.baseline)
  const top = sorted.slice(0, MAX_EDGE_ROWS).filter(({ baseline }) => baseline < EDGE_ZONE_SHARE * height)
  const bottom = sorted.slice(-MAX_EDGE_ROWS).filter(({ baseline }) => baseline > (1 - EDGE_ZONE_SHARE) * height)
  const edges = new Map<Row, string[]>()
  for (const row of top) edges.set(row, edgeKeysOf(row, 'top'))
  for (const row of bottom) edges.set(row, edgeKeysOf(row, 'bottom'))
  return edges
}

/**
 * Features of a header or footer that repeat on other pages: its text with `#` for every number, and, if it begins or ends with a number,
 * its vertical position together with the difference between that number and the number of the page in the file.
 */
function edgeKeysOf(row: Row, side: string): string[] {
  const text = textOfRow(row)
  const keys = [`${side} ${text.replace(/\d+/g, '#')}`]
  const position = Math.round(row.baseline)
  for (const match of [/^(\d{1,5})\b/.exec(text), /\b(\d{1,5})$/.exec(text)]) {
    if (match !== null) keys.push(`${side} at ${position} ahead by ${Number(match[1]) - row.page}`)
  }
  return keys
}
