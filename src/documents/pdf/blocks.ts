import { escapeHtml } from '../../core/html/escape.ts'
import { type OfficeBlock, OfficeNotes, writeBlocks } from '../office/office-blocks.ts'
import { PdfHeadings } from './headings.ts'
import { type Run, runsOf, writeRuns } from './line.ts'
import { type DocumentMetrics, factsOf, measureRows, type OutlineEntry, type RowFacts } from './metrics.ts'
import { PageNotes } from './notes.ts'
import type { Row } from './rows.ts'
import { findTable, isTabular } from './tables.ts'

/**
 * Converts the lines of pages to HTML, with a mark at the start of each page. `name` becomes the first heading when the pages have no
 * title. Returns the title of the pages; null if they have none.
 */
export function writePages(
  pages: readonly (readonly Row[])[],
  outline: readonly OutlineEntry[],
  name: string,
): { readonly html: string; readonly title: string | null } {
  const facts = pages.map((rows) => rows.map(factsOf))
  const all = facts.flat()
  const metrics = measureRows(all)
  const headings = new PdfHeadings(all, outline, metrics)
  const notes = new OfficeNotes()
  const builder = new PdfBlocks(metrics, headings)
  for (const rows of facts) builder.add(rows, new PageNotes(rows, metrics, notes))
  const blocks = builder.end()
  const { title = null } = headings
  const nameHeading: OfficeBlock[] = title === null ? [{ type: 'heading', level: 1, html: escapeHtml(name) }] : []
  return { html: writeBlocks([...blocks.slice(0, 1), ...nameHeading, ...blocks.slice(1)]) + notes.write(), title }
}

/** Text that continues over several lines. */
interface OpenText {
  readonly kind: 'paragraph' | 'item'
  readonly runs: Run[]
  readonly page: number
  /** For a list item: its level, its number, and the left edge of its text. */
  readonly level: number
  readonly number: number | null
  readonly textLeft: number
  readonly notes: PageNotes
  last: RowFacts
}

class PdfBlocks {
  readonly #metrics: DocumentMetrics
  readonly #headings: PdfHeadings
  readonly #blocks: OfficeBlock[] = []
  #page = 0
  #open: OpenText | undefined
  /** Left edges of the marks of the open lists. */
  #markLefts: number[] = []
  #code: { readonly rows: RowFacts[]; readonly page: number } | undefined

  constructor(metrics: DocumentMetrics, headings: PdfHeadings) {
    this.#metrics = metrics
    this.#headings = headings
  }

  add(rows: readonly RowFacts[], notes: PageNotes): void {
    const text = withoutContents(rows.filter((row) => !notes.has(row)))
    let failedTables = 0
    for (let i = 0; i < text.length; i++) {
      const facts = text[i]
      if (facts === undefined) continue
      const heading = this.#headings.at(facts)
      if (heading !== undefined) {
        this.#addHeading(heading.level, heading.rows)
        i += heading.rows.length - 1
        continue
      }
      const mayBeTable = failedTables < MAX_FAILED_TABLES && isTabular(facts)
      const table = mayBeTable ? findTable(text, i, this.#metrics.lineSpacing) : undefined
      if (mayBeTable && table === undefined) failedTables++
      if (table !== undefined) {
        this.#close()
        this.#push({ type: 'markup', html: table.html }, facts.row.page)
        i += table.count - 1
      } else if (facts.isFixed && !this.#isInSentence(facts)) this.#addCode(facts)
      else this.#addText(facts, notes)
    }
  }

  end(): readonly OfficeBlock[] {
    this.#close()
    return this.#blocks
  }

  #push(block: OfficeBlock, page: number): void {
    if (page !== this.#page) this.#blocks.push({ type: 'mark', anchor: `page=${page}` })
    this.#page = page
    this.#blocks.push(block)
  }

  #addHeading(level: number, rows: readonly RowFacts[]): void {
    this.#close()
    this.#markLefts = []
    const runs: Run[] = []
    for (const { row } of rows) this.#append(runs, row)
    const [first] = rows
    this.#push(
      { type: 'heading', level, html: writeRuns(runs, { isPlain: true }).trim() },
      first?.row.page ?? this.#page,
    )
  }

