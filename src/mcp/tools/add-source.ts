import { z } from 'zod'
import { CHUNK_PROFILES } from '../../core/chunk/profiles.ts'
import { REACHES } from '../../core/url/scope.ts'
import type { SourceInput } from '../../library/operations/add-source.ts'
import { CHUNK_SHAPE } from '../../library/parse-import.ts'
import { labelOf, RENDERINGS, treeSettings } from '../../library/source.ts'
import { oneLine } from '../../library/words.ts'
import { given, pick, usage } from '../arguments.ts'
import { text, textOf } from '../schemas.ts'
import { SCOPE, scopeOf } from '../scope-arguments.ts'
import { STARTED, writeStarted } from '../started.ts'
import { createTool, type Tool, type ToolContext } from '../tool.ts'

/** What is given in one message is read by a model first; files may hold more. */
const MAX_CHUNKS = 1000

/** `add_source`: begins to crawl a site, or imports chunks. */
export const addSource: Tool = createTool({
  name: 'add_source',
  title: 'Add a source',
  description: `Adds a documentation site, an archive, a git repository or a package, and starts to read it in the background; returns the source id and the crawl id at once. Poll crawl_status until the crawl is no longer running (isRunning false; status neither CRAWLING nor UPDATING), then use search_docs.
Without further arguments everything below the start URL is crawled: llms.txt, sitemaps and links are all followed, robots.txt is obeyed. Narrow it with allowPatterns and blockPatterns (globs on the URL path such as /docs/**; block wins), maxDepth, maxPages; widen it with scope. Give name and version to tell several versions of the same documentation apart.
Besides http(s) sites the url may be an archive (.zip, .tar, .tar.gz, .tgz, .tar.zst), a git repository (git+https://…, git@host:owner/name.git, https://….git; ref picks branch, tag or commit) or a package (npm:react@18, pypi:requests, crates:serde, maven:group:artifact). Their files are read: READMEs, docs, documents and code; path names a folder inside, allowPatterns and blockPatterns match paths.
Chunks that were cut elsewhere are imported with prechunked: as they are, all or none, done when the answer comes; they replace what was imported for the url before.
An interrupted first crawl of the same URL goes on where it was.`,
  effects: { isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    url: textOf('Where to start: http or https, or an archive, repository or package.'),
    ref: text('Branch, tag or commit of a repository. Default: its default branch.'),
    path: text('Folder in a repository, archive or package that is read. Default: all of it.'),
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
    prechunked: z
      .array(z.unknown().meta(CHUNK_SHAPE))
      .max(MAX_CHUNKS, `at most ${MAX_CHUNKS} chunks at once; \`pharos import\` and POST /api/import take more`)
      .optional()
      .describe('Chunks to import instead of reading the url, which names what they belong to.'),
    acceptLoss: z
      .boolean()
      .optional()
      .describe('With prechunked: removes pages that are not among them any more, however many they are.'),
    embed: z
      .boolean()
      .optional()
      .describe(
        'With prechunked: makes their vectors before anything is changed. Default: where the library has some of the model that is there.',
      ),
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
  async run(args, context) {
    if (args.prechunked !== undefined) return importGiven(args, args.prechunked, context)
    if (args.acceptLoss !== undefined) throw usage('acceptLoss: it is for prechunked, which is missing')
    if (args.embed !== undefined) throw usage('embed: it is for prechunked, which is missing')
    const { library, jobs, progress } = context
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
      settings: {
        ...given({ llmsTxtUrl: args.llmsTxtUrl, render: args.render, chunks: args.chunks }),
        ...treeSettings(args),
      },
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

/** What may be said of an import. */
const IMPORT_NAMES = ['url', 'name', 'library', 'version', 'prechunked', 'acceptLoss', 'embed']

interface ImportArguments {
  readonly url: string
  readonly name?: string | undefined
  readonly library?: string | undefined
  readonly version?: string | undefined
  readonly acceptLoss?: boolean | undefined
  readonly embed?: boolean | undefined
}

async function importGiven(
  args: ImportArguments,
  chunks: readonly unknown[],
  { library, progress, signal }: ToolContext,
) {
  const stray = Object.keys(args).find((name) => !IMPORT_NAMES.includes(name))
  if (stray !== undefined) throw usage(`${stray}: it says how something is read, and prechunked is not; leave it out`)
  const opened = await library()
  const { importGiven: importInto } = await import('../../library/operations/import-given.ts')
  const { version, acceptLoss, embed } = args
  const name = pick(args, 'name', 'library')
  await progress(0, 1, 'importing')
  const asked = { name, version, acceptLoss, embed, signal }
  const { source, summary, isEmbedded, notice } = await importInto(opened, { source_url: args.url, chunks }, asked)
  await progress(1, 1, 'imported')
  const { indexed, unchanged, removed } = summary
  const pages = `pages: ${indexed} new or changed, ${unchanged} unchanged, ${removed} removed`
  const vectors = isEmbedded ? '; vectors were made first' : notice === null ? '' : `; ${notice}`
  const what = `Imported ${chunks.length} chunks as ${labelOf(source)}; ${pages}${vectors}`
  return writeStarted(opened, source, summary.crawlId, what, true)
}
