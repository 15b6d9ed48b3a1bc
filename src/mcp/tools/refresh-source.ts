import { z } from 'zod'
import { writeLabel } from '../../library/search/display-text.ts'
import { findNamedSource } from '../find-named-source.ts'
import { flag, ONE_SOURCE, text } from '../schemas.ts'
import { STARTED_CRAWL, writeStartedCrawl } from '../started-crawl.ts'
import { createTool, type Tool } from '../tool.ts'

/** `refresh_source`: requests the known pages again. */
export const refreshSource: Tool = createTool({
  name: 'refresh_source',
  description:
    'Requests the known pages of a source again and updates those that changed, in the background. Faster than recrawl_source, which also finds new pages. Returns crawlId at once; poll crawl_status.',
  effects: { isDestructive: true, isIdempotent: true, isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    ...ONE_SOURCE,
    version: text(),
    discover: flag('Also fetch newly linked pages.'),
    acceptLoss: flag('Remove pages that are gone, however many.'),
  }),
  output: STARTED_CRAWL,
  async run(args, { library, jobs, progress }) {
    const opened = await library()
    const source = await findNamedSource(opened, args)
    await progress(0, 1, 'starting')
    const { discover = false, acceptLoss = false } = args
    const crawlId = await (await jobs()).start(source, { kind: 'refresh', discover, acceptLoss })
    await progress(1, 1, 'crawling')
    return writeStartedCrawl(opened, source, crawlId, `Refreshing ${writeLabel(source)}`)
  },
})
