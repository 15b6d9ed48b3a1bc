import { type ConversionResult, DOCUMENT_LIMITS, DocumentError } from '../document.ts'
import { OfficeNotes, type RunFormat, writeLink } from './office-blocks.ts'
import { createOfficeDocument } from './office-document.ts'
import { codePageOf, decodePage, languageOf } from './rtf-codepages.ts'
import { RtfStyles } from './rtf-styles.ts'
import { type CellEdge, type ParagraphKind, RtfTextBuilder } from './rtf-text-builder.ts'
import { CHARACTERS, type RtfToken, SKIPPED_DESTINATIONS, SYMBOLS, tokenizeRtf } from './rtf-tokens.ts'

/** Converts an RTF file to a page, without comments, deleted and hidden text, headers and footers. */
export function convertRtf(bytes: Uint8Array): ConversionResult {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb ? 3 : 0
  if (new TextDecoder('latin1').decode(bytes.subarray(start, start + 5)) !== '{\\rtf') {
    throw new DocumentError('damaged', 'it does not start like an RTF file')
  }
  const reader = new RtfReader()
  for (const token of tokenizeRtf(bytes.subarray(start))) reader.take(token)
  return reader.end()
}

/** Destination of a group's text; `story` is the text of the document or of a note. */
type Destination = 'story' | 'skip' | 'font' | 'style' | 'label' | 'code' | 'title' | 'author' | 'revised'

/** State that applies until the end of its group. */
interface Group {
  destination: Destination
  format: RunFormat
  font: number
  isHidden: boolean
  /** Number of fallback characters after a Unicode character. */
  fallback: number
  /** Callbacks for the end of the group. */
  readonly atEnd: (() => void)[]
}

class RtfReader {
  readonly #groups: Group[] = []
  #group: Group = { destination: 'story', format: {}, font: -1, isHidden: false, fallback: 1, atEnd: [] }
  /** Whether a group has just started. */
  #isFresh = false
  /** Whether the group is skipped if its destination is unknown (`\*`). */
  #isOptional = false
  readonly #styles = new RtfStyles()
  readonly #notes = new OfficeNotes()
  readonly #stories: RtfTextBuilder[] = []
  #story = new RtfTextBuilder()
  #codePage = 1252
  /** Bytes that are not decoded yet, because two may form one character. */
  #bytes: number[] = []
  /** Number of fallback characters that are still to be skipped. */
  #fallbacksToSkip = 0
  /** Text so far of a label, field code, title or author. */
  #collected = ''
  #language: string | null = null
  #title: string | null = null
  #author: string | null = null
  readonly #revised = new Map<string, number>()
  /** State of the current paragraph. */
  #paragraph = { style: 0, outline: null as number | null, label: '', level: 0, isInTable: false }
  #edges: CellEdge[] = []
  #edge: Omit<CellEdge, 'right'> = { verticalMerge: null, isMergedAcross: false }
  #isHeaderRow = false
  #instruction = ''

