import { z } from 'zod'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { writeLabel } from '../../library/search/display-text.ts'
import { RENDERINGS, type Source } from '../../library/source.ts'
import { pickArgument } from '../arguments.ts'
import { findNamedSource } from '../find-named-source.ts'
import { flag, ONE_SOURCE, text, unlisted } from '../schemas.ts'
import { SCOPE, scopeOf } from '../scope-arguments.ts'
import { STARTED_CRAWL, writeStartedCrawl } from '../started-crawl.ts'
import { createTool, type Tool } from '../tool.ts'

/** `recrawl_source`: crawls a source again to find new, changed and removed pages. */
export const recrawlSource: Tool = createTool({
  name: 'recrawl_source',
  description:
    'Crawls a source again in the background: adds new pages, updates changed ones, removes those that are gone. Returns crawlId at once; poll crawl_status. Resumes an interrupted crawl. Stops before it removes more than half of the pages, or more than 20 when that is also more than a tenth, unless acceptLoss is true. Patterns and limits hold for this run.',
  effects: { isDestructive: true, isIdempotent: true, isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    ...ONE_SOURCE,
    full: flag('Read unchanged pages too.'),
    acceptLoss: flag(),
    ...SCOPE,
    render: z.enum(RENDERINGS).optional(),
    version: text(),
    newName: text('Renames the source.'),
    newVersion: text('Relabels it.'),
    name: unlisted(text()),
  }),
  output: STARTED_CRAWL,
  async run(args, { library, jobs, progress }) {
    const opened = await library()
    const crawls = await jobs()
    const found = await findNamedSource(opened, args)
    const name = pickArgument(args, 'newName', 'name')
    const version = args.newVersion
    const scope = scopeOf(args)
    const { checkLabel } = await import('../../library/crawl/add-source.ts')
    const change = withoutUndefined({
      name: name === undefined ? undefined : checkLabel('name', name),
      version: version === undefined ? undefined : checkLabel('version', version),
    })
    await progress(0, 1, 'starting')
    const source: Source = { ...found, ...change }
    const isRenamed = Object.keys(change).length > 0
    // The rename comes first, so that a taken name is refused before the crawl starts.
    if (isRenamed) await opened.store.updateSource(found.id, change)
    const { full = false, acceptLoss = false } = args
    const crawlId = await crawls
      .start(source, { kind: 'recrawl', full, acceptLoss, scope, ...withoutUndefined({ render: args.render }) })
      .catch(async (error: unknown) => {
        const { name: oldName, version: oldVersion } = found
        if (isRenamed) await opened.store.updateSource(found.id, { name: oldName, version: oldVersion })
        throw error
      })
    await progress(1, 1, 'crawling')
    return writeStartedCrawl(opened, source, crawlId, `Recrawling ${writeLabel(source)}`)
  },
})
