import type { Section } from '../model.ts'

/** The address of a line of a page: with the anchor of the deepest section around it that has one. */
export function anchoredUrl(url: string, sections: readonly Section[], line: number): string {
  return withAnchor(url, findAnchor(sections, line))
}

/** An address with the anchor of a section, if that has one. */
export function withAnchor(url: string, anchor: string | null): string {
  const parsed = anchor === null ? null : URL.parse(url)
  if (anchor === null || parsed === null) return url
  parsed.hash = anchor
  return parsed.href
}

/** The anchor of the deepest section around a line that has one. */
export function findAnchor(sections: readonly Section[], line: number): string | null {
  const around = sections.find(({ startLine, endLine }) => startLine <= line && line <= endLine)
  return around === undefined ? null : (findAnchor(around.children, line) ?? around.anchor)
}
