import type { Command } from 'commander'
import { detachCrawl } from '../detach.ts'
import { crawlExisting, withCrawlContext } from '../foreground-crawl.ts'
import { addCrawlOptions } from '../options/crawl-options.ts'
import { parseHeaders } from '../options/headers.ts'
import type { CommonFlags } from '../options/options.ts'
import { addRenderOption, type RenderFlags, renderOf } from '../options/render-option.ts'
import type { Streams } from '../terminal.ts'

interface RetryFlags extends CommonFlags, RenderFlags {
  readonly acceptLoss?: boolean
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** `pharos retry <source>` */
export function addRetry(program: Command, streams: Streams): void {
  const command = program
    .command('retry')
    .description('fetch the failed pages of a source again')
    .argument('<source>', 'name, name@version, id, start URL or path of the source')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
    .addHelpText('after', '\nExample:\n  $ pharos retry guide')
  addCrawlOptions(addRenderOption(command, 'kept for later runs'))
  command.action((source: string, flags: RetryFlags) => {
    const { acceptLoss = false } = flags
    if (flags.detach === true) {
      const path = `/api/sources/${encodeURIComponent(source)}/retry`
      return detachCrawl(command, streams, { path, body: { acceptLoss, ...renderOf(flags) } })
    }
    const headers = parseHeaders(flags.header)
    return withCrawlContext(command, streams, (crawling) =>
      crawlExisting(crawling, source, { kind: 'retry', headers, acceptLoss, ...renderOf(flags) }),
    )
  })
}
