import { z } from 'zod'
import type { Section } from '../../core/model.ts'
import { writeTime } from '../../core/text/iso-time.ts'
import { quote, writeCitation } from '../../library/search/display-text.ts'
import { labelOf } from '../../library/source.ts'
import { PAGE, pageOf } from '../page-arguments.ts'
import { orNull, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `list_outline`: lists the headings of a page. */
export const listOutline: Tool = createTool({
  name: 'list_outline',
  description:
    'Lists the headings of a stored page with level, anchor, first and last line. Use it to choose startLine and endLine for read_page.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({ ...PAGE }),
  output: z.object({
    title: z.string(),
    url: z.string(),
    source: z.string(),
    version: orNull(z.string()),
    totalLines: z.number(),
    sections: z.array(
      z.object({
        title: z.string(),
        level: z.number(),
        anchor: orNull(z.string()),
        startLine: z.number(),
        endLine: z.number(),
      }),
    ),
    checkedAt: unlisted(z.string()),
    changedAt: unlisted(z.string()),
  }),
  async run(args, { library }) {
    const { listOutline: list } = await import('../../library/search/list-outline.ts')
    const outline = await list(await library(), pageOf(args))
    const { title, url, lines, checkedAt, changedAt } = outline
    const sections = flatten(outline.sections)
    const label = labelOf(outline.source)
    const citation = { title, url, headingPath: [], startLine: 1, endLine: lines, source: label, chunk: null }
    const rows = sections.map(({ title: name, level, startLine, endLine }) => {
      return `${'  '.repeat(level - 1)}${quote(name)} (lines ${startLine}-${endLine})`
    })
    return {
      content: [writeCitation(citation), rows.length === 0 ? 'This page has no headings.' : rows.join('\n')],
      structured: {
        title,
        url,
        source: label,
        version: outline.source.version,
        totalLines: lines,
        sections,
        checkedAt: writeTime(checkedAt),
        changedAt: writeTime(changedAt),
      },
    }
  },
})

/** Flattens the section tree in line order; `level` tells the depth. */
function flatten(sections: readonly Section[]): Omit<Section, 'children'>[] {
  return sections.flatMap(({ children, title, level, anchor, startLine, endLine }) => {
    return [{ title, level, anchor, startLine, endLine }, ...flatten(children)]
  })
}
