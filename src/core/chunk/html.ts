import { DecodingMode, EntityDecoder, htmlDecodeTree } from 'entities/decode'
import { type Tag, TagTable } from '../html/tag.ts'
import { type TokenSink, tokenize } from '../html/tokenizer.ts'
import { LineMap } from '../text/line-map.ts'
import { clipText, sliceText, splitLines } from '../text/lines.ts'
import { type ChunkSizes, MAX_HEADING_CHARS, type Piece } from './piece.ts'

/** A line of text as a reader sees it, and the source lines it came from. */
interface Row {
  readonly text: string
  readonly startLine: number
  readonly endLine: number
  /** 1 to 6 for a heading, else 0. */
  readonly level: number
}

/**
 * Cuts HTML at its headings into the visible text, one line per block element. Scripts, styles, comments and pager leftovers ("Prev",
 * "Next", page numbers outside of lists and tables) are dropped; preformatted text keeps its lines. A script or comment that is never closed does not drop the rest:
 * the file continues as if it had not been opened.
 */
export function cutHtml(text: string, sizes: ChunkSizes): Piece[] {
  const pieces: Piece[] = []
  const ancestry: Row[] = []
  let headingPath: readonly string[] = []
  let rows: Row[] = []
  let size = 0
  /** Whether only the heading precedes in the piece; the beginning of its text stays with it, unless the heading is long. */
  let isBelowHeading = false
  const flush = () => {
    const first = rows[0]
    const last = rows.at(-1)
    if (first !== undefined && last !== undefined) {
      const content = rows
        .map((row) => row.text)
        .join('\n')
        .trim()
      if (content !== '') pieces.push({ startLine: first.startLine, endLine: last.endLine, content, headingPath })
    }
    rows = []
    size = 0
  }
  for (const row of readRows(text)) {
    if (row.level > 0) {
      flush()
      while ((ancestry.at(-1)?.level ?? 0) >= row.level) ancestry.pop()
      ancestry.push(row)
      headingPath = ancestry.map((heading) => clipText(heading.text, MAX_HEADING_CHARS))
    }
    // A blank line of preformatted text is kept only after other text of the piece.
    if (row.text === '' && rows.length === 0) continue
    const [first = ''] = sliceText(row.text, isBelowHeading ? sizes.maxChars - size : sizes.maxChars)
    for (const slice of [first, ...sliceText(row.text.slice(first.length), sizes.maxChars)]) {
      if (!isBelowHeading && (size + slice.length > sizes.maxChars || size >= sizes.targetChars)) flush()
      rows.push({ ...row, text: slice })
      size += slice.length + 1
      if (slice !== '') isBelowHeading = row.level > 0 && size <= sizes.maxChars / 2
    }
  }
  flush()
  return pieces
}

const DROPPED_TAGS = new Set(['script', 'style', 'template'])
const PAGER_TEXT = /^(?:prev|next|show more)$/i
const PAGE_NUMBER = /^\d{1,3}$/

/** Elements in which a number alone is content. All of them need an end tag. */
const LISTS = new Set(['table', 'ul', 'ol', 'dl', 'menu'])

/** Reads the visible text. Tags are read as a stream, without a tree or a stack, so nesting of any depth costs nothing. */
function readRows(source: string): Row[] {
  const firstPass = collectRows(source, 1)
  if (firstPass.droppedRestFrom === undefined) return firstPass.rows
  const rest = source.slice(firstPass.droppedRestFrom)
  const firstLine = firstPass.lineAt(firstPass.droppedRestFrom)
  const secondPass = collectRows(rest, firstLine)
  if (secondPass.droppedRestFrom === undefined) return [...firstPass.rows, ...secondPass.rows]
  // A third pass could also end in an unclosed element, and so on, so the rest is kept as plain lines.
  const restLine = secondPass.lineAt(secondPass.droppedRestFrom)
  const plainRows = splitLines(rest.slice(secondPass.droppedRestFrom)).map((line, i) => {
    return { text: line.trim(), startLine: restLine + i, endLine: restLine + i, level: 0 }
  })
  return [...firstPass.rows, ...secondPass.rows, ...plainRows.filter((row) => row.text !== '')]
}

