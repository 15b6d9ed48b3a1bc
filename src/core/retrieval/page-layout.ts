import { FenceReader } from '../markdown/fences.ts'
import type { Chunk, Section, SectionMark } from '../model.ts'
import { findAnchor } from './anchored-url.ts'
import { createLineStarts } from './line-starts.ts'

/** The position of a chunk in its page, in lines and in bytes, without the lines that it repeats from the previous chunk. */
export interface LayoutSpan {
  /** First line, from 1. */
  readonly startLine: number
  /** Last line, inclusive. */
  readonly endLine: number
  /** Bytes of the page, as UTF-8, before the first line of the chunk. */
  readonly offset: number
  readonly headingPath: readonly string[]
  /** Fragment of the section or definition in which the chunk begins. */
  readonly anchor: string | null
  /** Lines after the first line of the chunk that have their own fragment; omitted if there are none. */
  readonly marks?: readonly SectionMark[]
  /** Whether the chunk may begin inside a block: in a cut fence, or at a line without a blank line before it. */
  readonly isOpen: boolean
}

/**
 * How a page was cut into chunks, stored beside its text, so that a part can be shown without reading the whole page. Heading paths and
 * anchors are stored once, and spans refer to them by number: a page may have thousands of spans, of which a few are needed.
 */
export interface PageLayout {
  /** Bytes of the page as UTF-8. */
  readonly bytes: number
  readonly paths: readonly (readonly string[])[]
  readonly anchors: readonly (string | null)[]
  /** In the order of the page. */
  readonly spans: readonly WrittenSpan[]
  /** Line and fragment of all marks inside chunks; omitted if there are none. */
  readonly marks?: readonly (readonly [number, string])[]
}

/** First line, last line, offset, numbers of path and anchor, and 1 if the chunk may begin inside a block. */
type WrittenSpan = readonly [number, number, number, number, number, number]

/** Writes the layout of a page with its chunks. */
export function writeLayout(
  { markdown, sections }: { readonly markdown: string; readonly sections: readonly Section[] },
  chunks: readonly Pick<Chunk, 'startLine' | 'endLine' | 'headingPath'>[],
): string {
  const startOf = createLineStarts(markdown)
  const paths = new ValueTable<readonly string[]>()
  const anchors = new ValueTable<string | null>()
  const fences = createFenceTest(markdown)
  let at = 0
  let offset = 0
  const spans = chunks.map(({ endLine, headingPath, ...chunk }, i): WrittenSpan => {
    const startLine = ownStart(chunks[i - 1], { endLine, ...chunk })
    const start = startOf(startLine)
    offset = start < at ? utf8Length(markdown, 0, start) : offset + utf8Length(markdown, at, start)
    at = start
    const isOpen = startLine > 1 && (!isBlankBefore(markdown, start) || fences.isInside(start))
    return [startLine, endLine, offset, paths.add(headingPath), anchors.add(findAnchor(sections, startLine)), +isOpen]
  })
  const bytes = offset + utf8Length(markdown, at, markdown.length)
  const starts = new Set(spans.map(([startLine]) => startLine))
  const marks = listMarks(sections)
    .filter(({ line }) => !starts.has(line))
    .map(({ line }) => [line, findAnchor(sections, line) ?? ''] as const)
  const written: PageLayout = { bytes, paths: paths.list, anchors: anchors.list, spans }
  return JSON.stringify(marks.length === 0 ? written : { ...written, marks })
}

/** The marks of all sections, in page order. */
function listMarks(sections: readonly Section[]): SectionMark[] {
  return sections.flatMap(({ marks = [], children }) => [...marks, ...listMarks(children)])
}

/** The fragment for a line of a chunk. */
export function anchorAt({ anchor, marks = [] }: LayoutSpan, line: number): string | null {
  const last = marks.findLast((mark) => mark.line <= line)
  return last === undefined ? anchor : last.anchor === '' ? null : last.anchor
}

/**
 * The first line of a chunk after those that it repeats from the previous one. A chunk that shares only one line with the previous chunk
 * repeats nothing: it may be another slice of that line. A chunk of JSON may be anywhere, because JSON chunks follow the sorted order of
 * keys.
 */
function ownStart(before: LineSpan | undefined, { startLine, endLine }: LineSpan): number {
  const isRepeating =
    before !== undefined && startLine >= before.startLine && startLine < before.endLine && endLine > before.endLine
  return isRepeating ? before.endLine + 1 : startLine
}

type LineSpan = Pick<Chunk, 'startLine' | 'endLine'>

/** Parses the output of `writeLayout`. */
export function readLayout(text: string): PageLayout {
  return JSON.parse(text) as PageLayout
}

/** The chunks of a layout from `first` to `last`, inclusive. */
export function listSpans(layout: PageLayout, first: number, last: number): LayoutSpan[] {
  const { paths, anchors, spans, marks: all = [] } = layout
  const selected = spans.slice(first, last + 1)
  const from = selected.reduce((min, [line]) => Math.min(min, line), Number.POSITIVE_INFINITY)
  const to = selected.reduce((max, [, line]) => Math.max(max, line), 0)
  const marks = all.filter(([line]) => line > from && line <= to)
  return selected.map(([startLine, endLine, offset, path, anchor, isOpen]) => {
    const ownMarks = marks.filter(([line]) => line > startLine && line <= endLine)
    return {
      startLine,
      endLine,
      offset,
      headingPath: paths[path] ?? [],
      anchor: anchors[anchor] ?? null,
      isOpen: isOpen === 1,
      ...(ownMarks.length === 0 ? {} : { marks: ownMarks.map(([line, name]) => ({ line, anchor: name })) }),
    }
  })
}

