import { z } from 'zod'
import { writeEmptyLibrary } from '../empty-library.ts'
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
    return {
      content: [lines.length === 0 ? writeEmptyLibrary(isReadOnly) : lines.join('\n')],
      structured: { sources: listed.map(listedRecord) },
    }
  },
})
