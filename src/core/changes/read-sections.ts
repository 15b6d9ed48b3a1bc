import { kindOf } from '../chunk/kind.ts'
import { parseBlocks } from '../markdown/blocks.ts'
import { FenceReader } from '../markdown/fences.ts'
import type { Kind } from '../model.ts'
import { splitLines } from '../text/lines.ts'

/** A part of a page under one heading, without the parts under deeper headings. */
export interface PageSection {
  readonly path: string
  /** Headings from the outermost to its own; empty for the text before the first heading. */
  readonly trail: readonly string[]
  /** Line of the heading, from 1. */
  readonly line: number
  /** Its lines as they are compared: without markup that only changes how they look, and without blank lines. */
  readonly lines: readonly string[]
}

/** Cuts a page of Markdown into sections. */
export function readSections(path: string, markdown: string): PageSection[] {
  const lines = splitLines(markdown)
  // The text of a file of code is not Markdown.
  if (!PROSE_KINDS.has(kindOf(path))) return [{ path, trail: [], line: 1, lines: lines.map((line) => line.trim()) }]
  const sections: PageSection[] = []
  const trail: { readonly level: number; readonly text: string }[] = []
  let current: { trail: string[]; line: number; lines: string[] } = { trail: [], line: 1, lines: [] }
  const close = () => {
    if (current.trail.length > 0 || current.lines.length > 0) sections.push({ path, ...current })
  }
  for (const { type, level, text, open, close: end } of parseBlocks(lines)) {
    if (type === 'heading') {
      close()
      while ((trail.at(-1)?.level ?? 0) >= level) trail.pop()
      trail.push({ level, text: plainLine(text) })
      current = { trail: trail.map((one) => one.text), line: open + 1, lines: [] }
    } else if (type === 'fence') {
      const fences = new FenceReader()
      for (const line of lines.slice(open, end)) {
        if (fences.read(line) === 'code' && line.trim() !== '') current.lines.push(line.replace(/\s+/g, ' ').trim())
      }
    } else {
      // Lines of a paragraph are joined, because their breaks mean nothing.
      for (const line of joinParagraphs(lines.slice(open, end))) {
        const plain = plainLine(line)
        if (plain !== '') current.lines.push(plain)
      }
    }
  }
  close()
  return sections
}

/** Kinds of pages that are Markdown. An address without an extension is a page of a site. */
const PROSE_KINDS: ReadonlySet<Kind> = new Set(['markdown', 'html', 'text', 'unknown', 'image'])

/** A line that begins a new item, row or paragraph. */
const NEW_ITEM = /^\s*(?:[-*+]\s|\d+[.)]\s|\||>|<|$)/

function joinParagraphs(lines: readonly string[]): string[] {
  const joined: string[] = []
  const fences = new FenceReader()
  let isOpen = false
  for (const line of lines) {
    const isCode = fences.read(line) !== undefined
    if (isOpen && !isCode && !NEW_ITEM.test(line)) joined.push(`${joined.pop() ?? ''} ${line}`)
    else joined.push(line)
    isOpen = !isCode && line.trim() !== '' && !line.trimStart().startsWith('|')
  }
  return joined
}

/** A line without markup, link targets and images: only its words, code and punctuation. */
export function plainLine(line: string): string {
  return line
    .replace(/!\[[^[\]]*\]\((?:[^()]|\([^()]*\))*\)/g, '')
    .replace(/\]\((?:[^()]|\([^()]*\))*\)/g, ']')
    .replace(/<\/?(?:a|b|br|code|div|em|h[1-6]|i|img|p|span|strong|su[bp])\b[^<>]*>/gi, '')
    .replace(/^\s*(?:[-*+>]\s+|\d+[.)]\s+|>+)+/, '')
    .replace(/^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/, '')
    .replace(/[[\]*`\\|¶]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
