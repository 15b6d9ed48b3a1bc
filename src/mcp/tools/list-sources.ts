import { z } from 'zod'
import { LISTED_SOURCE, listedRecord, readSourceList, writeListed } from '../source-list.ts'
import { createTool, type Tool } from '../tool.ts'

/** `list_sources`: lists the sources of the library. */
export const listSources: Tool = createTool({
  name: 'list_sources',
  description:
    'Lists the sources in the library: name, version, URL, status, size, last crawl. Shows what search_docs can answer from.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({}),
  output: z.object({ sources: z.array(LISTED_SOURCE) }),
  async run(_args, { library, isReadOnly }) {
    const listed = await readSourceList(await library())
    const lines = listed.map((source) => writeListed(source, isReadOnly))
    const none = `There are no sources yet${isReadOnly ? '' : '; add_source adds one'}.`
    return {
      content: [lines.length === 0 ? none : lines.join('\n')],
      structured: { sources: listed.map(listedRecord) },
    }
  },
})