  take(token: RtfToken): void {
    const isFresh = this.#isFresh
    if (token.type !== 'symbol') this.#isFresh = false
    switch (token.type) {
      case 'open':
        this.#flush()
        this.#open()
        return
      case 'close':
        this.#flush()
        this.#close()
        return
      case 'bytes':
        this.#takeBytes(token.bytes)
        return
      case 'symbol':
        this.#takeSymbol(token.name)
        return
      case 'word':
        this.#flush()
        if (isFresh && this.#begin(token.name, this.#isOptional)) return
        this.#takeWord(token.name, token.value)
    }
  }

  end(): ConversionResult {
    this.#flush()
    while (this.#groups.length > 0) this.#close()
    const html = this.#story.write(this.#kind()) + this.#notes.write()
    const about = { title: this.#title, author: this.#author, language: this.#language, modifiedAt: this.#modifiedAt() }
    return createOfficeDocument(about, html)
  }

  #open(): void {
    if (this.#groups.length >= DOCUMENT_LIMITS.depth) {
      throw new DocumentError('too-large', `its groups are nested more than ${DOCUMENT_LIMITS.depth} levels deep`)
    }
    this.#groups.push(this.#group)
    this.#group = { ...this.#group, atEnd: [] }
    this.#isFresh = true
    this.#isOptional = false
    this.#fallbacksToSkip = 0
    if (this.#group.destination === 'style') this.#styles.beginStyle()
    if (this.#group.destination === 'font' && this.#groups.at(-2)?.destination !== 'font') this.#styles.beginFont()
  }

  #close(): void {
    for (const callback of this.#group.atEnd) callback()
    this.#group = this.#groups.pop() ?? this.#group
    this.#fallbacksToSkip = 0
  }

  /** Starts a group with a special destination; returns whether it is one. */
  #begin(word: string, isOptional: boolean): boolean {
    const group = this.#group
    if (group.destination === 'skip') return false
    const collect = (destination: Destination, use: (text: string) => void): true => {
      group.destination = destination
      const outer = this.#collected
      this.#collected = ''
      group.atEnd.push(() => {
        use(this.#collected.trim())
        this.#collected = outer
      })
      return true
    }
    switch (word) {
      case 'fonttbl':
        group.destination = 'font'
        return true
      case 'stylesheet':
        group.destination = 'style'
        return true
      case 'title':
        return collect('title', (text) => {
          this.#title = text || null
        })
      case 'author':
        return collect('author', (text) => {
          this.#author = text || null
        })
      case 'revtim':
        group.destination = 'revised'
        return true
      case 'info':
        return true
      case 'listtext':
      case 'pntext':
        return collect('label', (text) => {
          this.#paragraph.label = text
        })
      case 'fldinst':
        return collect('code', (text) => {
          this.#instruction = text
        })
      case 'fldrslt':
        this.#beginResult(group)
        return true
      case 'footnote':
        this.#beginNote(group)
        return true
      case 'cs':
        return false
    }
    if (isOptional || SKIPPED_DESTINATIONS.test(word)) {
      group.destination = 'skip'
      return true
    }
    return false
  }

  #beginResult(group: Group): void {
    const address = /^\s*HYPERLINK\s+"([^"]*)"/.exec(this.#instruction)?.[1]
    const story = this.#story
    const start = story.html.length
    this.#instruction = ''
    group.atEnd.push(() => {
      // The paragraph may have ended before the group.
      if (story !== this.#story || start > story.html.length) return
      story.html = story.html.slice(0, start) + writeLink(story.html.slice(start), address)
    })
  }

  #beginNote(group: Group): void {
    const outer = this.#story
    const paragraph = this.#paragraph
    this.#stories.push(outer)
    this.#story = new RtfTextBuilder()
    group.format = {}
    group.atEnd.push(() => {
      const html = this.#story.write(this.#kind())
      this.#story = this.#stories.pop() ?? outer
      this.#paragraph = paragraph
      if (html !== '') this.#story.html += this.#notes.add(html)
    })
  }

  #takeBytes(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#fallbacksToSkip > 0) this.#fallbacksToSkip--
      else this.#bytes.push(byte)
    }
  }

  #takeSymbol(name: string): void {
    if (name === '*') {
      this.#isOptional = true
      return
    }
    this.#isFresh = false
    this.#flush()
    if (this.#fallbacksToSkip > 0) {
      this.#fallbacksToSkip--
      return
    }
    if (name === '\n' || name === '\r') this.#takeWord('par', undefined)
    else this.#write(SYMBOLS.get(name) ?? '')
  }

  #takeWord(word: string, value: number | undefined): void {
    const { destination } = this.#group
    if (word === 'u' && value !== undefined) {
      this.#write(String.fromCharCode(value < 0 ? value + 0x10000 : value))
      this.#fallbacksToSkip = this.#group.fallback
    } else if (word === 'uc') this.#group.fallback = Math.max(0, Math.min(value ?? 1, 16))
    else if (destination === 'font') this.#styles.describeFont(word, value)
    else if (destination === 'style' && word === 'lang') this.#language ??= languageOf(value ?? 0)
    else if (destination === 'style') this.#styles.describeStyle(word, value)
    else if (destination === 'revised') this.#revised.set(word, value ?? 0)
    else if (destination !== 'skip') this.#apply(word, value)
  }

  #apply(word: string, value: number | undefined): void {
    const character = CHARACTERS.get(word)
    if (character !== undefined) {
      this.#write(character)
      return
    }
    const group = this.#group
    const isOn = value !== 0
    switch (word) {
      case 'ansicpg':
        this.#codePage = value ?? 1252
        return
      case 'deff':
      case 'f':
        group.font = value ?? -1
        group.format = { ...group.format, code: this.#styles.isFixed(group.font) }
        return
      case 'b':
        group.format = { ...group.format, bold: isOn }
        return
      case 'i':
        group.format = { ...group.format, italic: isOn }
        return
      case 'strike':
        group.format = { ...group.format, struck: isOn }
        return
      case 'super':
        group.format = { ...group.format, raised: isOn }
        return
      case 'sub':
        group.format = { ...group.format, lowered: isOn }
        return
      case 'nosupersub':
        group.format = { ...group.format, raised: false, lowered: false }
        return
      case 'v':
      case 'deleted':
        group.isHidden = isOn
        return
      case 'plain':
        group.format = {}
        group.isHidden = false
        return
      case 'lang':
      case 'deflang':
        this.#language ??= languageOf(value ?? 0)
        return
      default:
        if (group.destination === 'story') this.#applyToParagraph(word, value)
    }
  }

  #applyToParagraph(word: string, value: number | undefined): void {
    switch (word) {
      case 'par':
      case 'sect':
        this.#story.endParagraph(this.#kind())
        // A label belongs to one paragraph only; other properties stay until they are reset.
        this.#paragraph.label = ''
        return
      case 'pard':
        this.#paragraph = { style: 0, outline: null, label: this.#paragraph.label, level: 0, isInTable: false }
        return
      case 's':
        this.#paragraph.style = value ?? 0
        return
      case 'outlinelevel':
        this.#paragraph.outline = value !== undefined && value < 9 ? value + 1 : null
        return
      case 'ilvl':
        this.#paragraph.level = Math.max(0, Math.min(value ?? 0, 8))
        return
      case 'intbl':
        this.#paragraph.isInTable = true
        return
      case 'trowd':
        this.#edges = []
        this.#edge = { verticalMerge: null, isMergedAcross: false }
        this.#isHeaderRow = false
        return
      case 'trhdr':
        this.#isHeaderRow = true
        return
      case 'clvmgf':
        this.#edge = { ...this.#edge, verticalMerge: 'begins' }
        return
      case 'clvmrg':
        this.#edge = { ...this.#edge, verticalMerge: 'continues' }
        return
      case 'clmrg':
        this.#edge = { ...this.#edge, isMergedAcross: true }
        return
      case 'cellx':
        if (this.#edges.length < DOCUMENT_LIMITS.columns) this.#edges.push({ ...this.#edge, right: value ?? 0 })
        this.#edge = { verticalMerge: null, isMergedAcross: false }
        return
      case 'cell':
        this.#story.endCell(this.#kind())
        this.#paragraph.label = ''
        return
      case 'nestcell':
        this.#story.endParagraph({ ...this.#kind(), isInTable: true })
        return
      case 'row':
        this.#story.endRow(this.#edges, this.#isHeaderRow)
    }
  }

  #kind(): ParagraphKind {
    const { style, outline, label, level, isInTable } = this.#paragraph
    const isTableHeading = this.#styles.isTableHeading(style)
    return { heading: outline ?? this.#styles.headingOf(style), label, level, isInTable, isTableHeading }
  }

  #flush(): void {
    if (this.#bytes.length === 0) return
    const page = codePageOf(this.#styles.charsetOf(this.#group.font), this.#codePage)
    const text = decodePage(Uint8Array.from(this.#bytes), page)
    this.#bytes = []
    this.#write(text)
  }

  #write(text: string): void {
    if (text === '') return
    const { destination, format, isHidden } = this.#group
    switch (destination) {
      case 'story':
        if (isHidden) return
        this.#story.add(text, this.#styles.isCode(this.#paragraph.style) ? { ...format, code: true } : format)
        return
      case 'font':
        this.#styles.nameFont(text)
        return
      case 'style':
        this.#styles.nameStyle(text)
        return
      case 'label':
      case 'code':
      case 'title':
      case 'author':
        if (this.#collected.length < MAX_COLLECTED) this.#collected += text
    }
  }

  #modifiedAt(): string | null {
    const [year = 0, month = 0, day = 0] = ['yr', 'mo', 'dy'].map((name) => this.#revised.get(name) ?? 0)
    if (year < 1980 || month < 1 || month > 12 || day < 1 || day > 31) return null
    return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
  }
}

/** Length limit of labels, field codes and titles. */
const MAX_COLLECTED = 10_000
