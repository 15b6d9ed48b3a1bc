import type { Page, Section, SectionMark, Sha256 } from '../model.ts'
import { splitLines } from '../text/lines.ts'
import { measureMarkdown } from './measure.ts'
import { escapeHeading, escapeText } from './write/escape.ts'
import { createSections, type HeadingPosition } from './write/sections.ts'

/** One of the pages that are joined. */
export interface JoinedPart {
  /** Fragment that leads to the part. It is also the heading of a page without a title. */
  readonly name: string
  readonly page: Page
}

/** Joins several pages into one, each under its own heading. The metadata comes from the first page. */
export function joinPages(parts: readonly [JoinedPart, ...JoinedPart[]], title: string, sha256?: Sha256): Page {
  const lines: string[] = []
  const headings: HeadingPosition[] = []
  const marks: SectionMark[] = []
  for (const { name, page } of parts) {
    if (lines.length > 0) lines.push('')
    const startLine = lines.length + 1
    marks.push({ line: startLine, anchor: name })
    const [first] = page.sections
    const hasOwnHeading = first?.startLine === 1 && first.level === 1
    if (!hasOwnHeading) {
      const heading = page.title || name
      headings.push({ title: heading, level: 1, anchor: name, startLine })
      lines.push(`# ${escapeHeading(escapeText(heading, '', false))}`, '')
    }
    const lineOffset = lines.length
    for (const section of listSections(page.sections)) {
      headings.push({
        ...section,
        startLine: section.startLine + lineOffset,
        ...(section === first && hasOwnHeading ? { anchor: name } : {}),
      })
      for (const mark of section.marks ?? []) marks.push({ ...mark, line: mark.line + lineOffset })
    }
    for (const line of splitLines(page.markdown.trimEnd())) lines.push(line)
  }
  const markdown = `${lines.join('\n')}\n`
  return {
    ...parts[0].page,
    title,
    markdown,
    sections: createSections(lines, headings, marks),
    links: parts.flatMap(({ page }) => page.links),
    hiddenChars: parts.reduce((sum, { page }) => sum + page.hiddenChars, 0),
    ...measureMarkdown(markdown, sha256),
  }
}

/** All sections in the order of their lines. */
function* listSections(sections: readonly Section[]): Generator<Section, void, void> {
  for (const section of sections) {
    yield section
    yield* listSections(section.children)
  }
}
