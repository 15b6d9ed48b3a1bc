import type { Fragment, PageText } from './text.ts'

/** Text on one line without a wide gap. */
export interface Cell {
  readonly fragments: readonly Fragment[]
  readonly left: number
  readonly right: number
}

/** One line of a column. */
export interface Row {
  readonly page: number
  readonly cells: readonly Cell[]
  readonly left: number
  readonly right: number
  readonly baseline: number
  /** Height of most letters. */
  readonly size: number
  readonly column: Column
}

/** Horizontal extent of a column. */
export interface Column {
  readonly left: number
  readonly right: number
}

/** The lines of a page in reading order, column by column. */
export function arrangePage(page: PageText): Row[] {
  const segments = findSegments(page.fragments)
  return orderColumns(segments, 0).flatMap((column) => findRows(column, page.number))
}

interface Segment extends Cell {
  readonly baseline: number
  readonly size: number
  /** Index of the segment in the order in which the page was written. */
  readonly order: number
}

/** Minimum gap between two cells, in letter heights. */
const CELL_GAP = 1.5

/** Joins consecutive pieces on one line, because programs write a line in one go. */
function findSegments(fragments: readonly Fragment[]): Segment[] {
  const segments: Segment[] = []
  let open: Fragment[] = []
  const close = () => {
    if (open.length > 0) segments.push(createSegment(open, segments.length))
    open = []
  }
  for (const fragment of fragments) {
    const last = open.at(-1)
    if (last !== undefined && !follows(open, last, fragment)) close()
    open.push(fragment)
  }
  close()
  return segments
}

function follows(open: readonly Fragment[], last: Fragment, next: Fragment): boolean {
  const size = Math.max(last.size, next.size)
  if (
    Math.abs(next.baseline - last.baseline) > 0.5 * size &&
    Math.abs(next.baseline - (open[0]?.baseline ?? 0)) > 0.5 * size
  )
    return false
  const gap = next.left >= last.left ? next.left - last.right : last.left - next.right
  return gap < CELL_GAP * size && gap > -size
}

function createSegment(fragments: readonly Fragment[], order: number): Segment {
  const main = dominantFragmentOf(fragments)
  return { fragments, ...extentOf(fragments), baseline: main.baseline, size: main.size, order }
}

/** The common extent of several items. */
function extentOf(items: Iterable<Column>): Column {
  let left = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  for (const item of items) {
    left = Math.min(left, item.left)
    right = Math.max(right, item.right)
  }
  return { left, right }
}

/** The piece whose height most letters have. */
function dominantFragmentOf(fragments: readonly Fragment[]): Fragment {
  let best = fragments[0]
  let maxCount = -1
  const counts = new Map<number, number>()
  for (const fragment of fragments) {
    const key = Math.round(fragment.size * 2)
    const count = (counts.get(key) ?? 0) + fragment.text.length
    counts.set(key, count)
    if (count <= maxCount) continue
    maxCount = count
    best = fragment
  }
  if (best === undefined) throw new RangeError('A line has at least one piece')
  return best
}

const MAX_COLUMN_DEPTH = 3
const MIN_LINES = 4

/**
 * Splits text into columns, as in a newspaper. Text that spans a gap splits the columns into those above and below it. Table cells are side
 * by side too, but do not fill their columns, and are read row by row.
 */
function orderColumns(segments: readonly Segment[], depth: number): Segment[][] {
  const gap = depth < MAX_COLUMN_DEPTH ? findGap(segments) : undefined
  if (gap === undefined) return [[...segments]]
  const sorted = [...segments].sort((a, b) => a.baseline - b.baseline)
  const columns: Segment[][] = []
  let left: Segment[] = []
  let right: Segment[] = []
  let across: Segment[] = []
  const close = () => {
    for (const side of [left, right]) if (side.length > 0) columns.push(...orderColumns(side, depth + 1))
    left = []
    right = []
  }
  for (const segment of sorted) {
    if (segment.right <= gap || segment.left >= gap) {
      if (across.length > 0) columns.push(across)
      across = []
      if (segment.right <= gap) left.push(segment)
      else right.push(segment)
    } else {
      close()
      across.push(segment)
    }
  }
  close()
  if (across.length > 0) columns.push(across)
  return columns
}

