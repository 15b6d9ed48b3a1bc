import type { Command } from 'commander'
import { addDetachOption, detachCrawl } from '../detach.ts'
import { crawlExisting, withCrawlContext } from '../foreground-crawl.ts'
import { addLibraryOptions, FETCH_SETTINGS } from '../library.ts'
import { parseHeaders } from '../options/headers.ts'
import type { CommonFlags } from '../options/options.ts'
import { addRenderOption, type RenderFlags, renderOf } from '../options/render-option.ts'
import { addHeaderOption } from '../options/scope-options.ts'
import { addEmbedOptions } from '../options/search-settings.ts'
import type { Streams } from '../terminal.ts'

interface RefreshFlags extends CommonFlags, RenderFlags {
  readonly discover?: boolean
  readonly acceptLoss?: boolean
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** `pharos refresh <source>` */
export function addRefresh(program: Command, streams: Streams): void {
  const command = program
    .command('refresh')
    .description('fetch the known pages of a source again, and update those that changed')
    .argument('<source>', 'name, name@version, id, start URL or path of the source')
    .option('--discover', 'also fetch addresses that the pages link to now')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
    .addHelpText('after', '\nExample:\n  $ pharos refresh guide --max-age 1h')
  addLibraryOptions(
    addEmbedOptions(addDetachOption(addHeaderOption(addRenderOption(command, 'kept for later runs')))),
    ['maxAge', ...FETCH_SETTINGS, 'maxFileBytes', 'maxArchiveBytes'],
  )
  command.action((source: string, flags: RefreshFlags) => {
    const { discover = false, acceptLoss = false } = flags
    const options = { discover, acceptLoss, ...renderOf(flags) }
    if (flags.detach === true) {
      const path = `/api/sources/${encodeURIComponent(source)}/refresh`
      return detachCrawl(command, streams, { path, body: options })
    }
    const headers = parseHeaders(flags.header)
    return withCrawlContext(command, streams, (crawling) =>
      crawlExisting(crawling, source, { kind: 'refresh', headers, ...options }),
    )
  })
}
