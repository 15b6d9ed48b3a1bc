import type { Section } from '../../model.ts'
import { isBlank } from '../../text/lines.ts'

/** A heading, and its line from 1. */
export type PlacedHeading = Pick<Section, 'title' | 'level' | 'anchor' | 'startLine'>

type Draft = Omit<Section, 'endLine' | 'children'> & { endLine: number; children: Draft[] }

/** The headings of Markdown as a tree. A section ends before the next heading that is not below it. */
export function createSections(lines: readonly string[], headings: Iterable<PlacedHeading>): Section[] {
  const roots: Draft[] = []
  const open: Draft[] = []
  const closeFrom = (level: number, before: number) => {
    let endLine = before
    while (endLine > 1 && isBlank(lines[endLine - 1] ?? '')) endLine--
    for (let last = open.at(-1); last !== undefined && last.level >= level; last = open.at(-1)) {
      last.endLine = endLine
      open.pop()
    }
  }
  for (const { title, level, anchor, startLine } of headings) {
    closeFrom(level, startLine - 1)
    const draft: Draft = { title, level, anchor, startLine, endLine: startLine, children: [] }
    const siblings = open.at(-1)?.children ?? roots
    siblings.push(draft)
    open.push(draft)
  }
  closeFrom(0, lines.length)
  return roots
}
