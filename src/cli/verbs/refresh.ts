import type { Command } from 'commander'
import { PharosError } from '../../core/errors.ts'
import { addTargets, checkTargets, crawlDue, crawlTargets, type TargetFlags } from '../crawl-targets.ts'
import { detachCrawl } from '../detach.ts'
import { withCrawlContext } from '../foreground-crawl.ts'
import { addCrawlOptions } from '../options/crawl-options.ts'
import { addEveryOption, everyBody } from '../options/every-option.ts'
import { parseHeaders } from '../options/headers.ts'
import type { CommonFlags } from '../options/options.ts'
import { addRenderOption, type RenderFlags, renderOf } from '../options/render-option.ts'
import type { Streams } from '../terminal.ts'

interface RefreshFlags extends CommonFlags, RenderFlags, TargetFlags {
  readonly discover?: boolean
  readonly acceptLoss?: boolean
}

/** `pharos refresh <source>` */
export function addRefresh(program: Command, streams: Streams): void {
  const command = program
    .command('refresh')
    .description('fetch the known pages of a source again, and update those that changed')
  addTargets(command)
    .option('--due', 'crawl the sources whose interval is over, as `pharos serve` does by itself; for cron and timers')
    .option('--discover', 'also fetch addresses that the pages link to now')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos refresh guide --max-age 1h\n  $ pharos refresh --all\n  $ pharos refresh --due',
    )
  addEveryOption(command, 'never turns that off, without a crawl')
  addCrawlOptions(addRenderOption(command, 'kept for later runs'))
  command.action((source: string | undefined, flags: RefreshFlags) => {
    checkTargets(source, flags, true)
    if (flags.due === true) {
      if (flags.discover ?? flags.acceptLoss ?? flags.render !== undefined) {
        throw new PharosError('USAGE', {
          problem: '--due takes neither --discover, --accept-loss nor --render: it crawls each source as it is stored',
        })
      }
      return withCrawlContext(command, streams, crawlDue)
    }
    const { discover = false, acceptLoss = false } = flags
    const options = { discover, acceptLoss, ...renderOf(flags) }
    if (flags.detach === true && source !== undefined && flags.every?.ms !== null) {
      const path = `/api/sources/${encodeURIComponent(source)}/refresh`
      return detachCrawl(command, streams, { path, body: { ...options, ...everyBody(flags) } })
    }
    const headers = parseHeaders(flags.header)
    return withCrawlContext(command, streams, (crawling) =>
      crawlTargets(crawling, source, flags, () => ({ kind: 'refresh', headers, ...options })),
    )
  })
}
