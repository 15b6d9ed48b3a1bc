import { type DocumentMetrics, type OutlineEntry, plainTitle, type RowFacts, roundSize } from './metrics.ts'

/** Rows that form one heading. */
interface Group {
  readonly rows: readonly RowFacts[]
  readonly text: string
  readonly style: string
  readonly size: number
  /** Depth in the outline; undefined when the heading has no entry there. */
  readonly depth: number | undefined
}

const MAX_TEXT = 200
const MAX_BOLD_TEXT = 100
const MAX_LEVEL = 6
const BULLET = /^[•◦▪‣●○]/

/** Finds headings by the document's outline, font size and weight. */
export class PdfHeadings {
  /** Level and rows of each heading, by its first row. */
  readonly #found = new Map<RowFacts, { readonly level: number; readonly rows: readonly RowFacts[] }>()
  /** The text of the first heading of level 1; undefined if there is none. */
  title: string | undefined

  constructor(rows: readonly RowFacts[], outline: readonly OutlineEntry[], metrics: DocumentMetrics) {
    const depths = new Map<string, number>()
    for (const { title, depth } of outline) {
      const key = plainTitle(title)
      if (key !== '' && !depths.has(key)) depths.set(key, depth)
    }
    const groups = findGroups(rows, depths, metrics)
    const outlined = groups.filter(({ depth }) => depth !== undefined)
    const levels = outlined.length > 0 ? levelsByOutline(groups, outlined) : levelsBySize(groups, metrics)
    for (const [group, level] of levels) {
      const [start] = group.rows
      if (start !== undefined) this.#found.set(start, { level: Math.min(level, MAX_LEVEL), rows: group.rows })
      if (level === 1) this.title ??= group.text
    }
  }

  at(row: RowFacts): { readonly level: number; readonly rows: readonly RowFacts[] } | undefined {
    return this.#found.get(row)
  }
}

/** Candidates for headings: prominent lines, with those of one heading joined. */
function findGroups(rows: readonly RowFacts[], depths: ReadonlyMap<string, number>, metrics: DocumentMetrics): Group[] {
  const groups: Group[] = []
  for (let i = 0; i < rows.length; i++) {
    const first = rows[i]
    if (first === undefined || !isProminent(first, depths, metrics)) continue
    const groupRows = [first]
    let last = first
    for (let next = rows[i + 1]; next !== undefined && belongsTo(last, next, metrics); next = rows[i + 1]) {
      // A heading that matches an outline entry is complete.
      if (depths.has(plainTitle(groupRows.map(({ text }) => text).join(' ')))) break
      groupRows.push(next)
      last = next
      i++
    }
    const text = groupRows.map((row) => row.text).join(' ')
    if (text.length > MAX_TEXT || !/\p{L}/u.test(text)) continue
    const group = {
      rows: groupRows,
      text,
      style: first.style,
      size: roundSize(first.row.size),
      depth: depths.get(plainTitle(text)),
    }
    if (group.depth !== undefined || isHeading(group, rows[i + 1], metrics)) groups.push(group)
  }
  return groups
}

function isProminent(facts: RowFacts, depths: ReadonlyMap<string, number>, metrics: DocumentMetrics): boolean {
  // A list item may have the text of an outline entry.
  if (facts.isFixed || BULLET.test(facts.text)) return false
  const { size } = facts.row
  return (
    size >= 1.15 * metrics.bodySize ||
    (facts.isBold && size >= 0.95 * metrics.bodySize) ||
    // The end of a sentence may have the text of an outline entry.
    (depths.has(plainTitle(facts.text)) && !/[.,;:]$/.test(facts.text))
  )
}

function belongsTo(last: RowFacts, next: RowFacts, { lineSpacing }: DocumentMetrics): boolean {
  const step = next.row.baseline - last.row.baseline
  return (
    next.style === last.style &&
    next.row.page === last.row.page &&
    step > 0 &&
    step < 1.35 * lineSpacing * last.row.size
  )
}

/** A heading that is only bold must be short, must not be a sentence, and must have text after it. */
function isHeading({ rows, text, size }: Group, next: RowFacts | undefined, { bodySize }: DocumentMetrics): boolean {
  if (rows.some(({ row }) => row.cells.length > 2)) return false
  if (size >= 1.15 * bodySize) return true
  if (text.length > MAX_BOLD_TEXT || rows.length > 2 || /[.,;:!?]$/.test(text)) return false
  // Several cells are a table header, unless the first is a heading's number.
  if (rows.some(({ row, text: line }) => row.cells.length > 1 && !/^[\d.]*\d|^\p{L}\b/u.test(line))) return false
  return next !== undefined && !next.isBold && /^[\p{Lu}\p{N}\p{Lo}]/u.test(text)
}

/**
 * Takes levels from the outline, below the title of the document. A group without an entry gets the level of the entries with the same
 * style, if it comes after the first entry.
 */
function levelsByOutline(groups: readonly Group[], outlined: readonly Group[]): Map<Group, number> {
  const byStyle = new Map<string, number>()
  let largest = 0
  for (const { style, depth = 0, size } of outlined) {
    if (!byStyle.has(style)) byStyle.set(style, depth)
    largest = Math.max(largest, size)
  }
  const [first] = groups
  const start = outlined[0] === undefined ? 0 : groups.indexOf(outlined[0])
  const title = first !== undefined && first.depth === undefined && first.size > largest ? first : undefined
  // The outline may have the title as its only root entry.
  const isRooted = title === undefined && start === 0 && outlined.filter(({ depth }) => depth === 0).length === 1
  const levels = new Map<Group, number>()
  for (const [i, group] of groups.entries()) {
    const depth = group.depth ?? (i > start ? byStyle.get(group.style) : undefined)
    if (group === title) levels.set(group, 1)
    else if (depth !== undefined) levels.set(group, depth + (isRooted ? 1 : 2))
    else if (group.size > largest) levels.set(group, 2)
  }
  return levels
}

const MAX_SIZES = 4

/** Larger letters give a higher level; headings that are only bold are below all of them. */
function levelsBySize(groups: readonly Group[], { bodySize }: DocumentMetrics): Map<Group, number> {
  const isLarge = ({ size }: Group): boolean => size >= 1.15 * bodySize
  const sizes: number[] = []
  for (const size of [...new Set(groups.filter(isLarge).map((group) => group.size))].sort((a, b) => b - a)) {
    const last = sizes.at(-1)
    if ((last === undefined || last - size > 0.5) && sizes.length < MAX_SIZES) sizes.push(size)
  }
  const largest = groups.filter(({ size }) => size === sizes[0])
  // When several headings have the largest size, none of them is the document title.
  const isTitled = largest.length === 1 && largest[0] === groups[0]
  const levels = new Map<Group, number>()
  for (const group of groups) {
    const rank = isLarge(group) ? sizes.findIndex((size) => group.size >= size - 0.5) : sizes.length
    levels.set(group, (rank === -1 ? sizes.length : rank) + (isTitled ? 1 : 2))
  }
  return levels
}
