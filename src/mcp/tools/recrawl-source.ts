import { z } from 'zod'
import { labelOf, type Source } from '../../library/source.ts'
import { given, usage } from '../arguments.ts'
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
    version: text('New version of the source, kept from now on.'),
    name: text('New name of the source, kept from now on.'),
  }),
  output: STARTED,
  async run(args, { library, jobs, progress }) {
    const opened = await library()
    const { version, name, ...named } = args
    const found = await findOne(opened, { source: named.source, library: named.library, sourceId: named.sourceId })
    const scope = scopeOf(args)
    const change = given({
      name: name === undefined ? undefined : checkLabel('name', name),
      version: checkVersion(version),
    })
    await progress(0, 1, 'starting')
    const { full = false, acceptLoss = false } = args
    const crawlId = await (await jobs()).start(found, { kind: 'recrawl', full, acceptLoss, scope })
    // Renamed when the crawl was accepted, so that a refused call changes nothing.
    if (Object.keys(change).length > 0) await opened.store.updateSource(found.id, change)
    const source: Source = { ...found, ...change }
    await progress(1, 1, 'crawling')
    return writeStarted(source, crawlId, `Recrawling ${labelOf(source)}`)
  },
})

function checkLabel(parameter: string, value: string): string {
  if (value.trim() === '') throw usage(`${parameter}: expected a label, got an empty one`)
  if (value.includes('@'))
    throw usage(`${parameter}: ${JSON.stringify(value)} contains @, which stands before a version`)
  return value.trim()
}

function checkVersion(value: string | undefined): string | undefined {
  if (value?.trim() === '') throw usage('version: expected a label, got an empty one')
  return value?.trim()
}
