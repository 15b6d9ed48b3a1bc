import type { Section } from '../model.ts'
import { writeLinesUrl } from '../url/repository-url.ts'

/** Some lines of a page, to cite. */
export interface CitedLines {
  /** The address of the source that the page belongs to. */
  readonly source: string
  readonly url: string
  /** The anchor of their section; null if it has none. */
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

/** The anchor of the deepest section with an anchor around a line, or of the last mark of that section at or before the line. */
export function findAnchor(sections: readonly Section[], line: number): string | null {
  const around = sections.find(({ startLine, endLine }) => startLine <= line && line <= endLine)
  if (around === undefined) return null
  const place = around.marks?.findLast((mark) => mark.line <= line)?.anchor ?? ''
  return findAnchor(around.children, line) ?? (place === '' ? around.anchor : place)
}
