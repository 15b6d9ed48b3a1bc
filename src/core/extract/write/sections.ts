import type { Section, SectionMark } from '../../model.ts'
import { isBlank } from '../../text/lines.ts'

/** A heading and its line number, which counts from 1. */
export type HeadingPosition = Pick<Section, 'title' | 'level' | 'anchor' | 'startLine'>

type Draft = Omit<Section, 'endLine' | 'children' | 'marks'> & {
  endLine: number
  children: Draft[]
  marks?: SectionMark[]
}

/**
 * The headings of Markdown as a tree. A section ends before the next heading of its level or above. Marks are in line order, each in the
 * section where it begins; those before the first heading are in none.
 */
export function createSections(
  lines: readonly string[],
  headings: Iterable<HeadingPosition>,
  marks: readonly SectionMark[] = [],
): Section[] {
  const roots: Draft[] = []
  const open: Draft[] = []
  const closeFrom = (level: number, lastLine: number) => {
    let endLine = lastLine
    while (endLine > 1 && isBlank(lines[endLine - 1] ?? '')) endLine--
    for (let last = open.at(-1); last !== undefined && last.level >= level; last = open.at(-1)) {
      last.endLine = endLine
      open.pop()
    }
  }
  let nextMark = 0
  const addMark = (section: Draft | undefined, mark: SectionMark | undefined) => {
    if (section === undefined || mark === undefined) return
    section.marks ??= []
    section.marks.push(mark)
  }
  const markUpTo = (line: number, section: Draft | undefined) => {
    for (let mark = marks[nextMark]; mark !== undefined && mark.line <= line; mark = marks[++nextMark]) {
      addMark(section, mark)
    }
  }
  for (const { title, level, anchor, startLine } of headings) {
    markUpTo(startLine - 1, open.at(-1))
    // A mark without a fragment ends the one before it. If it is on the line of a heading, it belongs to the section before the heading.
    if (marks[nextMark]?.line === startLine && marks[nextMark]?.anchor === '') addMark(open.at(-1), marks[nextMark++])
    closeFrom(level, startLine - 1)
    const draft: Draft = { title, level, anchor, startLine, endLine: startLine, children: [] }
    const siblings = open.at(-1)?.children ?? roots
    siblings.push(draft)
    open.push(draft)
    markUpTo(startLine, draft)
    // A heading without an anchor of its own gets the fragment that applies there.
    const lastMark = marks[nextMark - 1]
    if (lastMark !== undefined && lastMark.anchor !== '' && anchor === null) {
      draft.marks ??= [{ line: startLine, anchor: lastMark.anchor }]
    }
  }
  markUpTo(lines.length, open.at(-1))
  closeFrom(0, lines.length)
  return roots
}
