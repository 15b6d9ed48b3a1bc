import { DocumentError } from '../document.ts'
import { isFixedWidth } from '../office/office-blocks.ts'
import type { PDFDocumentProxy, PDFPageProxy } from './library.ts'

/** A piece of text on a page in one font. Positions are in points from the upper left corner. */
export interface Fragment {
  readonly text: string
  readonly left: number
  readonly right: number
  /** Vertical position of the baseline. */
  readonly baseline: number
  /** Height of the font. */
  readonly size: number
  readonly font: FontLook
  readonly isRightToLeft: boolean
  /** URL that the text links to; null without a link. */
  readonly link: string | null
}

/** The look of a font. */
export interface FontLook {
  readonly isBold: boolean
  readonly isItalic: boolean
  readonly isFixed: boolean
}

/** The text of one page. */
export interface PageText {
  /** From 1. */
  readonly number: number
  readonly width: number
  readonly height: number
  readonly fragments: readonly Fragment[]
}

/** Limit of text pieces on a page; no readable page has more. */
const MAX_FRAGMENTS = 20_000
/** Limit of pages whose font names are read, because that requires preparing the page for drawing, which is slow. */
const MAX_FONT_PAGES = 200

/** Reads the text of pages. Each font is examined once for all pages. */
export class PdfTextReader {
  readonly #document: PDFDocumentProxy
  readonly #fonts = new Map<string, FontLook>()
  #fontPages = 0

  constructor(document: PDFDocumentProxy) {
    this.#document = document
  }

  async read(number: number): Promise<PageText> {
    const page = await this.#document.getPage(number)
    const { width, height, transform } = page.getViewport({ scale: 1 })
    const { pieces, families } = await readPieces(page)
    await this.#examineFonts(page, families)
    const links = pieces.length === 0 ? [] : await readLinks(page, transform)
    const fragments: Fragment[] = []
    for (const piece of pieces) {
      const fragment = this.#locate(piece, transform)
      if (fragment !== undefined) fragments.push(...splitByLinks(fragment, links))
    }
    page.cleanup()
    return { number, width, height, fragments }
  }

  /** Position of a piece on the visible page; undefined for rotated text, such as stamps in the margin, and for blank pieces. */
  #locate(piece: Piece, viewport: readonly number[]): Fragment | undefined {
    const text = cleanText(piece.text)
    if (text.trim() === '') return undefined
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = multiply(viewport, piece.transform)
    const size = Math.hypot(c, d)
    if (!(size > 0) || Math.abs(b) > 0.1 * Math.abs(a)) return undefined
    const isMirrored = a < 0
    const left = isMirrored ? e - piece.width : e
    const font = this.#fonts.get(piece.font) ?? DEFAULT_FONT
    return {
      text,
      left,
      right: left + piece.width,
      baseline: f,
      size,
      font,
      isRightToLeft: piece.isRightToLeft,
      link: null,
    }
  }

  async #examineFonts(page: PDFPageProxy, families: ReadonlyMap<string, string>): Promise<void> {
    const unknown = [...families.keys()].filter((id) => !this.#fonts.has(id))
    if (unknown.length === 0) return
    if (this.#fontPages++ < MAX_FONT_PAGES) await page.getOperatorList().catch(() => undefined)
    for (const id of unknown) {
      const name = page.commonObjs.has(id) ? nameOf(page.commonObjs.get(id)) : ''
      this.#fonts.set(id, {
        isBold: /bold|black|heavy|demi|cmbx|sfbx|-bd\b/i.test(name),
        isItalic: /italic|oblique|slanted|cmti|cmsl\d|-it\b/i.test(name),
        isFixed: isFixedWidth(name) || families.get(id) === 'monospace',
      })
    }
  }
}

const DEFAULT_FONT: FontLook = { isBold: false, isItalic: false, isFixed: false }

function nameOf(font: unknown): string {
  const name = typeof font === 'object' && font !== null && 'name' in font ? font.name : undefined
  return typeof name === 'string' ? name : ''
}

interface Piece {
  readonly text: string
  readonly transform: readonly number[]
  readonly width: number
  readonly font: string
  readonly isRightToLeft: boolean
}

/**
 * Reads a page in parts, so that reading can stop at a page with too much text.
 * @throws {DocumentError} when it has more pieces than allowed
 */