function collectRows(source: string, firstLine: number): RowCollector {
  const collector = new RowCollector(source, firstLine)
  tokenize(source, new TagTable(), collector)
  collector.endRow()
  return collector
}

class RowCollector implements TokenSink {
  readonly rows: Row[] = []
  readonly #source: string
  readonly #lines: LineMap
  readonly #firstLine: number
  #parts: string[] = []
  #start = 0
  #end = 0
  /** Level of the heading being read, else 0. */
  #level = 0
  /** Number of open elements whose text is dropped. */
  #dropped = 0
  /** Where the content of the outermost dropped element starts. */
  #droppedFrom = 0
  /** Where an unclosed comment starts. */
  #commentFrom: number | undefined
  /** Where an unclosed tag starts. */
  #tagFrom: number | undefined
  /** Number of open `<svg>` and `<math>` elements minus the open `<foreignObject>` elements in them. */
  #foreign = 0
  /** Number of open `<foreignObject>` elements; their content is parsed as HTML again. */
  #islands = 0
  /** Number of open lists and tables. */
  #lists = 0
  /** Number of open `<pre>` elements. */
  #preformatted = 0
  /** Number of table cells opened since the last text of the current line. */
  #cells = 0

  constructor(source: string, firstLine: number) {
    this.#source = source
    this.#lines = new LineMap(source)
    this.#firstLine = firstLine
  }

  /** Where an unclosed element, comment or tag begins to drop the rest, or `undefined`. A tag cut off by the file end does not count. */
  get droppedRestFrom(): number | undefined {
    if (this.#dropped > 0) return this.#droppedFrom
    if (this.#commentFrom !== undefined) return this.#commentFrom
    return this.#tagFrom !== undefined && this.#source.includes('>', this.#tagFrom) ? this.#tagFrom : undefined
  }

  lineAt(offset: number): number {
    return this.#lines.lineAt(offset) + this.#firstLine - 1
  }

  get isForeign(): boolean {
    return this.#foreign > 0
  }

  /** Closes self-closing tags of XHTML and SVG. In HTML the text of a script or style still continues to its end tag. */
  startTag(
    tag: Tag,
    attributes: readonly string[],
    attributesEnd: number,
    isSelfClosing: boolean,
    end: number,
    spans: readonly number[],
  ): void {
    this.#open(tag, attributes, attributesEnd, spans)
    if (this.#dropped === 1 && DROPPED_TAGS.has(tag.name)) this.#droppedFrom = end
    const isRaw = this.#foreign === 0 && (tag.name === 'script' || tag.name === 'style')
    if (isSelfClosing && !isRaw) this.endTag(tag)
  }

  unclosedTag(
    tag: Tag,
    attributes: readonly string[],
    attributesEnd: number,
    start: number,
    spans: readonly number[],
  ): void {
    this.#open(tag, attributes, attributesEnd, spans)
    this.#tagFrom = start
  }

  #open(tag: Tag, attributes: readonly string[], attributesEnd: number, spans: readonly number[]): void {
    const { name } = tag
    this.#openForeign(tag)
    if (DROPPED_TAGS.has(name)) this.#dropped++
    if (name === 'td' || name === 'th') this.#cells++
    if (!this.#keepsLineOpen(tag)) {
      this.endRow()
      if (name === 'pre') this.#preformatted++
      if (LISTS.has(name)) this.#lists++
      if (tag.isHeading) this.#level = Number(name.slice(1))
    }
    for (let i = 0; i < attributesEnd; i += 2) {
      if (attributes[i] === 'alt') this.#addDecoded(attributes[i + 1] ?? '', spans[i] ?? 0, spans[i + 1] ?? 0, true)
    }
  }

  #openForeign({ name, isForeign, isBreakout }: Tag): void {
    if (isForeign) {
      this.#foreign++
    } else if (this.#foreign > 0 && name === 'foreignobject') {
      this.#foreign--
      this.#islands++
    } else if (isBreakout) {
      this.#foreign = 0
    }
  }

  #closeForeign({ name, isForeign }: Tag): void {
    if (isForeign && this.#foreign > 0) {
      this.#foreign--
    } else if (this.#islands > 0 && name === 'foreignobject') {
      this.#foreign++
      this.#islands--
    }
  }

