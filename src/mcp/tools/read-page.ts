import { z } from 'zod'
import { writeTime } from '../../core/text/iso-time.ts'
import { writeCitation } from '../../library/search/display-text.ts'
import { labelOf, versionFieldsOf } from '../../library/source.ts'
import { PAGE, pageOf } from '../page-arguments.ts'
import { cutPart, PART, PART_POSITION, writeContinuation } from '../page-part.ts'
import { number, orNull, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `read_page`: reads a stored page. */
export const readPage: Tool = createTool({
  name: 'read_page',
  description:
    'Returns a stored page as Markdown, by the URL that search_docs cites. To continue, pass nextLine and nextColumn as startLine and startColumn.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    ...PAGE,
    ...PART,
    endLine: number(),
  }),
  output: z.object({
    title: z.string(),
    url: z.string(),
    source: z.string(),
    version: unlisted(orNull(z.string())),
    packagePage: unlisted(z.string().optional()),
    language: unlisted(orNull(z.string())),
    ...PART_POSITION,
    text: z.string(),
    checkedAt: unlisted(z.string()),
    changedAt: unlisted(z.string()),
  }),
  async run(args, { library }) {
    const { findPage } = await import('../../library/search/find-page.ts')
    const page = await findPage(await library(), pageOf(args))
    const { text, position } = cutPart(page.markdown, args)
    const { title, url, language, checkedAt, changedAt } = page
    const source = labelOf(page.source)
    const versionFields = versionFieldsOf(page.source, url)
    const citation = { title, url, headingPath: [], ...position, source, ...versionFields, chunk: null }
    return {
      content: [`${writeCitation(citation)}${writeContinuation(position)}`, { pageText: text }],
      structured: {
        title,
        url,
        source,
        ...versionFields,
        language,
        ...position,
        text,
        checkedAt: writeTime(checkedAt),
        changedAt: writeTime(changedAt),
      },
    }
  },
})
