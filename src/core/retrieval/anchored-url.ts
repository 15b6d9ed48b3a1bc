import type { Section } from '../model.ts'
import { writeLinesUrl } from '../url/repository-url.ts'

/** Lines of a page to cite. */
export interface CitedLines {
  /** The address of the source that the page belongs to. */
  readonly source: string
  readonly url: string
  /** The anchor of the section that has the lines; null if there is none. */
  readonly anchor: string | null
  /** Whether the page is an unchanged file. Documents are converted to Markdown, so their lines differ. */
  readonly isVerbatimFile: boolean
  readonly startLine: number
  readonly endLine: number
}

/** The address where a reader opens some lines: at their section, or, in an unchanged file of a repository, at the lines themselves. */
export function writeCitationUrl({ source, url, anchor, isVerbatimFile, startLine, endLine }: CitedLines): string {
  if (anchor !== null || !isVerbatimFile) return withAnchor(url, anchor)
  return writeLinesUrl(source, url, startLine, endLine) ?? url
}

/** An address with the anchor of a section, unless there is none or the address already has a fragment. */
export function withAnchor(url: string, anchor: string | null): string {
  const parsed = anchor === null ? null : URL.parse(url)
  if (anchor === null || parsed === null || parsed.hash !== '') return url
  parsed.hash = anchor
  return parsed.href
}

/** The anchor for a line: of the deepest section around it that has an anchor, or of the last mark there at or before the line. */
export function findAnchor(sections: readonly Section[], line: number): string | null {
  const enclosing = sections.find(({ startLine, endLine }) => startLine <= line && line <= endLine)
  if (enclosing === undefined) return null
  const markAnchor = enclosing.marks?.findLast((mark) => mark.line <= line)?.anchor ?? ''
  return findAnchor(enclosing.children, line) ?? (markAnchor === '' ? enclosing.anchor : markAnchor)
}
