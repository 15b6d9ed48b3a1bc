import { z } from 'zod'
import { countOf } from '../../core/text/count.ts'
import { writeLabel } from '../../library/search/display-text.ts'
import { findNamedSource } from '../find-named-source.ts'
import { sourceRecord } from '../records.ts'
import { ONE_SOURCE, SOURCE_RECORD, text } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `remove_source`: removes a source from the library. */
export const removeSource: Tool = createTool({
  name: 'remove_source',
  description:
    'Removes one source with all its pages from the library, and cancels its crawl. This cannot be undone. A name with several versions needs the version; a range must match one.',
  effects: { isDestructive: true },
  isSafe: false,
  input: z.strictObject({ ...ONE_SOURCE, version: text() }),
  output: z.object({ removed: SOURCE_RECORD, pages: z.number(), chunks: z.number(), cancelled: z.boolean() }),
  async run(args, { library, jobs }) {
    const opened = await library()
    const { removeSource: removeFrom } = await import('../../library/sources/remove-source.ts')
    const source = await findNamedSource(opened, args, true)
    const running = (await jobs()).list().find(({ sourceId, endedAt }) => sourceId === source.id && endedAt === null)
    const cancelled = running !== undefined && (await (await jobs()).cancel(running.crawlId))
    const { pages, chunks } = await removeFrom(opened, source.id)
    const size = `${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')}`
    return {
      content: [`Removed ${writeLabel(source)}: ${size}.${cancelled ? ' Its crawl was cancelled.' : ''}`],
      structured: { removed: sourceRecord(source), pages, chunks, cancelled },
    }
  },
})
