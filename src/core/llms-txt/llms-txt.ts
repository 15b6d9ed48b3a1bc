import { resolveHttp } from '../extract/resolve.ts'
import { isBlank, splitLines } from '../text/lines.ts'
import { type InlineLink, isHtml, markFences, readHeading, scanLinks } from './scan.ts'

/** The content of an llms.txt. */
export interface LlmsTxt {
  readonly type: 'llms-txt'
  /** The first heading of the first level; null if there is none. */
  readonly projectName: string | null
  /** The quotation below the first heading; null if there is none. */
  readonly summary: string | null
  /** Headings of the second level, in order. */
  readonly sections: readonly string[]
  readonly links: readonly LlmsLink[]
}

/** One address an llms.txt lists. */
export interface LlmsLink {
  readonly title: string
  /** Absolute, http or https. */
  readonly url: string
  readonly description: string | null
  /** Whether the link is in the section `Optional`. */
  readonly isOptional: boolean
  /** The section of the link; null above the first section. */
  readonly section: string | null
}

/** A text that is not an llms.txt, and the reason. */
export interface NoLlmsTxt {
  readonly type: 'none'
  readonly reason: 'empty' | 'binary' | 'html' | 'no-links'
}

const MAX_URL = 2000
const ITEM = /^\s*[-*+]\s+/

/**
 * Parses an llms.txt found at `url` line by line: headings, and list items with web links. Code fences are ignored. A link may have a
 * description after it, and a line several links.
 */
export function parseLlmsTxt(text: string, url: string): LlmsTxt | NoLlmsTxt {
  const problem = findMarkdownProblem(text)
  if (problem !== undefined) return { type: 'none', reason: problem }
  const lines = splitLines(text.replace(/^\ufeff/, ''))
  const fences = markFences(lines)
  const sections: string[] = []
  const links: LlmsLink[] = []
  const quote: string[] = []
  let projectName: string | null = null
  let section: string | null = null
  let isBelowTitle = false
  for (const [i, line] of lines.entries()) {
    if (fences[i] === true || isBlank(line)) continue
    const heading = readHeading(line) ?? readUnderlined(line, lines[i + 1])
    if (heading !== undefined) {
      isBelowTitle = heading.level === 1 && projectName === null
      const name = plainText(heading.text)
      if (heading.level === 1) projectName ??= name
      if (heading.level === 2) sections.push(name)
      if (heading.level <= 2) section = heading.level === 2 ? name : null
    } else if (ITEM.test(line)) {
      isBelowTitle = false
      for (const link of readItem(line, url)) {
        links.push({ ...link, isOptional: section?.toLowerCase() === 'optional', section })
      }
    } else if (isBelowTitle && /^ {0,3}>/.test(line)) {
      quote.push(line.replace(/^ {0,3}> ?/, '').trim())
    }
  }
  if (links.length === 0) return { type: 'none', reason: 'no-links' }
  const summary = quote.join(' ').trim()
  return { type: 'llms-txt', projectName, summary: summary === '' ? null : summary, sections, links }
}

/** A file with at least this share of lines with links is a list of links. */
const MIN_LINK_SHARE = 0.3

/**
 * Whether a text is a list of links rather than content: it begins with a heading, and at least three in ten of the lines that are neither
 * headings nor quotes hold a link.
 */
export function isLinkIndex(text: string): boolean {
  let hasHeading = false
  let lineCount = 0
  let linkLineCount = 0
  for (const line of splitLines(text.replace(/^\ufeff/, ''))) {
    if (isBlank(line)) continue
    const isHeading = readHeading(line) !== undefined
    if (!hasHeading && !isHeading) return false
    hasHeading = true
    if (isHeading || /^\s*>/.test(line)) continue
    lineCount++
    if (scanLinks(line).length > 0) linkLineCount++
  }
  return lineCount > 0 && linkLineCount / lineCount >= MIN_LINK_SHARE
}

/** The reason why a text cannot be an llms.txt or llms-full.txt; undefined if it can. */
export function findMarkdownProblem(text: string): 'empty' | 'binary' | 'html' | undefined {
  if (isBlank(text)) return 'empty'
  if (text.includes('\0')) return 'binary'
  return isHtml(text) ? 'html' : undefined
}

function readUnderlined(line: string, next: string | undefined): { level: number; text: string } | undefined {
  // Only underlined headings of the first level count: a line of hyphens is more often a rule.
  if (next === undefined || !/^ {0,3}={2,}\s*$/.test(next)) return undefined
  return /^\s*(?:[-*+>|]|=+\s*$)/.test(line) ? undefined : { level: 1, text: line.trim() }
}

function readItem(line: string, base: string): { title: string; url: string; description: string | null }[] {
  const found = scanLinks(line)
  return found.flatMap((link, i) => {
    const url = link.href === '' ? undefined : resolveHttp(link.href, base)
    if (url === undefined || url.length > MAX_URL) return []
    const description = line
      .slice(link.end, found[i + 1]?.start ?? line.length)
      .replace(/^[\s:,;|–—-]+/, '')
      .trimEnd()
      .replace(/[,;|]$/, '')
    return [{ title: titleOf(link, url), url, description: description === '' ? null : description }]
  })
}

function titleOf(link: InlineLink, url: string): string {
  const title = plainText(link.title)
  return title === '' ? url : title
}

/** Text without the marks of emphasis and code, and without escapes. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/\\([!-/:-@[-`{-~])|\*\*|__|[*`]/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