  #addCode(facts: RowFacts): void {
    const last = this.#code?.rows.at(-1)
    const isNext = last !== undefined && last.row.page === facts.row.page && facts.row.baseline > last.row.baseline
    if (this.#code === undefined || !isNext || facts.row.baseline - last.row.baseline > 4 * facts.row.size) {
      this.#close()
      this.#code = { rows: [], page: facts.row.page }
    }
    this.#code.rows.push(facts)
  }

  #addText(facts: RowFacts, notes: PageNotes): void {
    const marker = readMarker(facts)
    const startsItem = marker !== undefined && this.#mayBeItem(facts, marker)
    if (!startsItem && this.#continues(facts)) {
      if (this.#open !== undefined) {
        this.#append(this.#open.runs, facts.row)
        this.#open.last = facts
      }
      return
    }
    this.#close()
    const runs: Run[] = []
    this.#append(runs, facts.row)
    const { page } = facts.row
    if (startsItem) {
      const level = this.#levelAt(facts.row.left)
      const { number, textLeft } = marker
      this.#open = {
        kind: 'item',
        runs: dropMarker(runs, marker.length),
        page,
        level,
        number,
        textLeft,
        notes,
        last: facts,
      }
    } else
      this.#open = {
        kind: 'paragraph',
        runs,
        page,
        level: 0,
        number: null,
        textLeft: facts.row.left,
        notes,
        last: facts,
      }
  }

  /** A number at the start of a line is a list mark only at the start of a block. */
  #mayBeItem(facts: RowFacts, { number }: Marker): boolean {
    if (number === null) return true
    const last = this.#open
    if (last === undefined) return true
    if (last.kind === 'item' && last.number !== null && number === last.number + 1) return true
    return !this.#continues(facts) || facts.row.left > facts.row.column.left + 0.5 * facts.row.size
  }

  #levelAt(left: number): number {
    while ((this.#markLefts.at(-1) ?? Number.NEGATIVE_INFINITY) > left + 3) this.#markLefts.pop()
    if ((this.#markLefts.at(-1) ?? Number.NEGATIVE_INFINITY) < left - 3) this.#markLefts.push(left)
    return Math.max(0, this.#markLefts.length - 1)
  }

  /** Whether a line in a code font is part of a sentence. */
  #isInSentence(facts: RowFacts): boolean {
    const last = this.#open?.last
    if (last === undefined || /[.!?:]$/.test(last.text)) return false
    const { right, column } = last.row
    return right > column.right - 0.15 * (column.right - column.left) && this.#continues(facts)
  }

  /** Whether a line continues the open text. */
  #continues(facts: RowFacts): boolean {
    const open = this.#open
    if (open === undefined) return false
    const { row } = facts
    const { row: last, text } = open.last
    if (Math.abs(row.size - last.size) > 0.12 * last.size) return false
    const startsLowercase = /^[\p{Ll}]/u.test(facts.text)
    const step = row.baseline - last.baseline
    // An unfinished sentence continues in the next column or on the next page.
    if (row.page !== last.page || step <= 0 || row.left > last.column.right) {
      return startsLowercase && !/[.!?:]["”’)]?$/.test(text)
    }
    if (step > 1.3 * this.#metrics.lineSpacing * last.size) return false
    if (open.kind === 'item') return row.left > open.textLeft - 2 || startsLowercase
    const isIndented = row.left - row.column.left > 0.8 * row.size && last.left - last.column.left < 0.5 * last.size
    if (isIndented) return startsLowercase
    const isShort = last.right < last.column.right - 0.15 * (last.column.right - last.column.left)
    return !(isShort && /[.!?:]["”’)]?$/.test(text) && !startsLowercase)
  }

  /** Adds a line to text, and joins a hyphenated word. */
  #append(runs: Run[], row: Row): void {
    const added = row.cells.flatMap((cell, i) => {
      const [first, ...rest] = runsOf(cell, row.baseline, row.size)
      return first === undefined ? [] : i === 0 ? [first, ...rest] : [{ ...first, text: ` ${first.text}` }, ...rest]
    })
    const last = runs.at(-1)
    const [first] = added
    if (last !== undefined && first !== undefined) {
      const joined = joinWords(last.text, first.text, this.#metrics.words)
      runs[runs.length - 1] = { ...last, text: joined.before }
      added[0] = { ...first, text: joined.after }
    }
    for (const run of added) runs.push(run)
  }

  #close(): void {
    const open = this.#open
    const code = this.#code
    this.#open = undefined
    this.#code = undefined
    if (code !== undefined) {
      this.#markLefts = []
      this.#push({ type: 'code', text: writeCode(code.rows) }, code.page)
      // An empty paragraph keeps this code block separate from the next one.
      this.#blocks.push({ type: 'paragraph', html: '' })
    }
    if (open === undefined) return
    const html = writeRuns(open.runs, { note: (label) => open.notes.mark(label) }).trim()
    if (open.kind === 'item') this.#push({ type: 'item', level: open.level, number: open.number, html }, open.page)
    else {
      this.#markLefts = []
      this.#push({ type: 'paragraph', html }, open.page)
    }
  }
}

/** After this many rows of a page turned out not to start a table, further rows are not checked. */
const MAX_FAILED_TABLES = 20

/** Removes a table of contents, which only repeats the headings. A page that mostly consists of one is dropped as a whole. */
function withoutContents(rows: readonly RowFacts[]): readonly RowFacts[] {
  const leaders = rows.filter(isLeader).length
  if (leaders < 3) return rows
  return 2 * leaders > rows.length ? [] : rows.filter((row) => !isLeader(row))
}

/** Whether a row is a line of a table of contents: a title, dots, and a page number. */
function isLeader({ text }: RowFacts): boolean {
  return /(?:(?:\. *){5,}|…{2,} *)(?:\d{1,5}|[ivxlc]{1,8})$/i.test(text.slice(-200))
}

interface Marker {
  /** Number of characters of the mark and the space after it. */
  readonly length: number
  readonly number: number | null
  readonly textLeft: number
}

const BULLET = /^[•◦▪‣●○■□–—*·]\s+(?=\S)/
const NUMBER = /^\(?(\d{1,3}|[a-z])[.)]\s+(?=\S)/

/** The mark at the start of a list item. */
function readMarker({ row, text }: RowFacts): Marker | undefined {
  const bullet = BULLET.exec(text)
  const match = bullet ?? NUMBER.exec(text)
  if (match === null) return undefined
  const [first, second] = row.cells.flatMap((cell) => [...cell.fragments])
  const isApart = first !== undefined && second !== undefined && first.text.trim().length <= match[0].trim().length
  const textLeft = isApart ? second.left : row.left + 0.5 * row.size
  const sign = match[1] ?? ''
  const number = bullet !== null ? null : /^\d/.test(sign) ? Number(sign) : sign.charCodeAt(0) - 96
  return { length: match[0].trim().length, number, textLeft }
}

/** Removes the mark of an item from its text. */
function dropMarker(runs: readonly Run[], length: number): Run[] {
  const rest = [...runs]
  let remaining = length
  while (remaining > 0 && rest[0] !== undefined) {
    const [first] = rest
    const text = first.text.trimStart()
    if (text.length > remaining) {
      rest[0] = { ...first, text: text.slice(remaining).trimStart() }
      return rest
    }
    remaining -= text.trimEnd().length
    rest.shift()
  }
  if (rest[0] !== undefined) rest[0] = { ...rest[0], text: rest[0].text.trimStart() }
  return rest
}

const JOINED_SCRIPTS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}　-〿！-～]/u

/** Joins the end of a line and the start of the next. A hyphen stays if the word is known to have one. */
function joinWords(before: string, after: string, words: ReadonlySet<string>): { before: string; after: string } {
  const start = after.trimStart()
  const end = before.trimEnd()
  if (end.endsWith('\u00ad')) return { before: end.slice(0, -1), after: start }
  const head = /(\p{L}[\p{L}-]*)[-‐]$/u.exec(end.slice(-60))?.[1]
  const tail = /^\p{Ll}[\p{L}-]*/u.exec(start.slice(0, 60))?.[0]
  if (head !== undefined && tail !== undefined) {
    const hyphenated = `${head}-${tail}`.toLowerCase()
    const keepsHyphen = words.has(hyphenated) && !words.has((head + tail).toLowerCase())
    return { before: keepsHyphen ? end : end.slice(0, -1), after: start }
  }
  const isJoined = JOINED_SCRIPTS.test(end.slice(-1)) && JOINED_SCRIPTS.test(start.slice(0, 1))
  return { before: end, after: isJoined ? start : ` ${start}` }
}

/** Writes lines of code, with white space as wide as on the page. */
function writeCode(rows: readonly RowFacts[]): string {
  const left = rows.reduce((min, { row }) => Math.min(min, row.left), Number.POSITIVE_INFINITY)
  const fragments = rows.flatMap(({ row }) => row.cells.flatMap((cell) => [...cell.fragments]))
  const letters = fragments.reduce((sum, { text }) => sum + text.length, 0)
  const width = fragments.reduce((sum, fragment) => sum + fragment.right - fragment.left, 0) / Math.max(1, letters) || 1
  const lines: string[] = []
  let last: Row | undefined
  for (const { row } of rows) {
    const isApart = last !== undefined && row.baseline - last.baseline > 1.9 * row.size
    if (isApart) lines.push('')
    let line = ''
    for (const fragment of row.cells.flatMap((cell) => [...cell.fragments])) {
      const column = Math.min(MAX_INDENT, Math.round((fragment.left - left) / width))
      line = line.padEnd(column) + fragment.text
    }
    lines.push(line.trimEnd())
    last = row
  }
  return lines.join('\n')
}

const MAX_INDENT = 400
