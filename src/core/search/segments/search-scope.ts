import type { Segment, SegmentView } from './segment.ts'
import type { SearchedDocuments } from './word-postings.ts'

/** The documents that a query can find. */
export interface SearchScope {
  /** The numbers of the sources as text, or `all`; documents of other sources are excluded. */
  readonly key: string
  /** The segments with such documents. */
  readonly segments: readonly ScopedSegment[]
  /** Number of documents that are not excluded. */
  readonly count: number
  /** Average length of these documents. */
  readonly averageLength: number
  /** Average length of their pages. */
  readonly averagePageLength: number
}

/** A segment in a scope. */
export interface ScopedSegment extends SearchedDocuments {
  readonly view: SegmentView
  /** The number of its first document among those of all segments. */
  readonly base: number
}

/** What is known about the documents of one segment in a scope. */
interface MeasuredSegment {
  readonly key: string
  readonly dead: Uint8Array | undefined
  readonly hidden: Uint8Array | undefined
  readonly hiddenCount: number
  /** Total length of the documents that are not excluded. */
  readonly totalLength: number
  /** Number of pages with such documents. */
  readonly pageCount: number
}

/** The last measurement of each segment, because an index changes more often than most of its segments. */
const measurements = new WeakMap<Segment, MeasuredSegment>()

/** Identifies a set of sources. */
export function scopeKeyOf(sources: ReadonlySet<number> | undefined): string {
  return sources === undefined ? 'all' : [...sources].sort((a, b) => a - b).join(' ')
}

/** Measures the living documents of some sources, or all of them. `bases` are the numbers of the first documents of the segments. */
export function measureScope(
  views: readonly SegmentView[],
  bases: readonly number[],
  sources: ReadonlySet<number> | undefined,
): SearchScope {
  const key = scopeKeyOf(sources)
  const segments: ScopedSegment[] = []
  const measured: MeasuredSegment[] = []
  let count = 0
  let totalLength = 0
  views.forEach((view, i) => {
    const { segment } = view
    const ofSegment = measureSegment(view, sources, key)
    const { hidden, hiddenCount } = ofSegment
    const { count: size } = segment.table
    if (hiddenCount === size) return
    const { lengths, levels } = segment
    segments.push({ view, base: bases[i] ?? 0, count: size, lengths, levels, hidden, hiddenCount })
    measured.push(ofSegment)
    count += size - hiddenCount
    totalLength += ofSegment.totalLength
  })
  const pageCount = measured.reduce((sum, one) => sum + one.pageCount, 0) - countRepeatedPages(segments)
  return {
    key,
    segments,
    count,
    averageLength: count === 0 ? 0 : totalLength / count,
    averagePageLength: pageCount === 0 ? 0 : totalLength / pageCount,
  }
}

function measureSegment(view: SegmentView, sources: ReadonlySet<number> | undefined, key: string): MeasuredSegment {
  const { segment, dead } = view
  const known = measurements.get(segment)
  if (known?.key === key && known.dead === dead) return known
  const measured = { key, dead, ...measureLiving(segment, hideDocuments(view, sources)) }
  measurements.set(segment, measured)
  return measured
}

function measureLiving(
  { lengths, totalLength: fullLength, pages }: Segment,
  hidden: Uint8Array | undefined,
): Omit<MeasuredSegment, 'key' | 'dead'> {
  let hiddenCount = 0
  let totalLength = fullLength
  for (let i = hidden?.indexOf(1) ?? -1; i >= 0; i = hidden?.indexOf(1, i + 1) ?? -1) {
    hiddenCount++
    totalLength -= lengths[i] ?? 0
  }
  if (hiddenCount === 0) return { hidden: undefined, hiddenCount, totalLength, pageCount: pages.count }
  let pageCount = 0
  for (const page of pages.list()) if (hasDocument(pages, page, hidden)) pageCount++
  return { hidden, hiddenCount, totalLength, pageCount }
}

/** Whether a page has documents that are not excluded. */
function hasDocument(pages: Segment['pages'], page: number, hidden: Uint8Array | undefined): boolean {
  let isFound = false
  pages.visit(page, (from, to) => {
    for (let i = from; i < to && !isFound; i++) isFound = hidden?.[i] !== 1
  })
  return isFound
}

/** How often the pages of segments occur in a later segment too. Most pages are in one segment. */
function countRepeatedPages(segments: readonly ScopedSegment[]): number {
  const pagesOf = ({ view }: ScopedSegment): Segment['pages'] => view.segment.pages
  const ascending = segments.toSorted((a, b) => pagesOf(a).count - pagesOf(b).count)
  let repeated = 0
  ascending.forEach((segment, i) => {
    const own = pagesOf(segment)
    const others = ascending.slice(i + 1).filter((other) => {
      const { first, last } = pagesOf(other)
      return first <= own.last && last >= own.first
    })
    if (others.length === 0) return
    for (const page of own.list()) {
      const isRepeated = others.some((other) => hasDocument(pagesOf(other), page, other.hidden))
      if (isRepeated && hasDocument(own, page, segment.hidden)) repeated++
    }
  })
  return repeated
}

/** 1 for each document of a segment that is dead or of other sources; undefined if there is none. */
function hideDocuments(
  { segment, dead }: SegmentView,
  sources: ReadonlySet<number> | undefined,
): Uint8Array | undefined {
  if (sources === undefined || [...segment.sources].every((source) => sources.has(source))) return dead
  const { sources: ofDocuments, count } = segment.table
  const hidden = new Uint8Array(count)
  for (let i = 0; i < count; i++) hidden[i] = dead?.[i] === 1 || !sources.has(ofDocuments[i] ?? 0) ? 1 : 0
  return hidden
}
