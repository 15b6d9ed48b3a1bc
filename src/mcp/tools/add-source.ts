import { z } from 'zod'
import { CHUNK_PROFILES } from '../../core/chunk/profiles.ts'
import { usageError } from '../../core/errors.ts'
import { REACHES } from '../../core/url/scope.ts'
import { treeKindOf } from '../../core/url/tree-url.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { PrepareSourceInput } from '../../library/crawl/prepare-source.ts'
import { withdrawUnstarted } from '../../library/crawl/withdraw-source.ts'
import { CHUNK_FIELDS } from '../../library/import/parse-import.ts'
import { quoteSpaced, writeLabel } from '../../library/search/display-text.ts'
import { RENDERINGS, type Source, treeSettings } from '../../library/source.ts'
import { pickArgument } from '../arguments.ts'
import { flag, rare, text, textOf, unlisted } from '../schemas.ts'
import { SCOPE, scopeOf } from '../scope-arguments.ts'
import { STARTED_CRAWL, writeStartedCrawl } from '../started-crawl.ts'
import { createTool, type Tool, type ToolContext } from '../tool.ts'

/** Limit for chunks in one call, because a model passes them in a single message; a file may hold more. */
const MAX_CHUNKS = 1000

const INPUT = z.strictObject({
  url: textOf('Site, archive, git address or package (npm:react@18, pypi:, crates:, maven:).'),
  ref: text('Git branch, tag or commit.'),
  path: text('Folder inside it.'),
  name: text(),
  library: unlisted(text()),
  version: text(),
  ...SCOPE,
  scope: z.enum(REACHES).optional().describe('Default: subpages.'),
  llmsTxtUrl: rare(text()),
  as: rare(z.enum(['site']).optional().describe('site crawls the page of a repository or package as a web site.')),
  render: z.enum(RENDERINGS).optional().describe('auto uses a browser where needed.'),
  chunks: rare(z.enum(CHUNK_PROFILES).optional()),
  prechunked: rare(
    z
      .array(z.unknown().meta({ type: 'object' }))
      .max(MAX_CHUNKS, `at most ${MAX_CHUNKS} chunks at once; \`pharos import\` and POST /api/import take more`)
      .optional()
      .describe(`Chunks to import instead of a crawl: objects with ${CHUNK_FIELDS.join(', ')}.`),
  ),
  acceptLoss: rare(flag('Of prechunked: remove any number of pages.')),
  embed: rare(flag('Of prechunked: make vectors first.')),
  // Accepted only with the values that change nothing: redirects are always followed, and fragments never make a page.
  followRedirects: unlisted(flag()),
  preserveHashes: unlisted(flag()),
})

/** `add_source`: starts a crawl of a site, or imports chunks. */
export const addSource: Tool = createTool({
  name: 'add_source',
  description: `Adds documentation: crawls a site, or reads an archive, git repository or package. Returns sourceId and crawlId at once; poll crawl_status until isRunning is false, then use search_docs. By default it reads everything below the URL.`,
  effects: { isOpenWorld: true },
  isSafe: false,
  input: INPUT,
  output: STARTED_CRAWL,
  async run(args, context) {
    if (args.prechunked !== undefined) return importChunksArgument(args, args.prechunked, context)
    if (args.acceptLoss !== undefined) throw usageError('acceptLoss: only for prechunked, which is missing')
    if (args.embed !== undefined) throw usageError('embed: only for prechunked, which is missing')
    const { library, jobs, progress } = context
    if (args.followRedirects === false) {
      throw usageError('followRedirects: a crawl always follows redirects, within its scope; leave it out')
    }
    if (args.preserveHashes === true) {
      throw usageError('preserveHashes: not supported, because the part after # is a place in a page; leave it out')
    }
    const input: PrepareSourceInput = {
      url: args.url,
      as: args.as,
      ...withoutUndefined({ name: pickArgument(args, 'name', 'library'), version: args.version }),
      scope: { ...scopeOf(args), ...withoutUndefined({ reach: args.scope }) },
      settings: {
        ...withoutUndefined({ llmsTxtUrl: args.llmsTxtUrl, render: args.render, chunks: args.chunks }),
        ...treeSettings(args),
      },
    }
    const opened = await library()
    const crawls = await jobs()
    await progress(0, 1, 'recording the source')
    const { prepareSource } = await import('../../library/crawl/prepare-source.ts')
    const prepared = await prepareSource(opened, input)
    const { source, kind, options, meaning, notice } = prepared
    const crawlId = await crawls.start(source, { kind, ...options }).catch(async (error: unknown) => {
      // A refused call leaves no new source behind.
      await withdrawUnstarted(opened, prepared)
      throw error
    })
    await progress(1, 1, 'crawling')
    const understood = meaning === null ? '' : `, understood as ${meaning}`
    const twin = notice === undefined ? '' : `. ${notice}`
    const headline = `Added ${writeLabel(source)} (${quoteSpaced(source.url)})${understood}${twin}${writePackageNote(source)}`
    return writeStartedCrawl(opened, source, crawlId, headline)
  },
})

/** Prepares an agent for a package with hardly more than a README. */
function writePackageNote({ url }: Source): string {
  if (treeKindOf(url) !== 'package') return ''
  return '. If the package holds only a short page, crawl_status names its documentation site to add as well'
}

/** Parameters of an import. */
const IMPORT_NAMES = ['url', 'name', 'library', 'version', 'prechunked', 'acceptLoss', 'embed']

async function importChunksArgument(
  args: z.output<typeof INPUT>,
  chunks: readonly unknown[],
  { library, progress, signal }: ToolContext,
) {
  const stray = Object.keys(args).find((name) => !IMPORT_NAMES.includes(name))
  if (stray !== undefined) throw usageError(`${stray}: a crawl option, which prechunked does not use; leave it out`)
  const opened = await library()
  const { importRequest: importChunks } = await import('../../library/import/import-request.ts')
  const { version, acceptLoss, embed } = args
  const name = pickArgument(args, 'name', 'library')
  await progress(0, 1, 'importing')
  const options = { name, version, acceptLoss, embed, signal }
  const { source, summary, isEmbedded, notice } = await importChunks(opened, { source_url: args.url, chunks }, options)
  await progress(1, 1, 'imported')
  const { indexed, unchanged, removed } = summary
  const pages = `pages: ${indexed} new or changed, ${unchanged} unchanged, ${removed} removed`
  const vectors = isEmbedded ? '; vectors were made first' : notice === null ? '' : `; ${notice}`
  const headline = `Imported ${chunks.length} chunks as ${writeLabel(source)}; ${pages}${vectors}`
  return writeStartedCrawl(opened, source, summary.crawlId, headline, true)
}
