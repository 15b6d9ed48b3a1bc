import { z } from 'zod'
import { labelOf } from '../../library/source.ts'
import { findOne } from '../find-one.ts'
import { flag, ONE_SOURCE, text } from '../schemas.ts'
import { STARTED, writeStarted } from '../started.ts'
import { createTool, type Tool } from '../tool.ts'

/** `refresh_source`: asks for the known pages again. */
export const refreshSource: Tool = createTool({
  name: 'refresh_source',
  title: 'Refresh a source',
  description: `Asks for the known pages of a source again, conditionally, and updates those that changed; quicker than recrawl_source, which also finds new pages. Addresses that are seen for the first time are only counted, unless discover is given. Runs in the background: returns the crawl id at once; poll crawl_status.
Refused while the source is being crawled, and after an interrupted crawl that recrawl_source has to finish first.`,
  effects: { isDestructive: true, isIdempotent: true, isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    ...ONE_SOURCE,
    version: text('The version that is meant, exactly as it was given.'),
    discover: flag('Also fetches addresses that the pages link to now. Default false.'),
    acceptLoss: flag('Removes pages that are proven gone, however many they are. Default false.'),
  }),
  output: STARTED,
  async run(args, { library, jobs, progress }) {
    const opened = await library()
    const source = await findOne(opened, args)
    await progress(0, 1, 'starting')
    const { discover = false, acceptLoss = false } = args
    const crawlId = await (await jobs()).start(source, { kind: 'refresh', discover, acceptLoss })
    await progress(1, 1, 'crawling')
    return writeStarted(opened, source, crawlId, `Refreshing ${labelOf(source)}`)
  },
})