  endTag(tag: Tag): void {
    const { name } = tag
    this.#closeForeign(tag)
    if (DROPPED_TAGS.has(name) && this.#dropped > 0) this.#dropped--
    if (this.#keepsLineOpen(tag)) return
    this.endRow()
    if (name === 'pre' && this.#preformatted > 0) this.#preformatted--
    if (LISTS.has(name) && this.#lists > 0) this.#lists--
    if (tag.isHeading) this.#level = 0
  }

  text(text: string, start: number, end: number): void {
    this.#addDecoded(text, start, end, false)
  }

  cdata(text: string, start: number): void {
    this.#add(text, start, start + text.length)
  }

  comment(_text: string, start: number, isClosed: boolean): void {
    if (!isClosed) this.#commentFrom = start
  }

  /** Ends the current line, because another block follows. */
  endRow(): void {
    this.#cells = 0
    if (this.#parts.length === 0) return
    const text = this.#parts.join('')
    this.#parts = []
    const startLine = this.lineAt(this.#start)
    const endLine = this.lineAt(Math.max(this.#start, this.#end - 1))
    if (this.#preformatted > 0) {
      splitLines(text).forEach((line, i) => {
        const at = Math.min(startLine + i, endLine)
        this.rows.push({ text: line.trimEnd(), startLine: at, endLine: at, level: 0 })
      })
      return
    }
    const collapsed = text.replace(/\s+/g, ' ').trim()
    const isPager = PAGER_TEXT.test(collapsed) || (this.#lists === 0 && PAGE_NUMBER.test(collapsed))
    if (collapsed === '' || (this.#level === 0 && isPager)) return
    this.rows.push({ text: collapsed, startLine, endLine, level: this.#level })
    this.#level = 0
  }

  /** Whether a tag leaves the line open: inline elements, cells of a row, and a line break inside a heading, for which it adds a space. */
  #keepsLineOpen({ name, isInline }: Tag): boolean {
    if (name === 'br' && this.#level > 0) this.#parts.push(' ')
    return isInline || name === 'td' || name === 'th' || (name === 'br' && this.#level > 0)
  }

  /** Adds text whose entities are decoded. They are pieces of their own, because decoded text is shorter than its source. */
  #addDecoded(text: string, start: number, end: number, isAttribute: boolean): void {
    let from = start
    if (text.length < end - start) {
      const mode = isAttribute ? DecodingMode.Attribute : DecodingMode.Legacy
      for (let at = this.#source.indexOf('&', start); at !== -1 && at < end; at = this.#source.indexOf('&', at + 1)) {
        const { entity, length } = decodeEntity(this.#source, at, mode)
        if (length === 0) continue
        if (from < at) this.#add(this.#source.slice(from, at), from, at)
        from = at + length
        if (isAttribute) this.#add(entity, this.#end, this.#end)
        else this.#add(entity, from - 1, from)
      }
    }
    if (from < end || isAttribute) this.#add(this.#source.slice(from, end), from, end)
  }

  #add(piece: string, from: number, to: number): void {
    if (this.#dropped > 0) return
    const isBlankPiece = piece.trim() === ''
    if (this.#parts.length === 0) {
      if (isBlankPiece && this.#preformatted === 0) return
      this.#start = this.#preformatted > 0 ? from : from + piece.length - piece.trimStart().length
    }
    if (!isBlankPiece) {
      if (this.#parts.length > 0) this.#parts.push(' | '.repeat(this.#cells))
      this.#cells = 0
      this.#end = to
    }
    this.#parts.push(piece)
  }
}

/** Decodes an entity at its `&`; its length in the source is 0 if there is none. */
function decodeEntity(
  source: string,
  at: number,
  mode: DecodingMode,
): { readonly entity: string; readonly length: number } {
  let entity = ''
  let length = 0
  const decoder = new EntityDecoder(htmlDecodeTree, (codePoint, consumed) => {
    entity += String.fromCodePoint(codePoint)
    length = consumed
  })
  decoder.startEntity(mode)
  if (decoder.write(source, at + 1) < 0) decoder.end()
  return { entity, length }
}
