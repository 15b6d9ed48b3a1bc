import type { Command } from 'commander'
import { CHUNK_PROFILES, type ChunkProfile } from '../../core/chunk/profiles.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { CRAWL_TYPES, type CrawlType } from '../../library/source.ts'
import { addTargets, checkTargets, crawlTargets, type TargetFlags } from '../crawl-targets.ts'
import { detachCrawl } from '../detach.ts'
import { withCrawlContext } from '../foreground-crawl.ts'
import { addCrawlOptions } from '../options/crawl-options.ts'
import { addEveryOption, everyBody } from '../options/every-option.ts'
import { parseHeaders } from '../options/headers.ts'
import { type CommonFlags, oneOf } from '../options/options.ts'
import { addPlannerOptions, type PlannerFlags, plannerOf, refuseStrayFlags } from '../options/planner-options.ts'
import { addRenderOption, type RenderFlags } from '../options/render-option.ts'
import { addScopeOptions, type ScopeFlags, scopeOf } from '../options/scope-options.ts'
import type { Streams } from '../terminal.ts'

interface RecrawlFlags extends CommonFlags, ScopeFlags, PlannerFlags, RenderFlags, TargetFlags {
  readonly full?: boolean
  readonly acceptLoss?: boolean
  readonly crawlType?: CrawlType
  readonly chunks?: ChunkProfile
}

/** `pharos recrawl <source>` */
export function addRecrawl(program: Command, streams: Streams): void {
  const command = program
    .command('recrawl')
    .description('crawl a source again: find new pages, update changed ones, drop those proven gone')
  addTargets(command)
    .option('--full', 'read every page again, changed or not')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
    .option(
      '--crawl-type <type>',
      `where to look for pages, in this run: ${CRAWL_TYPES.join(', ')}`,
      oneOf('--crawl-type', CRAWL_TYPES),
    )
  addRenderOption(addScopeOptions(command), 'kept for later runs')
  addEveryOption(command, 'never turns that off, without a crawl')
    .option(
      '--chunks <profile>',
      `how pages are cut, kept for later runs: ${CHUNK_PROFILES.join(', ')}; unchanged pages are cut again only with --full`,
      oneOf('--chunks', CHUNK_PROFILES),
    )
    .addHelpText(
      'after',
      '\nScope options apply to this run only. An interrupted crawl is resumed.\n\nExamples:\n  $ pharos recrawl guide\n  $ pharos recrawl guide --full --accept-loss\n  $ pharos recrawl guide --render auto\n  $ pharos recrawl guide --every 1d\n  $ pharos recrawl --all',
    )
  addCrawlOptions(addPlannerOptions(command))
  command.action((source: string | undefined, flags: RecrawlFlags) => {
    checkTargets(source, flags, false)
    const { full = false, acceptLoss = false } = flags
    if (flags.crawlType !== undefined) refuseStrayFlags(flags, flags.crawlType)
    const { crawlType, render, chunks } = flags
    const givenSettings = withoutUndefined({ crawlType, render, chunks })
    const options = { full, acceptLoss, scope: scopeOf(flags), ...givenSettings, ...plannerOf(flags) }
    if (flags.detach === true && source !== undefined && flags.every?.ms !== null) {
      const path = `/api/sources/${encodeURIComponent(source)}/recrawl`
      return detachCrawl(command, streams, { path, body: { ...options, ...everyBody(flags) } })
    }
    const headers = parseHeaders(flags.header)
    return withCrawlContext(command, streams, (crawling) =>
      crawlTargets(crawling, source, flags, ({ settings }) => {
        refuseStrayFlags(flags, flags.crawlType ?? settings.crawlType)
        return { kind: 'recrawl', headers, ...options }
      }),
    )
  })
}
