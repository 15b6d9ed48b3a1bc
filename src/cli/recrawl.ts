import type { Command } from 'commander'
import { crawlKnown, withCrawling } from './crawling.ts'
import { addDetachOption, leaveToServer } from './detach.ts'
import { parseHeaders } from './headers.ts'
import { addLibraryOptions, FETCH_SETTINGS } from './library.ts'
import type { CommonFlags } from './options.ts'
import { addHeaderOption, addScopeOptions, type ScopeFlags, scopeOf } from './scope-options.ts'
import type { Streams } from './terminal.ts'

interface RecrawlFlags extends CommonFlags, ScopeFlags {
  readonly full?: boolean
  readonly acceptLoss?: boolean
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** `pharos recrawl <source>` */
export function addRecrawl(program: Command, streams: Streams): void {
  const command = program
    .command('recrawl')
    .description('crawl a source again: find new pages, update changed ones, drop those proven gone')
    .argument('<source>', 'its name, name@version, id, start URL or path')
    .option('--full', 'read every page again, changed or not')
    .option('--accept-loss', 'drop pages that are gone, however many they are')
  addScopeOptions(command).addHelpText(
    'after',
    '\nFlags of the scope hold for this run only. An interrupted crawl goes on.\n\nExamples:\n  $ pharos recrawl guide\n  $ pharos recrawl guide --full --accept-loss',
  )
  addLibraryOptions(addDetachOption(addHeaderOption(command)), ['maxAge', ...FETCH_SETTINGS, 'maxFileBytes'])
  command.action((source: string, flags: RecrawlFlags) => {
    const { full = false, acceptLoss = false } = flags
    if (flags.detach === true) {
      const path = `/api/sources/${encodeURIComponent(source)}/recrawl`
      return leaveToServer(command, streams, { path, body: { full, acceptLoss, scope: scopeOf(flags) } })
    }
    const headers = parseHeaders(flags.header)
    return withCrawling(command, streams, (crawling) =>
      crawlKnown(crawling, source, { kind: 'recrawl', headers, full, acceptLoss, scope: scopeOf(flags) }),
    )
  })
}
