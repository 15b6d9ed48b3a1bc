import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { BREAKOUT, FOREIGN, INLINE_ELEMENTS } from '../html/element-names.ts'
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
 * "Next", page numbers) are dropped; preformatted text keeps its lines. A script or comment that is never closed does not drop the rest:
 * the file continues as if it had not been opened.
 */
export function cutHtml(text: string, sizes: ChunkSizes): Piece[] {
  const pieces: Piece[] = []
  const ancestry: Row[] = []
  let headingPath: readonly string[] = []
  let rows: Row[] = []
  let size = 0
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
    const slices = row.text === '' && rows.length > 0 ? [''] : sliceText(row.text, sizes.maxChars)
    for (const slice of slices) {
      if (size + slice.length > sizes.maxChars || size >= sizes.targetChars) flush()
      rows.push({ ...row, text: slice })
      size += slice.length + 1
    }
  }
  flush()
  return pieces
}

const DROPPED_TAGS = new Set(['script', 'style', 'template'])
const PAGER_TEXT = /^(?:prev|next|show more|\d{1,3})$/i

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
  const tokenizer = new Tokenizer({ decodeEntities: true }, collector)
  tokenizer.write(source)
  tokenizer.end()
  collector.endRow()
  return collector
}

class RowCollector implements TokenizerCallbacks {
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
  /** Where the current tag starts, until its `>`. */
  #tagFrom: number | undefined
  /** Number of open `<svg>` and `<math>` elements minus the open `<foreignObject>` elements in them. */
  #foreign = 0
  /** Number of open `<foreignObject>` elements; their content is parsed as HTML again. */
  #islands = 0
  /** Number of open `<pre>` elements. */
  #preformatted = 0
  /** Number of table cells opened since the last text of the current line. */
  #cells = 0
  /** Name of the tag that was opened last, in lower case. */
  #opened = ''
  #isAlt = false

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

  /** Called by the tokenizer, which reads the text of a script up to its end tag only in HTML. */
  isInForeignContext(): boolean {
    return this.#foreign > 0
  }

  onopentagname(start: number, end: number): void {
    const name = this.#source.slice(start, end).toLowerCase()
    this.#opened = name
    this.#tagFrom = start
    this.#openForeign(name)
    if (DROPPED_TAGS.has(name)) this.#dropped++
    if (name === 'td' || name === 'th') this.#cells++
    if (this.#keepsLineOpen(name)) return
    this.endRow()
    if (name === 'pre') this.#preformatted++
    const heading = /^h([1-6])$/.exec(name)
    if (heading !== null) this.#level = Number(heading[1])
  }

  onclosetag(start: number, end: number): void {
    this.#close(this.#source.slice(start, end).toLowerCase())
  }

  onopentagend(end: number): void {
    this.#tagFrom = undefined
    if (this.#dropped === 1 && DROPPED_TAGS.has(this.#opened)) this.#droppedFrom = end + 1
  }

  /** Closes self-closing tags of XHTML and SVG. In HTML the text of a script or style still continues to its end tag. */
  onselfclosingtag(end: number): void {
    this.onopentagend(end)
    const isRaw = this.#foreign === 0 && (this.#opened === 'script' || this.#opened === 'style')
    if (!isRaw) this.#close(this.#opened)
  }

  #openForeign(name: string): void {
    if (FOREIGN.has(name)) {
      this.#foreign++
    } else if (this.#foreign > 0 && name === 'foreignobject') {
      this.#foreign--
      this.#islands++
    } else if (BREAKOUT.has(name)) {
      this.#foreign = 0
    }
  }

  #closeForeign(name: string): void {
    if (FOREIGN.has(name) && this.#foreign > 0) {
      this.#foreign--
    } else if (this.#islands > 0 && name === 'foreignobject') {
      this.#foreign++
      this.#islands--
    }
  }

  #close(name: string): void {
    this.#closeForeign(name)
    if (DROPPED_TAGS.has(name) && this.#dropped > 0) this.#dropped--
    if (this.#keepsLineOpen(name)) return
    this.endRow()
    if (name === 'pre' && this.#preformatted > 0) this.#preformatted--
    if (/^h[1-6]$/.test(name)) this.#level = 0
  }

  ontext(start: number, end: number): void {
    this.#add(this.#source.slice(start, end), start, end)
  }

  ontextentity(codepoint: number, end: number): void {
    this.#add(String.fromCodePoint(codepoint), end - 1, end)
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.#add(this.#source.slice(start, end - endOffset), start, end - endOffset)
  }

  onattribname(start: number, end: number): void {
    this.#isAlt = this.#source.slice(start, end).toLowerCase() === 'alt'
  }

  onattribdata(start: number, end: number): void {
    if (this.#isAlt) this.#add(this.#source.slice(start, end), start, end)
  }

  onattribentity(codepoint: number): void {
    if (this.#isAlt) this.#add(String.fromCodePoint(codepoint), this.#end, this.#end)
  }

  onattribend(): void {
    this.#isAlt = false
  }

  oncomment(start: number, end: number): void {
    if (end === this.#source.length) this.#commentFrom = start
  }

  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

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
    if (collapsed === '' || (this.#level === 0 && PAGER_TEXT.test(collapsed))) return
    this.rows.push({ text: collapsed, startLine, endLine, level: this.#level })
    this.#level = 0
  }

  /** Whether a tag leaves the line open: inline elements, cells of a row, and a line break inside a heading, for which it adds a space. */
  #keepsLineOpen(name: string): boolean {
    if (name === 'br' && this.#level > 0) this.#parts.push(' ')
    return INLINE_ELEMENTS.has(name) || name === 'td' || name === 'th' || (name === 'br' && this.#level > 0)
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
