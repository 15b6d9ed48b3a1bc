import { FenceReader } from '../markdown/fences.ts'
import type { Page, Section } from '../model.ts'

/** Counts of a page's text. */
export interface ContentMeasure {
  /** Visible characters without code; characters that stand for words or syllables count more. */
  readonly text: number
  /** Visible characters inside links. */
  readonly linkText: number
  /** Visible characters in paragraphs of prose, which are long and not mostly links. */
  readonly prose: number
  /** Characters in blocks of code. */
  readonly code: number
  readonly paragraphs: number
  readonly proseParagraphs: number
  /** Number of lines that start with a link, including headings and list items. A list of pages has many. */
  readonly teasers: number
  /** Number of links in the text, without images. */
  readonly links: number
  readonly h2: number
  readonly h3: number
}

/** Minimum length of prose; shorter paragraphs are labels, bylines and teasers. */
const PROSE_CHARS = 120
/** Minimum length of prose that starts with a link or follows one; shorter paragraphs are teasers. */
const TEASER_CHARS = 400
/** Share of linked text from which a paragraph is a list. */
const MAX_PROSE_LINK_SHARE = 0.4

/** Measures the Markdown of a page. It reads the lines once and builds no structures, because it runs for every page of every crawl. */
export function measureContent({ markdown, sections }: Pick<Page, 'markdown' | 'sections'>): ContentMeasure {
  let text = 0
  let linkText = 0
  let prose = 0
  let code = 0
  let paragraphs = 0
  let proseParagraphs = 0
  let teasers = 0
  let links = 0
  const fences = new FenceReader()
  let paragraphText = 0
  let paragraphLinkText = 0
  let isTeaser = false
  const endParagraph = () => {
    if (paragraphText === 0) return
    paragraphs++
    // A short paragraph after a link to a page describes that page.
    const minChars = isTeaser ? TEASER_CHARS : PROSE_CHARS
    if (paragraphText >= minChars && paragraphLinkText < paragraphText * MAX_PROSE_LINK_SHARE) {
      prose += paragraphText
      proseParagraphs++
    }
    paragraphText = 0
    paragraphLinkText = 0
    isTeaser = false
  }
  for (let start = 0; start < markdown.length; ) {
    let end = markdown.indexOf('\n', start)
    if (end < 0) end = markdown.length
    let at = start
    while (at < end && isMark(markdown.charCodeAt(at))) at++
    const first = markdown.charCodeAt(at)
    const part = fences.read(markdown.slice(start, end))
    if (part === 'code') code += end - start
    else if (part !== undefined) endParagraph()
    else if (at >= end) endParagraph()
    else {
      const line = measureLine(markdown, at, end)
      const isHeading = markdown.charCodeAt(start) === HASH
      // List items, headings and table rows do not continue the paragraph before them.
      if (at > start || first === PIPE) endParagraph()
      text += line.text
      linkText += line.linkText
      links += line.links
      if (line.links > 0 && (first === OPEN_BRACKET || first === BANG)) {
        teasers++
        isTeaser = true
      }
      if (isHeading || first === PIPE) paragraphText = 0
      else {
        paragraphText += line.text
        paragraphLinkText += line.linkText
      }
    }
    start = end + 1
  }
  endParagraph()
  return { text, linkText, prose, code, paragraphs, proseParagraphs, teasers, links, ...countHeadings(sections) }
}

const TAB = 0x09
const SPACE = 0x20
const BANG = 0x21
const HASH = 0x23
const PARENTHESIS = 0x28
const END_PARENTHESIS = 0x29
const STAR = 0x2a
const PLUS = 0x2b
const HYPHEN = 0x2d
const GREATER = 0x3e
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const PIPE = 0x7c

/** Whether a character precedes the text of a line: indentation, and marks of lists, headings and quotes. */
function isMark(unit: number): boolean {
  return (
    unit === SPACE ||
    unit === HYPHEN ||
    unit === HASH ||
    unit === STAR ||
    unit === GREATER ||
    unit === PLUS ||
    unit === TAB
  )
}

/** Range of Chinese, Japanese and Korean characters, each of which says as much as three letters. */
const DENSE_FROM = 0x2e80
const DENSE_TO = 0xd7b0
const DENSE_EXTRA_CHARS = 2

/** Counts of a line. */
interface LineMeasure {
  readonly text: number
  readonly linkText: number
  readonly links: number
}

/** Counts the visible characters of a line and those in its links, in one pass; link targets and images are not visible. */
function measureLine(markdown: string, from: number, to: number): LineMeasure {
  let text = to - from
  let linkText = 0
  let links = 0
  let bracketStart = -1
  let dense = 0
  let denseBefore = 0
  for (let i = from; i < to; i++) {
    const unit = markdown.charCodeAt(i)
    if (unit >= DENSE_FROM && unit < DENSE_TO) dense++
    else if (unit === OPEN_BRACKET) {
      bracketStart = i
      denseBefore = dense
    } else if (unit === CLOSE_BRACKET && bracketStart >= 0 && markdown.charCodeAt(i + 1) === PARENTHESIS) {
      const labelLength = i - bracketStart - 1
      const end = endOfTarget(markdown, i, to)
      text -= end - i
      if (bracketStart > from && markdown.charCodeAt(bracketStart - 1) === BANG) text -= labelLength + 2
      else {
        text--
        linkText += labelLength + DENSE_EXTRA_CHARS * (dense - denseBefore)
        links++
      }
      bracketStart = -1
      i = end - 1
    }
  }
  return { text: Math.max(0, text) + DENSE_EXTRA_CHARS * dense, linkText, links }
}

function endOfTarget(markdown: string, from: number, to: number): number {
  for (let i = from; i < to; i++) if (markdown.charCodeAt(i) === END_PARENTHESIS) return i + 1
  return to
}

function countHeadings(sections: readonly Section[]): { readonly h2: number; readonly h3: number } {
  let h2 = 0
  let h3 = 0
  const visit = (list: readonly Section[]) => {
    for (const { level, children } of list) {
      if (level === 2) h2++
      else if (level === 3) h3++
      visit(children)
    }
  }
  visit(sections)
  return { h2, h3 }
}
