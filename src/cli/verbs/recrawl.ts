import type { Command } from 'commander'
import { CHUNK_PROFILES, type ChunkProfile } from '../../core/chunk/profiles.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { CRAWL_TYPES, type CrawlType } from '../../library/source.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { addDetachOption, detachCrawl } from '../detach.ts'
import { crawlExisting, withCrawlContext } from '../foreground-crawl.ts'
import { addLibraryOptions, FETCH_SETTINGS } from '../library.ts'
import { parseHeaders } from '../options/headers.ts'
import { type CommonFlags, oneOf } from '../options/options.ts'
import { addPlannerOptions, type PlannerFlags, plannerOf, refuseStrayFlags } from '../options/planner-options.ts'
import { addRenderOption, type RenderFlags } from '../options/render-option.ts'
import { addHeaderOption, addScopeOptions, type ScopeFlags, scopeOf } from '../options/scope-options.ts'
import { addEmbedOptions } from '../options/search-settings.ts'
import type { Streams } from '../terminal.ts'

interface RecrawlFlags extends CommonFlags, ScopeFlags, PlannerFlags, RenderFlags {
  readonly full?: boolean
  readonly acceptLoss?: boolean
  readonly crawlType?: CrawlType
  readonly chunks?: ChunkProfile
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** `pharos recrawl <source>` */
export function addRecrawl(program: Command, streams: Streams): void {
  const command = program
    .command('recrawl')
    .description('crawl a source again: find new pages, update changed ones, drop those proven gone')
    .argument('<source>', 'name, name@version, id, start URL or path of the source')
    .option('--full', 'read every page again, changed or not')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
    .option(
      '--crawl-type <type>',
      `where to look for pages, in this run: ${CRAWL_TYPES.join(', ')}`,
      oneOf('--crawl-type', CRAWL_TYPES),
    )
  addRenderOption(addScopeOptions(command), 'kept for later runs')
    .option(
      '--chunks <profile>',
      `how pages are cut, kept for later runs: ${CHUNK_PROFILES.join(', ')}; unchanged pages are cut again only with --full`,
      oneOf('--chunks', CHUNK_PROFILES),
    )
    .addHelpText(
      'after',
      '\nScope options apply to this run only. An interrupted crawl is resumed.\n\nExamples:\n  $ pharos recrawl guide\n  $ pharos recrawl guide --full --accept-loss\n  $ pharos recrawl guide --render auto',
    )
  addLibraryOptions(addEmbedOptions(addDetachOption(addHeaderOption(addPlannerOptions(command)))), [
    'maxAge',
    ...FETCH_SETTINGS,
    'maxFileBytes',
    'maxArchiveBytes',
  ])
  command.action((source: string, flags: RecrawlFlags) => {
    const { full = false, acceptLoss = false } = flags
    if (flags.crawlType !== undefined) refuseStrayFlags(flags, flags.crawlType)
    const { crawlType, render, chunks } = flags
    const givenSettings = withoutUndefined({ crawlType, render, chunks })
    const options = { full, acceptLoss, scope: scopeOf(flags), ...givenSettings, ...plannerOf(flags) }
    if (flags.detach === true) {
      const path = `/api/sources/${encodeURIComponent(source)}/recrawl`
      return detachCrawl(command, streams, { path, body: options })
    }
    const headers = parseHeaders(flags.header)
    return withCrawlContext(command, streams, async (crawling) => {
      const { settings } = await findSource(crawling.library, source)
      refuseStrayFlags(flags, flags.crawlType ?? settings.crawlType)
      await crawlExisting(crawling, source, { kind: 'recrawl', headers, ...options })
    })
  })
}