/** Position of a gap between two columns that little or no text crosses. */
function findGap(segments: readonly Segment[]): number | undefined {
  if (segments.length < 2 * MIN_LINES) return undefined
  const { left: start, right: end } = extentOf(segments)
  const width = Math.ceil(end - start)
  if (!(width > 0) || width > MAX_WIDTH) return undefined
  const lineCounts = countAcross(segments, start, width)
  const maxAcross = Math.floor(segments.length / 5)
  let best: { readonly at: number; readonly across: number; readonly width: number } | undefined
  for (let x = Math.floor(width * 0.2); x < width * 0.8; x++) {
    const across = lineCounts[x] ?? 0
    if (across > maxAcross) continue
    let to = x
    while (to < width * 0.8 && (lineCounts[to] ?? 0) <= across) to++
    const isBetter = best === undefined || across < best.across || (across === best.across && to - x > best.width)
    if (to - x >= MIN_GAP && isBetter) best = { at: start + (x + to) / 2, across, width: to - x }
    x = to
  }
  return best !== undefined && areColumns(segments, best.at, start, end) ? best.at : undefined
}

const MAX_WIDTH = 20_000
const MIN_GAP = 6

/** Number of lines that cross each point of a page. */
function countAcross(segments: readonly Segment[], start: number, width: number): Int32Array {
  const changes = new Int32Array(width + 2)
  for (const { left, right } of segments) {
    const from = Math.max(0, Math.floor(left - start))
    const to = Math.min(width, Math.ceil(right - start))
    changes[from] = (changes[from] ?? 0) + 1
    changes[to] = (changes[to] ?? 0) - 1
  }
  for (let x = 1; x < changes.length; x++) changes[x] = (changes[x] ?? 0) + (changes[x - 1] ?? 0)
  return changes
}

function areColumns(segments: readonly Segment[], gap: number, start: number, end: number): boolean {
  const left = segments.filter(({ right }) => right <= gap)
  const right = segments.filter((segment) => segment.left >= gap)
  if (countLines(left) < MIN_LINES || countLines(right) < MIN_LINES) return false
  const filled = Number(isFilled(left, gap - start)) + Number(isFilled(right, end - gap))
  return filled === 2 || (filled === 1 && countChanges(left, right) <= MAX_CHANGES)
}

/** How often a page written column by column may switch sides; a few items may be inserted later. */
const MAX_CHANGES = 4

function countChanges(left: readonly Segment[], right: readonly Segment[]): number {
  const isLeft = new Set(left)
  const written = [...left, ...right].sort((a, b) => a.order - b.order)
  return written.filter((segment, i) => i > 0 && isLeft.has(segment) !== isLeft.has(written[i - 1] ?? segment)).length
}

function countLines(side: readonly Segment[]): number {
  return new Set(side.map(({ baseline }) => Math.round(baseline))).size
}

/** Whether half of the lines of a side fill most of its width; table cells and the last lines of paragraphs are shorter. */
function isFilled(side: readonly Segment[], width: number): boolean {
  const widths = side.map(({ left, right }) => right - left).sort((a, b) => a - b)
  return (widths[widths.length >> 1] ?? 0) > 0.55 * width
}

function findRows(segments: readonly Segment[], page: number): Row[] {
  const column = extentOf(segments)
  const rows: Segment[][] = []
  for (const segment of [...segments].sort((a, b) => a.baseline - b.baseline)) {
    const last = rows.at(-1)
    const rowBaseline = last?.[0]?.baseline ?? Number.NEGATIVE_INFINITY
    if (last !== undefined && segment.baseline - rowBaseline < 0.35 * segment.size) last.push(segment)
    else rows.push([segment])
  }
  return rows.map((row) => createRow(row, page, column))
}

function createRow(segments: readonly Segment[], page: number, column: Column): Row {
  const cells = joinAdjacent([...segments].sort((a, b) => a.left - b.left))
  const main = dominantFragmentOf(cells.flatMap(({ fragments }) => [...fragments]))
  const left = cells[0]?.left ?? 0
  return { page, cells, left, right: cells.at(-1)?.right ?? 0, baseline: main.baseline, size: main.size, column }
}

/** Joins pieces that were written separately but belong to one text. */
function joinAdjacent(segments: readonly Segment[]): Cell[] {
  const cells: Cell[] = []
  for (const { fragments, left, right, size } of segments) {
    const last = cells.at(-1)
    if (last !== undefined && left - last.right < CELL_GAP * size) {
      cells[cells.length - 1] = {
        fragments: [...last.fragments, ...fragments],
        left: last.left,
        right: Math.max(last.right, right),
      }
    } else cells.push({ fragments, left, right })
  }
  return cells
}
