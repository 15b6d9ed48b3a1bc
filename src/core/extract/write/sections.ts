import type { Section } from '../../model.ts'
import type { LaidOut } from './lay-out.ts'

type Draft = Omit<Section, 'endLine' | 'children'> & { endLine: number; children: Draft[] }

/** The headings as a tree. A section ends before the next heading that is not below it. */
export function createSections({ lines, headings }: LaidOut): Section[] {
  const roots: Draft[] = []
  const open: Draft[] = []
  const closeFrom = (level: number, endLine: number) => {
    for (let last = open.at(-1); last !== undefined && last.level >= level; last = open.at(-1)) {
      last.endLine = endLine
      open.pop()
    }
  }
  for (const { heading, line } of headings) {
    // The line before a heading is blank.
    closeFrom(heading.level, line - 2)
    const { title, level, anchor } = heading
    const draft: Draft = { title, level, anchor, startLine: line, endLine: line, children: [] }
    const siblings = open.at(-1)?.children ?? roots
    siblings.push(draft)
    open.push(draft)
  }
  closeFrom(0, lines.length)
  return roots
}