async function readPieces(page: PDFPageProxy): Promise<{ pieces: Piece[]; families: Map<string, string> }> {
  const pieces: Piece[] = []
  const families = new Map<string, string>()
  const reader = page.streamTextContent({ includeMarkedContent: false }).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    for (const [id, style] of Object.entries<{ fontFamily: string }>(part.value.styles)) {
      families.set(id, style.fontFamily)
    }
    for (const item of part.value.items) {
      if (!('str' in item) || item.str === '') continue
      const { str, transform, width, fontName, dir } = item
      pieces.push({ text: str, transform, width, font: fontName, isRightToLeft: dir === 'rtl' })
    }
    if (pieces.length <= MAX_FRAGMENTS) continue
    // Cancels the stream; otherwise pdf.js would wait for a consumer of the remaining text until the document is closed.
    reader.cancel(new Error('The page is read no further')).catch(() => undefined)
    throw new DocumentError('too-large', `page ${page.pageNumber} has more than ${MAX_FRAGMENTS} pieces of text`)
  }
  return { pieces, families }
}

/** The area of a link on the visible page. */
interface LinkArea {
  readonly address: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

const MAX_LINKS = 500

async function readLinks(page: PDFPageProxy, viewport: readonly number[]): Promise<LinkArea[]> {
  const areas: LinkArea[] = []
  for (const annotation of await page.getAnnotations().catch(() => [])) {
    const { subtype, url, rect } = annotation as { subtype?: unknown; url?: unknown; rect?: unknown }
    if (subtype !== 'Link' || typeof url !== 'string' || !Array.isArray(rect) || areas.length >= MAX_LINKS) continue
    const [x0, y0, x1, y1] = rect.map(Number)
    const firstCorner = multiply(viewport, [1, 0, 0, 1, x0 ?? 0, y0 ?? 0])
    const secondCorner = multiply(viewport, [1, 0, 0, 1, x1 ?? 0, y1 ?? 0])
    const [ax = 0, ay = 0] = firstCorner.slice(4)
    const [bx = 0, by = 0] = secondCorner.slice(4)
    areas.push({
      address: url,
      left: Math.min(ax, bx),
      right: Math.max(ax, bx),
      top: Math.min(ay, by),
      bottom: Math.max(ay, by),
    })
  }
  return areas
}

/** Splits a piece of which only some words are a link. Their position is estimated from letter widths. */
function splitByLinks(fragment: Fragment, links: readonly LinkArea[]): Fragment[] {
  const { text, left, right, baseline, size } = fragment
  const area = links.find(
    (link) =>
      link.top <= baseline - 0.3 * size &&
      baseline - 0.3 * size <= link.bottom &&
      link.left < right &&
      link.right > left,
  )
  if (area === undefined) return [fragment]
  const width = (right - left) / Math.max(1, text.length)
  const start = wordEdge(text, Math.round((Math.max(area.left, left) - left) / width), 'start')
  let end = wordEdge(text, Math.round((Math.min(area.right, right) - left) / width), 'end')
  // Punctuation at the end is narrower than the average letter that the estimate uses.
  if (area.right < right - 1 && /[.,;:!?)]/.test(text[end - 1] ?? '')) end--
  if (start >= end) return [fragment]
  const cut = (from: number, to: number, link: string | null): Fragment[] => {
    const part = text.slice(from, to)
    return part.trim() === ''
      ? []
      : [{ ...fragment, text: part, left: left + from * width, right: left + to * width, link }]
  }
  return [...cut(0, start, null), ...cut(start, end, area.address), ...cut(end, text.length, null)]
}

const MAX_SHIFT = 4

/** The nearest start or end of a word. */
function wordEdge(text: string, near: number, side: 'start' | 'end'): number {
  for (let shift = 0; shift <= MAX_SHIFT; shift++) {
    for (const at of [near - shift, near + shift]) {
      if (at <= 0 || at >= text.length) {
        if (at === 0 || at === text.length) return at
        continue
      }
      const [before, after] = [/\p{L}|\p{N}/u.test(text[at - 1] ?? ''), /\p{L}|\p{N}/u.test(text[at] ?? '')]
      if (side === 'start' ? !before && after : before && !after) return at
    }
  }
  return Math.max(0, Math.min(near, text.length))
}

function multiply(m: readonly number[], n: readonly number[]): number[] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = m
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = n
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f]
}

/** Private use characters, and C1 controls (such as U+0095, the Windows-1252 bullet), are mostly bullets. */
const BULLET_LIKE = /[\u0080-\u009f\ue000-\uf8ff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f\ufffe\uffff]/g

function cleanText(text: string): string {
  return text
    .replace(CONTROL_CHARACTERS, '')
    .replace(BULLET_LIKE, '•')
    .replace(/\u00a0/g, ' ')
}