/** Chunks of a page by index, the last one included. */
interface IndexRange {
  readonly first: number
  readonly last: number
}

/** The part of a page that must be read to show one of its chunks. */
export interface Excerpt {
  /** Bytes of the page before this part. */
  readonly offset: number
  /** Bytes of this part. */
  readonly length: number
  readonly linesBefore: number
  /** Index of the first chunk of this part. */
  readonly first: number
  /** The chunks of this part, with their lines in the page. */
  readonly spans: readonly LayoutSpan[]
  /** The chunks that can be shown from this part alone. */
  readonly usableChunks: IndexRange
}

/** The part of a page around the chunk with an index; undefined when the page has no such chunk. */
export function planExcerpt(layout: PageLayout, index: number): Excerpt | undefined {
  const { bytes, spans } = layout
  const { length: count } = spans
  if (spans[index] === undefined) return undefined
  if (!isOrdered(spans)) {
    const all = listSpans(layout, 0, count - 1)
    return {
      offset: 0,
      length: bytes,
      linesBefore: 0,
      first: 0,
      spans: all,
      usableChunks: { first: 0, last: count - 1 },
    }
  }
  const { first, last } = windowAround(layout, index)
  const [startLine = 1, , offset = 0] = spans[first] ?? []
  const isEnough = (other: number): boolean => {
    const needed = windowAround(layout, other)
    return needed.first >= first && needed.last <= last
  }
  let from = index
  let to = index
  while (from > first && isEnough(from - 1)) from--
  while (to < last && isEnough(to + 1)) to++
  return {
    offset,
    length: (spans[last + 1]?.[OFFSET] ?? bytes) - offset,
    linesBefore: startLine - 1,
    first,
    spans: listSpans(layout, first, last),
    usableChunks: { first: from, last: to },
  }
}

/** Whether chunks are in line order. Those of JSON may not be, because they follow the sorted order of keys. */
function isOrdered(spans: readonly WrittenSpan[]): boolean {
  return spans.every(([startLine], i) => i === 0 || startLine >= (spans[i - 1]?.[0] ?? 0))
}

/** Indexes of the fields of a span. */
const OFFSET = 2
const IS_OPEN = 5

/** Minimum number of bytes to read on each side of a chunk: more than any passage has. */
const REACH_BYTES = 10_000

/** Minimum number of chunks to read on each side. */
const REACH_CHUNKS = 6

/** The chunks to read to show one chunk: as far as a passage can reach, in whole blocks, so that the part can be parsed on its own. */
function windowAround({ bytes, spans }: PageLayout, index: number): IndexRange {
  const endOf = (other: number): number => spans[other + 1]?.[OFFSET] ?? bytes
  const start = spans[index]?.[OFFSET] ?? 0
  let first = index
  while (first > 0 && !isFar(index - first, start - (spans[first]?.[OFFSET] ?? 0))) first--
  while (first > 0 && spans[first]?.[IS_OPEN] === 1) first--
  let last = index
  while (last < spans.length - 1 && !isFar(last - index, endOf(last) - endOf(index))) last++
  while (spans[last + 1]?.[IS_OPEN] === 1) last++
  return { first, last }
}

function isFar(chunks: number, bytes: number): boolean {
  return chunks >= REACH_CHUNKS && bytes >= REACH_BYTES
}

/** Values that are referred to by index; a value equal to the last one is not added again. */
class ValueTable<T> {
  readonly list: T[] = []
  #last = ''

  add(value: T): number {
    const written = JSON.stringify(value)
    if (this.list.length === 0 || written !== this.#last) this.list.push(value)
    this.#last = written
    return this.list.length - 1
  }
}

function isBlankBefore(markdown: string, start: number): boolean {
  let end = start - 1
  if (markdown.charCodeAt(end) === 0x0a && markdown.charCodeAt(end - 1) === 0x0d) end--
  for (let at = end - 1; at >= 0; at--) {
    const unit = markdown.charCodeAt(at)
    if (unit === 0x0a || unit === 0x0d) return true
    if (unit !== 0x20 && unit !== 0x09) return false
  }
  return true
}

/** Creates a test for whether an offset of a text is inside a fence; offsets must ascend. */
function createFenceTest(markdown: string): { isInside(at: number): boolean } {
  const fences = new FenceReader()
  let start = 0
  return {
    isInside(at) {
      while (start < at) {
        const end = markdown.indexOf('\n', start)
        fences.read(markdown.slice(start, end))
        start = end < 0 ? at : end + 1
      }
      return fences.fence !== undefined
    },
  }
}

/** Bytes of a part of a text as UTF-8. */
function utf8Length(text: string, from: number, to: number): number {
  let bytes = to - from
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    // Each half of a surrogate pair counts two of its four bytes; a lone half is written as three bytes.
    bytes += unit < 0x800 ? 1 : isPaired(text, i) ? 1 : 2
  }
  return bytes
}

function isPaired(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  if (unit < 0xd800 || unit > 0xdfff) return false
  const other = text.charCodeAt(unit < 0xdc00 ? at + 1 : at - 1)
  return unit < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00
}
