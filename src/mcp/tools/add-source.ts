import { z } from 'zod'
import { CHUNK_PROFILES } from '../../core/chunk/profiles.ts'
import { REACHES } from '../../core/url/scope.ts'
import type { SourceInput } from '../../library/operations/add-source.ts'
import { labelOf, RENDERINGS } from '../../library/source.ts'
import { oneLine } from '../../library/words.ts'
import { given, pick, usage } from '../arguments.ts'
import { text, textOf } from '../schemas.ts'
import { SCOPE, scopeOf } from '../scope-arguments.ts'
import { STARTED, writeStarted } from '../started.ts'
import { createTool, type Tool } from '../tool.ts'

/** `add_source`: begins to crawl a site. */
export const addSource: Tool = createTool({
  name: 'add_source',
  title: 'Add a source',
  description: `Adds a documentation site and starts to crawl it in the background; returns the source id and the crawl id at once. Poll crawl_status until the crawl is no longer running (isRunning false; status neither CRAWLING nor UPDATING), then use search_docs.
Without further arguments everything below the start URL is crawled: llms.txt, sitemaps and links are all followed, robots.txt is obeyed. Narrow it with allowPatterns and blockPatterns (globs on the URL path such as /docs/**; block wins), maxDepth, maxPages; widen it with scope. Give name and version to tell several versions of the same documentation apart.
An interrupted first crawl of the same URL goes on where it was.`,
  effects: { isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    url: textOf('Where to start; http or https.'),
    name: text('What to call it. Default: host and path of the URL.'),
    library: text('Same as name.'),
    version: text('Version of what it documents, such as 5.2.0.'),
    ...SCOPE,
    scope: z
      .enum(REACHES)
      .optional()
      .describe('How far it may reach: below the start (default), the whole host, or the domain with all its hosts.'),
    llmsTxtUrl: text('Address of an llms.txt, instead of looking for one.'),
    render: z
      .enum(RENDERINGS)
      .optional()
      .describe(
        'How pages are read: http as they come (default), auto in a browser where they are empty without one, chromium always in one, crawl4ai by that service.',
      ),
    chunks: z.enum(CHUNK_PROFILES).optional().describe('How pages are cut. Default: library.'),
    followRedirects: z
      .boolean()
      .optional()
      .describe('Redirects within the scope are always followed, each hop checked; false is refused.'),
    preserveHashes: z
      .boolean()
      .optional()
      .describe('What follows a # is a place in a page, never a page of its own; true is refused.'),
  }),
  output: STARTED,
  async run(args, { library, jobs, progress }) {
    if (args.followRedirects === false) {
      throw usage('followRedirects: a crawl always follows redirects, within its scope; leave it out')
    }
    if (args.preserveHashes === true) {
      throw usage('preserveHashes: what follows a # is a place in a page, never a page of its own; leave it out')
    }
    const input: SourceInput = {
      url: args.url,
      ...given({ name: pick(args, 'name', 'library'), version: args.version }),
      scope: { ...scopeOf(args), ...given({ reach: args.scope }) },
      settings: given({ llmsTxtUrl: args.llmsTxtUrl, render: args.render, chunks: args.chunks }),
    }
    const opened = await library()
    const crawls = await jobs()
    await progress(0, 1, 'recording the source')
    const { takeUpSource } = await import('../../library/operations/take-up-source.ts')
    const { source, found, kind, options } = await takeUpSource(opened, input)
    const crawlId = await crawls.start(source, { kind, ...options }).catch(async (error: unknown) => {
      // A refused call leaves nothing behind.
      if (found !== 'interrupted') await opened.store.removeSource(source.id)
      throw error
    })
    await progress(1, 1, 'crawling')
    return writeStarted(opened, source, crawlId, `Added ${labelOf(source)} (${oneLine(source.url)})`)
  },
})
