import { z } from 'zod'
import { labelOf, RENDERINGS, type Source } from '../../library/source.ts'
import { given } from '../arguments.ts'
import { findOne } from '../find-one.ts'
import { flag, ONE_SOURCE, text } from '../schemas.ts'
import { SCOPE, scopeOf } from '../scope-arguments.ts'
import { STARTED, writeStarted } from '../started.ts'
import { createTool, type Tool } from '../tool.ts'

/** `recrawl_source`: finds out what there is now. */
export const recrawlSource: Tool = createTool({
  name: 'recrawl_source',
  title: 'Recrawl a source',
  description: `Crawls a source again in the background: finds new pages, updates changed ones, removes those proven gone; unchanged pages are skipped by their hash (full reads everything again). Returns the crawl id at once; poll crawl_status.
An interrupted crawl goes on instead. Refused while the source is being crawled. allowPatterns, blockPatterns, maxDepth and maxPages hold for this run only; name and version rename the source for good. A run that would remove more than a tenth of the pages stops at a gate unless acceptLoss is given.
To choose among versions, name the source as name@version.`,
  effects: { isDestructive: true, isIdempotent: true, isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    ...ONE_SOURCE,
    full: flag('Reads every page again, whatever its hash says. Default false.'),
    acceptLoss: flag('Removes pages that are proven gone, however many they are. Default false.'),
    ...SCOPE,
    render: z
      .enum(RENDERINGS)
      .optional()
      .describe(
        'How pages are read, kept from now on: auto where pages failed with needs-rendering. Default: as before.',
      ),
    version: text('New version of the source, kept from now on.'),
    name: text('New name of the source, kept from now on.'),
  }),
  output: STARTED,
  async run(args, { library, jobs, progress }) {
    const opened = await library()
    const crawls = await jobs()
    const { version, name, ...named } = args
    const found = await findOne(opened, { source: named.source, library: named.library, sourceId: named.sourceId })
    const scope = scopeOf(args)
    const { checkLabel } = await import('../../library/operations/add-source.ts')
    const change = given({
      name: name === undefined ? undefined : checkLabel('name', name),
      version: version === undefined ? undefined : checkLabel('version', version),
    })
    await progress(0, 1, 'starting')
    const source: Source = { ...found, ...change }
    const isRenamed = Object.keys(change).length > 0
    // Before the crawl: a name that is taken is refused here, and nothing has begun.
    if (isRenamed) await opened.store.updateSource(found.id, change)
    const { full = false, acceptLoss = false } = args
    const crawlId = await crawls
      .start(source, { kind: 'recrawl', full, acceptLoss, scope, ...given({ render: args.render }) })
      .catch(async (error: unknown) => {
        const { name: oldName, version: oldVersion } = found
        if (isRenamed) await opened.store.updateSource(found.id, { name: oldName, version: oldVersion })
        throw error
      })
    await progress(1, 1, 'crawling')
    return writeStarted(opened, source, crawlId, `Recrawling ${labelOf(source)}`)
  },
})
