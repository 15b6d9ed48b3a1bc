import { z } from 'zod'
import { LISTED_SOURCE, listedRecord, readSourceList, writeListed } from '../source-list.ts'
import { createTool, type Tool } from '../tool.ts'

/** `list_sources`: what the library holds. */
export const listSources: Tool = createTool({
  name: 'list_sources',
  title: 'List sources',
  description: `Lists every indexed source: name (with version), start URL, status (PENDING, CRAWLING, INDEXED, UPDATING, ERROR), number of pages and chunks (how many are prose and how many code), and when it was last crawled.
Use it to learn what search_docs can answer from, and the names that other tools take as source.`,
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({}),
  output: z.object({ sources: z.array(LISTED_SOURCE) }),
  async run(_args, { library, isReadOnly }) {
    const listed = await readSourceList(await library())
    const lines = listed.map(writeListed)
    const none = `There are no sources yet${isReadOnly ? '' : '; add_source adds one'}.`
    return {
      content: [lines.length === 0 ? none : lines.join('\n')],
      structured: { sources: listed.map(listedRecord) },
    }
  },
})
