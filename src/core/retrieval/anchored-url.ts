import type { Section } from '../model.ts'

/** The address of a line of a page: with the anchor of the deepest section around it that has one. */
export function anchoredUrl(url: string, sections: readonly Section[], line: number): string {
  const anchor = findAnchor(sections, line)
  const parsed = anchor === null ? null : URL.parse(url)
  if (anchor === null || parsed === null) return url
  parsed.hash = anchor
  return parsed.href
}

function findAnchor(sections: readonly Section[], line: number): string | null {
  const around = sections.find(({ startLine, endLine }) => startLine <= line && line <= endLine)
  return around === undefined ? null : (findAnchor(around.children, line) ?? around.anchor)
}
