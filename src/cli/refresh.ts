import type { Command } from 'commander'
import { crawlKnown, withCrawling } from './crawling.ts'
import { addDetachOption, leaveToServer } from './detach.ts'
import { parseHeaders } from './headers.ts'
import { addLibraryOptions, FETCH_SETTINGS } from './library.ts'
import type { CommonFlags } from './options.ts'
import { addHeaderOption } from './scope-options.ts'
import type { Streams } from './terminal.ts'

interface RefreshFlags extends CommonFlags {
  readonly discover?: boolean
  readonly acceptLoss?: boolean
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** `pharos refresh <source>` */
export function addRefresh(program: Command, streams: Streams): void {
  const command = program
    .command('refresh')
    .description('ask for the known pages of a source again, and update those that changed')
    .argument('<source>', 'its name, name@version, id, start URL or path')
    .option('--discover', 'also fetch addresses that the pages link to now')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
    .addHelpText('after', '\nExample:\n  $ pharos refresh guide --max-age 1h')
  addLibraryOptions(addDetachOption(addHeaderOption(command)), ['maxAge', ...FETCH_SETTINGS, 'maxFileBytes'])
  command.action((source: string, { header, detach, discover = false, acceptLoss = false }: RefreshFlags) => {
    if (detach === true) {
      const path = `/api/sources/${encodeURIComponent(source)}/refresh`
      return leaveToServer(command, streams, { path, body: { discover, acceptLoss } })
    }
    const headers = parseHeaders(header)
    return withCrawling(command, streams, (crawling) =>
      crawlKnown(crawling, source, { kind: 'refresh', headers, discover, acceptLoss }),
    )
  })
}
